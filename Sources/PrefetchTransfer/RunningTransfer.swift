internal import PrefetchCore
internal import PrefetchCrypto

/// State of a request in flight, reused for the next request.
///
/// libcurl's callbacks may only record; the Boolean that they return lets the transfer go on.
final class RunningTransfer {
  /// Bytes of an unwanted body to read before closing the connection instead.
  private static let unwantedBodyLimit: Int64 = 65_536
  /// Decoded size below which any expansion is accepted.
  private static let harmlessSize: Int64 = 1 << 20
  private static let maximumExpansion: Int64 = 1_000
  /// A coding adds at most one byte to this many of the body.
  private static let minimumContent: Int64 = 16

  enum Completion {
    case concluded(Failure?)
    /// The transfer is dropped without a response's end.
    case brokenOff(Failure)
  }

  private(set) var queued: QueuedRequest
  private(set) var isContinuing = false
  private let staging: any BodyStaging
  let ranges: RangeLimits
  private let parser = ResponseHeadParser()
  /// Head of the response; outdated while `version` is nil.
  private(set) var head: ResponseHead?
  private(set) var version: ResponseHead.Version?
  private(set) var use = BodyUse.dropped
  /// Sink of the body; a closed sink may be reused for the next body.
  private(set) var sink: (any BodySink)?
  private(set) var isSinkOpen = false
  private(set) var failure: Failure?
  private(set) var upload: Upload?
  /// Decoded bytes of a wanted body.
  private(set) var arrivedSize: Int64 = 0
  private var unwantedSize: Int64 = 0
  /// Bytes of any body, as received.
  private(set) var receivedSize: Int64 = 0
  /// Decoder, reused for later bodies; `codedSize` counts the bytes that entered it.
  private var decoder: GzipReader?
  private var codedSize: Int64 = 0
  /// Bytes still accepted beyond an allowance, since libcurl had already read them.
  private var overdraft: Int64 = 0
  private var hasExcess = false
  private var chunkSizes = ChunkSizes()
  /// Whether the body's end may be an accident, so that HTTP/1.1 may help.
  private(set) var hasOpenEnd = false
  var mayShareConnection = false
  var isOverHTTP1 = false
  var triesHTTP3 = false
  /// Number of times the request was sent: libcurl repeats it after a dead kept connection.
  private(set) var requestCount = 0
  /// Whether anything arrived since ``TransferWatch`` cleared it.
  var hasActivity = false
  /// Range of a body that arrives over several connections; nil for any other body.
  var share: RangeShare?
  /// Rule that may give the body more connections; nil until enough bytes arrived.
  var rule: RangeRule?

  init(_ queued: QueuedRequest, staging: any BodyStaging, ranges: RangeLimits) {
    self.queued = queued
    self.staging = staging
    self.ranges = ranges
  }

  func restart(_ queued: QueuedRequest) {
    self.queued = queued
    isContinuing = queued.request.continuesPart
    upload = nil
    parser.restart()
    version = nil
    use = .dropped
    failure = nil
    arrivedSize = 0
    unwantedSize = 0
    receivedSize = 0
    codedSize = 0
    overdraft = 0
    hasExcess = false
    hasOpenEnd = false
    requestCount = 0
    hasActivity = false
    share = nil
    rule = nil
  }

  func openUpload(_ body: UploadedBody) throws(Failure) {
    upload = try Upload(body)
  }

  var request: TransferRequest { queued.request }

  /// Whether the request was sent; before that, libcurl may have queued it.
  var isRequested: Bool { requestCount > 0 }

  func recordRequest() {
    requestCount += 1
    // A server that demands HTTP/1.1 makes libcurl send the body again from its current position.
    upload?.position = 0
  }

  var isGivenUp: Bool { failure != nil }

  var continued: PartialBody? { isContinuing ? queued.request.partial : nil }

  var phase: CurlFault.Phase {
    guard isRequested else { return .connecting }
    return version == nil ? .awaitingHead : .receivingBody
  }

  // MARK: Facts from libcurl

