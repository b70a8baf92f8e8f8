internal import PrefetchCore
internal import PrefetchCrypto

/// One request and what has come back so far, and then the next one's.
///
/// libcurl's callbacks feed it and may not do more, so it only records; whether the transfer goes
/// on is the Boolean that the callbacks return.
final class RunningTransfer {
  /// Bytes of a body that is not wanted, read before the connection is rather closed.
  private static let unwantedBodyLimit: Int64 = 65_536
  /// A coded body may grow so far without suspicion.
  private static let harmlessSize: Int64 = 1 << 20
  private static let maximumExpansion: Int64 = 1_000

  /// How a transfer ends.
  enum Ending {
    /// libcurl is done, and this is what it had against it.
    case concluded(Failure?)
    /// It has no end on the wire.
    case brokenOff(Failure)
  }

  private(set) var queued: QueuedRequest
  /// Whether it asks for the rest of what is kept, and that as it is.
  private(set) var isContinuing = false
  private let staging: any BodyStaging
  private let parser = ResponseHeadParser()
  /// It may be that of the answer before as long as `version` is nil.
  private var head: ResponseHead?
  /// Nil before the head is whole.
  private(set) var version: ResponseHead.Version?
  private var use = BodyUse.dropped
  /// Where the body goes, or went when it is not open: then it may take the next one.
  private var sink: (any BodySink)?
  private var isSinkOpen = false
  private var failure: Failure?
  /// What is sent, where anything is.
  private(set) var upload: Upload?
  /// Bytes of the wanted body that arrived, decoded.
  private(set) var arrivedSize: Int64 = 0
  private var unwantedSize: Int64 = 0
  /// Bytes of any body that arrived, as they came.
  private(set) var receivedSize: Int64 = 0
  /// What undoes the coding of one body after another, and how many bytes of this one went into it.
  private var decoder: GzipReader?
  private var codedSize: Int64 = 0
  /// How much may still come from what libcurl read together with the last bytes of an allowance.
  private var overdraft: Int64 = 0
  /// Whether bytes came with the answer that are no part of it.
  private var hasExcess = false
  private var chunkSizes = ChunkSizes()
  /// Whether the body has no end that could be told from an accident, but may have one over HTTP/1.1.
  private(set) var hasOpenEnd = false
  /// Whether a version with streams may answer.
  var mayShareConnection = false
  /// Whether it goes over HTTP/1.1 for the sake of the body's end.
  var isOverHTTP1 = false
  /// Whether HTTP/3 is tried first; libcurl falls back by itself.
  var triesHTTP3 = false
  /// How often the request went out: libcurl repeats it by itself where a kept connection is dead.
  private(set) var requestCount = 0
  /// Set by everything that arrives, cleared by the watch for stalls.
  var hasActivity = false

  init(_ queued: QueuedRequest, staging: any BodyStaging) {
    self.queued = queued
    self.staging = staging
  }