  func receiveHeader(_ line: RawSpan) -> Bool {
    hasActivity = true
    do throws(ResponseFault) {
      guard let head = try parser.receive(line) else { return true }
      guard head.version.isTextual || mayShareConnection else {
        throw .version(head.version)
      }
      self.head = head
      version = head.version
      if let share {
        use = .dropped
        guard share.accepts(head) else { return false }
        use = .range
        return true
      }
      use = try BodyUse.of(head, to: queued, isContinuing: isContinuing)
      shareKeptPart()
      if use.isCoded, decoder?.restart() != true { decoder = try? GzipReader() }
      if case .chunked = head.framing { chunkSizes = ChunkSizes() }
      guard !request.needsLength || !use.acceptsBytes || head.announcedLength != nil else {
        failure = Failure(
          .badResponse,
          "`\(request.url.authority)` does not say how long a body is"
        )
        return false
      }
      if lacksKnownEnd(head) {
        leaveOpen()
        return false
      }
      return checkAnnouncedSize()
    } catch {
      failure = Failure(
        .badResponse,
        "`\(request.url.authority)` answered with \(error)",
        isTransient: isContinuing && error.justifiesWholeRequest
      )
      return false
    }
  }

  func receiveBody(_ bytes: RawSpan) -> Bool {
    hasActivity = true
    receivedSize += Int64(bytes.byteCount)
    guard use.acceptsBytes else {
      unwantedSize += Int64(bytes.byteCount)
      return unwantedSize <= Self.unwantedBodyLimit
    }
    guard
      queued.allowances.isEmpty
        || queued.mayAccept(Int64(bytes.byteCount), overdraft: &overdraft)
    else {
      failure = Failure(.cancelled, "its allowance of bytes is used up")
      return false
    }
    do throws(Failure) {
      if use.isCoded {
        try decode(bytes)
      } else {
        try appendBody(bytes)
      }
      return share?.isCut != true
    } catch {
      failure = error
      return false
    }
  }

  /// Returns whether a cut could pass unseen: to libcurl, a reset without error is complete.
  private func lacksKnownEnd(_ head: ResponseHead) -> Bool {
    guard case .stream = head.framing, case .whole = use else { return false }
    return queued.needsKnownEnd
  }

  /// Whether the head allows a body; old servers send one even when not.
  var mayHaveBody: Bool {
    guard head?.mayHaveBody == true else { return false }
    if case .head = request.method { return false }
    return true
  }

  private func leaveOpen() {
    hasOpenEnd = true
    failure = failures.openStream
  }

  func recordFoldedLine() {
    parser.hasFoldedLine = true
  }

  func checkRawBody(_ bytes: RawSpan) {
    guard failure == nil, version != nil, case .chunked = head?.framing,
      let size = chunkSizes.read(bytes)
    else { return }
    failure = failures.brokenChunk(size)
  }

  private func appendBody(_ bytes: RawSpan) throws(Failure) {
    if let share { return try append(bytes, of: share) }
    arrivedSize += Int64(bytes.byteCount)
    try checkSize()
    try openSink().append(bytes)
  }

  /// Writes the bytes that are no other connection's, and cuts the response behind them.
  private func append(_ bytes: RawSpan, of share: RangeShare) throws(Failure) {
    let own = bytes.extracting(first: Int(min(Int64(bytes.byteCount), share.rest)))
    arrivedSize += Int64(own.byteCount)
    try share.body.write(own, of: share)
    share.isCut =
      share.rest == 0 && share.end < share.responseEnd
      || own.byteCount < bytes.byteCount
  }

  private func decode(_ bytes: RawSpan) throws(Failure) {
    codedSize += Int64(bytes.byteCount)
    guard let decoder else { throw failures.noMemory }
    let fault = try decoder.read(bytes) { chunk throws(Failure) in try appendBody(chunk) }
    switch fault {
    case nil:
      // An endless header of gzip decodes to nothing, so that no limit of the body would end it.
      let fits = codedSize - Self.harmlessSize <= bodySize + bodySize / Self.minimumContent
      guard fits else { throw failures.emptyCoding }
    case .damaged: throw failures.damagedCoding
    case .outOfMemory: throw failures.noMemory
    }
  }

  /// Records bytes behind the response; neither the response nor its connection is used.
  func recordExcess() {
    hasExcess = true
  }

  // MARK: The end

  /// Ends the transfer with a failure, unless the response is complete or its body unwanted.
  func giveUp(_ reason: Failure) {
    guard failure == nil, version == nil || use.acceptsBytes, !isWhole else { return }
    failure = reason
  }

  /// Makes the transfer keep any bytes received, however few.
  func keepAnyPart() {
    if isSinkOpen { sink?.keepAnyPart() }
  }

  /// Whether the body is complete, even if a paused libcurl has not reported that.
  var isWhole: Bool {
    guard failure == nil, let head, use.acceptsBytes, case .length(let length) = head.framing else {
      return false
    }
    return (use.isCoded ? codedSize : arrivedSize) == length
  }

  func result(_ completion: Completion, _ figures: consuming TransferFigures) -> TransferResult {
    switch completion {
    case .concluded(let fault):
      do throws(Failure) {
        return TransferResult(.success(try response(fault)), figures: figures)
      } catch {
        return breakOff(error, figures)
      }
    case .brokenOff(let reason):
      return breakOff(reason, figures)
    }
  }

  private func breakOff(_ reason: Failure, _ figures: consuming TransferFigures) -> TransferResult {
    let part = reason.leavesGoodBytes ? keptPart() : nil
    if isSinkOpen {
      if part == nil { sink?.abandon() }
      sink = nil
      isSinkOpen = false
    }
    return TransferResult(
      .failure(reason),
      figures: figures,
      partial: part,
      announcedSize: reason.code == .tooLarge ? announcedSize : nil
    )
  }

  /// Returns the part to keep: received bytes, or an earlier part that is still valid.
  private func keptPart() -> PartialBody? {
    guard isSinkOpen, let sink else {
      return version == nil || (use.kept?.offset ?? 0) > 0 ? continued : nil
    }
    switch use {
    case .whole(mayBreakOff: true), .rest, .complete: return sink.suspend()
    case .whole(mayBreakOff: false), .dropped, .decoded, .range: return nil
    }
  }

  /// Suspends the body and returns its kept part.
  func suspendRanges() -> PartialBody? {
    defer {
      sink = nil
      isSinkOpen = false
    }
    return keptPart()
  }

  private func response(_ fault: Failure?) throws(Failure) -> TransferResponse {
    if let failure { throw failure }
    guard version != nil, let head else { throw fault ?? failures.lostHead }
    if hasExcess, mayHaveBody { throw failures.excess }
    if let share, share.body.map.isComplete { return try response(of: head) }
    if case .dropped = use {
      return TransferResponse(status: head.status, headers: head.headers, body: nil)
    }
    if let fault, use.acceptsBytes { throw fault }
    try checkSize()
    try checkEnd(head.framing)
    return try response(of: head)
  }

  private func response(of head: ResponseHead) throws(Failure) -> TransferResponse {
    let body = try openSink().finish()
    isSinkOpen = false
    return TransferResponse(
      status: head.status,
      headers: use.kept?.head ?? head.headers,
      body: body
    )
  }

  private func checkEnd(_ framing: ResponseHead.Framing) throws(Failure) {
    if use.isCoded, decoder?.isWhole != true {
      guard framing == .stream else { throw failures.damagedCoding }
      hasOpenEnd = queued.needsKnownEnd
      throw failures.openStream
    }
    // libcurl counts too, but these are the bytes that are stored.
    if case .length(let length) = framing, !use.isCoded, use.acceptsBytes {
      guard arrivedSize == length else { throw failures.shortRest }
    }
    switch use {
    case .rest(let part):
      guard part.wholeSize == bodySize else { throw failures.shortRest }
    case .whole, .decoded:
      guard framing != .untilClose || request.expectedSize == bodySize else {
        throw failures.openEnd
      }
      // A longer body is another body.
      guard framing != .stream || request.expectedSize.map({ $0 <= bodySize }) ?? true else {
        throw failures.shortRest
      }
    case .dropped, .complete, .range:
      return
    }
  }