  /// Forgets one request for the next.
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
  }

  func openUpload(_ body: UploadedBody) throws(Failure) {
    upload = try Upload(body)
  }

  var request: TransferRequest { queued.request }

  /// Whether the request went out; before, libcurl may have kept the transfer waiting for its turn.
  var isRequested: Bool { requestCount > 0 }

  func noteRequest() {
    requestCount += 1
    // Where HTTP/1.1 is demanded, libcurl sends a body again from where it stood.
    upload?.position = 0
  }

  /// Whether it was ended by us, not by libcurl.
  var isGivenUp: Bool { failure != nil }

  /// The kept part whose rest is asked for.
  var continued: PartialBody? { isContinuing ? queued.request.partial : nil }

  var phase: CurlFault.Phase {
    guard isRequested else { return .connecting }
    return version == nil ? .awaitingHead : .receivingBody
  }

  // MARK: Facts from libcurl

  /// False ends the transfer.
  func receiveHeader(_ line: RawSpan) -> Bool {
    hasActivity = true
    do throws(ResponseFault) {
      guard let head = try parser.receive(line) else { return true }
      guard head.version.isTextual || mayShareConnection else {
        throw .version(head.version)
      }
      self.head = head
      version = head.version
      use = try BodyUse.of(head, to: queued, isContinuing: isContinuing)
      if use.isCoded, decoder?.restart() != true { decoder = try? GzipReader() }
      if case .chunked = head.framing { chunkSizes = ChunkSizes() }
      guard !request.needsLength || !use.takesBytes || head.announcedLength != nil else {
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
        isTransient: isContinuing && error.isWorthAskingForTheWhole
      )
      return false
    }
  }

  /// False ends the transfer.
  func receiveBody(_ bytes: RawSpan) -> Bool {
    hasActivity = true
    receivedSize += Int64(bytes.byteCount)
    guard use.takesBytes else {
      unwantedSize += Int64(bytes.byteCount)
      return unwantedSize <= Self.unwantedBodyLimit
    }
    guard
      queued.allowances.isEmpty
        || queued.mayTake(Int64(bytes.byteCount), overdraft: &overdraft)
    else {
      failure = Failure(.cancelled, "its allowance of bytes is used up")
      return false
    }
    do throws(Failure) {
      if use.isCoded {
        try decode(bytes)
      } else {
        try take(bytes)
      }
      return true
    } catch {
      failure = error
      return false
    }
  }

  /// Whether nothing shows that a body over HTTP/2 or 3 is whole.
  ///
  /// A stream that its server resets without an error ends for libcurl like one that is complete.
  private func lacksKnownEnd(_ head: ResponseHead) -> Bool {
    guard case .stream = head.framing, case .whole = use else { return false }
    return queued.needsKnownEnd
  }

  /// Whether a body may follow the head; old servers send one all the same where none may.
  var mayHaveBody: Bool {
    guard head?.mayHaveBody == true else { return false }
    if case .head = request.method { return false }
    return true
  }

  private func leaveOpen() {
    hasOpenEnd = true
    failure = failures.openStream
  }

  func noteFoldedLine() {
    parser.hasFoldedLine = true
  }

  /// Takes the bytes of a body as they came, before those that `receiveBody` takes.
  func noteRawBody(_ bytes: RawSpan) {
    guard failure == nil, version != nil, case .chunked = head?.framing,
      let size = chunkSizes.read(bytes)
    else { return }
    failure = failures.brokenChunk(size)
  }

  private func take(_ bytes: RawSpan) throws(Failure) {
    arrivedSize += Int64(bytes.byteCount)
    try checkSize()
    try openSink().append(bytes)
  }

  private func decode(_ bytes: RawSpan) throws(Failure) {
    codedSize += Int64(bytes.byteCount)
    guard let decoder else { throw failures.noMemory }
    let fault = try decoder.read(bytes) { piece throws(Failure) in try take(piece) }
    switch fault {
    case nil: return
    case .damaged: throw failures.damagedCoding
    case .outOfMemory: throw failures.noMemory
    }
  }

  /// What follows a whole answer may be meant to pass for the answer to the next request; so neither
  /// the answer nor its connection is good.
  func noteExcess() {
    hasExcess = true
  }

  // MARK: The end

  /// Ends the transfer from here, unless the answer is whole; one with an unwanted body is so
  /// with its head.
  func giveUp(_ reason: Failure) {
    guard failure == nil, version == nil || use.takesBytes, !isWhole else { return }
    failure = reason
  }

  /// However little has come of the body is kept, should it break off now.
  func valueAll() {
    if isSinkOpen { sink?.valueAll() }
  }

  /// Whether nothing of the body is missing, although libcurl may not have said so: it keeps to itself
  /// that a transfer ended while that is paused.
  var isWhole: Bool {
    guard failure == nil, let head, use.takesBytes, case .length(let length) = head.framing else {
      return false
    }
    return (use.isCoded ? codedSize : arrivedSize) == length
  }

  /// What came of it.
  func result(_ ending: Ending, _ figures: consuming TransferFigures) -> TransferResult {
    switch ending {
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

  /// Ends it and keeps what can be continued.
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

  /// What is kept of the body: what arrived, or what was kept before and nothing spoke against.
  private func keptPart() -> PartialBody? {
    guard isSinkOpen, let sink else {
      return version == nil || (use.kept?.offset ?? 0) > 0 ? continued : nil
    }
    switch use {
    case .whole(mayBreakOff: true), .rest, .complete: return sink.suspend()
    case .whole(mayBreakOff: false), .dropped, .decoded: return nil
    }
  }

  private func response(_ fault: Failure?) throws(Failure) -> TransferResponse {
    if let failure { throw failure }
    guard version != nil, let head else { throw fault ?? failures.lostHead }
    if hasExcess, mayHaveBody { throw failures.excess }
    if case .dropped = use {
      return TransferResponse(status: head.status, headers: head.headers, body: nil)
    }
    if let fault, use.takesBytes { throw fault }
    try checkSize()
    try checkEnd(head.framing)
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
    // libcurl counts as well; but what is stored is what was counted here.
    if case .length(let length) = framing, !use.isCoded, use.takesBytes {
      guard arrivedSize == length else { throw failures.shortRest }
    }
    switch use {
    case .rest(let part):
      guard part.wholeSize == bodySize else { throw failures.shortRest }
    case .whole, .decoded:
      guard framing != .untilClose || request.expectedSize == bodySize else {
        throw failures.openEnd
      }
      // One that is longer is another body.
      guard framing != .stream || request.expectedSize.map({ $0 <= bodySize }) ?? true else {
        throw failures.shortRest
      }
    case .dropped, .complete:
      return
    }
  }

  private var failures: AnswerFailures { AnswerFailures(host: request.url.authority) }

  // MARK: Rules

  /// The size of the body so far, with what was kept.
  private var bodySize: Int64 {
    (use.kept?.offset ?? 0) + arrivedSize
  }

  /// Where it stands once so many bytes more have arrived than was last told.
  func advance(by bytes: Int64) -> TransferAdvance {
    TransferAdvance(
      bytes: bytes,
      arrived: arrivedSize,
      position: bodySize,
      size: announcedSize
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

  /// False for a body that no period of a limit of volume has room for, and that cannot be continued in
  /// the next one: it would use up each of them.
  private func fitsPeriod(_ size: Int64) -> Bool {
    guard use.takesBytes,
      let objection = TransferRequest.Allowance.objection(
        toUncontinued: size,
        under: request.allowances
      )
    else { return true }
    let plan = BodyPlan(partialKey: request.partialKey, resumption: resumption)
    guard plan.part == nil else { return true }
    failure = failures.tooLarge(objection)
    return false
  }

  /// The size of the whole body, where the head tells it.
  private var announcedSize: Int64? {
    switch use {
    case .whole: head?.announcedLength
    case .rest(let part): part.wholeSize
    case .complete(let part): part.offset
    case .decoded, .dropped: nil
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

  private func openSink() throws(Failure) -> any BodySink {
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
    // However little a period brings, the next one goes on behind it.
    if !request.allowances.isEmpty { plan.smallestPart = 1 }
    do throws(Failure) {
      let opened = if let sink, sink.begin(plan) { sink } else { try staging.beginBody(plan) }
      sink = opened
      isSinkOpen = true
      return opened
    } catch {
      guard use.kept != nil else { throw error }
      // What is kept is of no use, but the whole can still be had.
      throw Failure(error.code, error.message, isTransient: true)
    }
  }

  private var resumption: BodyPlan.Resumption {
    switch use {
    case .whole(mayBreakOff: true):
      guard let head else { return .unknown }
      let source = queued.request.url.string
      return .from(
        WholeAnswer(source: source, head: head.headers, size: head.announcedLength)
      )
    case .rest(let part), .complete(let part):
      return .with(part)
    case .whole(mayBreakOff: false), .decoded, .dropped:
      return .unknown
    }
  }
}