  private var failures: ResponseFailures { ResponseFailures(host: request.url.authority) }

  // MARK: Rules

  var bodySize: Int64 {
    share?.body.map.receivedSize ?? (use.kept?.offset ?? 0) + arrivedSize
  }

  func advance(by bytes: Int64) -> TransferAdvance {
    TransferAdvance(
      bytes: bytes,
      arrived: share?.body.arrivedSize ?? arrivedSize,
      position: bodySize,
      size: share?.body.map.size ?? announcedSize
    )
  }

  private func checkAnnouncedSize() -> Bool {
    guard let size = announcedSize else { return true }
    guard let limit = request.sizeLimit, size > limit else { return fitsPeriod(size) }
    let sizes = SizeText.format(together: [size, limit])
    failure = failures.tooLarge(
      "announces \(sizes[0]), more than the \(SizeText.format(limit: limit)) allowed"
    )
    return false
  }

  /// Returns false for a body that exceeds every period of a volume limit and cannot be continued.
  private func fitsPeriod(_ size: Int64) -> Bool {
    guard use.acceptsBytes,
      let objection = TransferRequest.Allowance.objection(
        toUncontinued: size,
        under: request.allowances
      )
    else { return true }
    let plan = BodyPlan(partialKey: request.partialKey, resumption: resumption)
    guard plan.partToKeep == nil else { return true }
    failure = failures.tooLarge(objection)
    return false
  }

  var announcedSize: Int64? {
    switch use {
    case .whole: head?.announcedLength
    case .rest(let part): part.wholeSize
    case .complete(let part): part.firstHole.start
    case .decoded, .dropped, .range: nil
    }
  }

  private func checkSize() throws(Failure) {
    if let limit = request.sizeLimit, bodySize > limit {
      throw failures.tooLarge("sends more than the \(SizeText.format(limit: limit)) allowed")
    }
    if case .rest(let part) = use, let whole = part.wholeSize, bodySize > whole {
      throw failures.longRest
    }
    guard use.isCoded, bodySize > Self.harmlessSize else { return }
    guard bodySize / Self.maximumExpansion > codedSize else { return }
    throw failures.tooLarge(
      "sends a body that grows more than \(Self.maximumExpansion)-fold when decoded"
    )
  }

  func openSink() throws(Failure) -> any BodySink {
    if isSinkOpen, let sink { return sink }
    var plan = BodyPlan(
      expectedSize: announcedSize ?? (use.isCoded ? nil : request.expectedSize),
      algorithms: request.algorithms,
      partialKey: request.partialKey,
      keepsBytes: request.keepsBody,
      resumption: resumption
    )
    plan.prefixLength = request.prefixLength
    plan.heedsFreeDisk = request.heedsFreeDisk
    // Keep however little a period brings: the next period continues the part.
    if !request.allowances.isEmpty { plan.smallestPart = 1 }
    do throws(Failure) {
      let opened = if let sink, sink.begin(plan) { sink } else { try staging.beginBody(plan) }
      sink = opened
      isSinkOpen = true
      return opened
    } catch {
      guard use.kept != nil else { throw error }
      // The kept part is useless, but the whole body can be fetched.
      throw Failure(error.code, error.message, isTransient: true)
    }
  }

  var resumption: BodyPlan.Resumption {
    switch use {
    case .whole(mayBreakOff: true):
      guard let head else { return .unknown }
      let source = queued.request.url.string
      return .from(
        WholeResponse(source: source, head: head.headers, size: head.announcedLength)
      )
    case .rest(let part), .complete(let part):
      return .with(part)
    case .whole(mayBreakOff: false), .decoded, .dropped, .range:
      return .unknown
    }
  }
}
