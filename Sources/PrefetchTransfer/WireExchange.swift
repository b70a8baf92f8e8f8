internal import PrefetchCore
internal import PrefetchCrypto

/// One request and what has come back so far.
///
/// libcurl's callbacks feed it and may not do more, so it only records; whether the transfer goes
/// on is the Boolean that the callbacks return.
final class WireExchange {
  /// Bytes of a body that nobody wants, read before the connection is rather closed.
  private static let unwantedBodyLimit: Int64 = 65_536
  /// A coded body may grow so far without suspicion.
  private static let harmlessSize: Int64 = 1 << 20
  private static let maximumExpansion: Int64 = 1_000

  let queued: QueuedRequest
  /// The kept part whose rest is asked for.
  let continued: PartialBody?
  private let staging: any BodyStaging
  private var parser = ResponseHeadParser()
  private(set) var head: ResponseHead?
  private var use = BodyUse.dropped
  private var sink: (any BodySink)?
  private var failure: Failure?
  /// Bytes of the wanted body that arrived, decoded.
  private(set) var arrivedSize: Int64 = 0
  private var unwantedSize: Int64 = 0
  /// Bytes of any body that arrived, as they came.
  private(set) var receivedSize: Int64 = 0
  /// What undoes the body's coding, and how many bytes went into it.
  private var decoder: GzipReader?
  private var codedSize: Int64 = 0
  /// How much may still come from what libcurl read together with the last bytes of an allowance.
  private var overdraft: Int64 = 0
  /// Whether bytes came with the answer that are no part of it.
  private var hasExcess = false
  /// Whether a version with streams may answer.
  var mayShareConnection = false
  /// Whether HTTP/3 is tried first; libcurl falls back by itself.
  var triesHTTP3 = false
  /// Whether the request went out; before, libcurl may have kept the transfer waiting for its turn.
  var isRequested = false
  /// Set by everything that arrives, cleared by whoever watches for stalls.
  var hasActivity = false

  init(_ queued: QueuedRequest, staging: any BodyStaging) {
    self.queued = queued
    self.staging = staging
    continued = queued.request.partial == nil ? nil : queued.request.continuedPart
  }

  var request: TransferRequest { queued.request }

  /// Nil before the head is whole.
  var version: ResponseHead.Version? { head?.version }

  var phase: CurlFault.Phase {
    guard isRequested else { return .connecting }
    return head == nil ? .awaitingHead : .receivingBody
  }

  /// Whether the answer may be coded.
  ///
  /// The rest of a body is asked for as it is.
  var acceptsCoding: Bool {
    request.allowsCoding && continued == nil
  }

  // MARK: Facts from libcurl

  /// False ends the transfer.
  func receiveHeader(_ line: Span<UInt8>) -> Bool {
    hasActivity = true
    do throws(ResponseFault) {
      guard try parser.receive(line) else { return true }
      let head = try parser.head()
      guard head.version.isTextual || mayShareConnection else {
        throw .version(head.version)
      }
      self.head = head
      use = try BodyUse.of(head, to: queued, continuing: continued)
      if use.isCoded { decoder = try? GzipReader() }
      return checkAnnouncedSize(of: head)
    } catch {
      failure = Failure(
        .badResponse,
        "`\(request.url.authority)` answered with \(error)",
        isTransient: continued != nil && error.isWorthAskingForTheWhole
      )
      return false
    }
  }

  /// False ends the transfer.
  func receiveBody(_ bytes: RawSpan) -> Bool {
    hasActivity = true
    receivedSize += Int64(bytes.byteCount)
    guard let head, use.takesBytes else {
      unwantedSize += Int64(bytes.byteCount)
      return unwantedSize <= Self.unwantedBodyLimit
    }
    guard queued.mayTake(Int64(bytes.byteCount), overdraft: &overdraft) else {
      failure = Failure(.cancelled, "its allowance of bytes is used up")
      return false
    }
    do throws(Failure) {
      if use.isCoded {
        try decode(bytes, of: head)
      } else {
        try take(bytes, of: head)
      }
      return true
    } catch {
      failure = error
      return false
    }
  }

  private func take(_ bytes: RawSpan, of head: ResponseHead) throws(Failure) {
    arrivedSize += Int64(bytes.byteCount)
    try checkSize()
    try openSink(for: head).append(bytes)
  }

  private func decode(_ bytes: RawSpan, of head: ResponseHead) throws(Failure) {
    codedSize += Int64(bytes.byteCount)
    guard let decoder else { throw failures.noMemory }
    let fault = try decoder.read(bytes) { piece throws(Failure) in try take(piece, of: head) }
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

  /// Ends the exchange from our side, unless the answer is whole; one whose body nobody wants is so
  /// with its head.
  func giveUp(_ reason: Failure) {
    guard failure == nil, head == nil || use.takesBytes, !isWhole else { return }
    failure = reason
  }

  /// Whether nothing of the body is missing, although libcurl may not have said so: it keeps to itself
  /// that a transfer ended while that is paused.
  var isWhole: Bool {
    guard failure == nil, let head, use.takesBytes, case .length(let length) = head.framing else {
      return false
    }
    return (use.isCoded ? codedSize : arrivedSize) == length
  }

  /// The result without its figures, once libcurl is done; `fault` is what libcurl had against it.
  func conclude(_ fault: Failure?) -> TransferResult {
    do throws(Failure) {
      return TransferResult(.success(try response(fault)), figures: TransferFigures())
    } catch {
      return breakOff(error)
    }
  }

  /// Ends the exchange without its end on the wire and keeps what can be continued.
  func breakOff(_ reason: Failure) -> TransferResult {
    let part = reason.leavesGoodBytes ? keptPart() : nil
    if part == nil { sink?.abandon() }
    sink = nil
    var result = TransferResult(.failure(reason), figures: TransferFigures(), partial: part)
    if reason.code == .tooLarge { result.announcedSize = head.flatMap(announcedSize) }
    return result
  }

  /// What is kept of the body: what arrived, or what was kept before and nothing spoke against.
  private func keptPart() -> PartialBody? {
    guard let sink else {
      if head == nil { return continued }
      return use.keptSize > 0 ? continued : nil
    }
    return use.isResumable ? sink.suspend() : nil
  }

  private func response(_ fault: Failure?) throws(Failure) -> TransferResponse {
    if let failure { throw failure }
    guard let head else { throw fault ?? failures.lostHead }
    // Where no body may follow, old servers send one all the same; that proves no ill will.
    if hasExcess, head.mayHaveBody, request.method != .head { throw failures.excess }
    if case .dropped = use {
      return TransferResponse(status: head.status, headers: head.headers, body: nil)
    }
    if let fault, use.takesBytes { throw fault }
    try checkSize()
    try checkEnd(of: head)
    let body = try openSink(for: head).finish()
    return TransferResponse(
      status: head.status,
      headers: use.wholeHead ?? head.headers,
      body: body
    )
  }

  private func checkEnd(of head: ResponseHead) throws(Failure) {
    if let decoder, !decoder.isWhole { throw failures.damagedCoding }
    // libcurl counts as well; but what is stored is what was counted here.
    if case .length(let length) = head.framing, !use.isCoded, use.takesBytes {
      guard arrivedSize == length else { throw failures.shortRest }
    }
    switch use {
    case .rest(let part):
      guard part.wholeSize == bodySize else { throw failures.shortRest }
    case .whole, .decoded:
      guard head.framing != .untilClose || request.expectedSize == bodySize else {
        throw failures.openEnd
      }
    case .dropped, .complete:
      return
    }
  }

  private var failures: AnswerFailures { AnswerFailures(host: request.url.authority) }

  // MARK: Rules

  /// The size of the body so far, with what was kept before.
  private var bodySize: Int64 {
    use.keptSize + arrivedSize
  }

  private func checkAnnouncedSize(of head: ResponseHead) -> Bool {
    guard let limit = queued.request.sizeLimit, let size = announcedSize(of: head), size > limit
    else { return true }
    let sizes = SizeText.format(together: [size, limit])
    failure = failures.tooLarge(
      "announces \(sizes[0]), more than the \(SizeText.format(limit: limit)) allowed"
    )
    return false
  }

  /// The size of the whole body, where the head tells it.
  private func announcedSize(of head: ResponseHead) -> Int64? {
    switch use {
    case .whole: head.announcedLength
    case .decoded: nil
    case .rest(let part): part.wholeSize
    case .complete(let part): part.offset
    case .dropped: nil
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

  private func openSink(for head: ResponseHead) throws(Failure) -> any BodySink {
    if let sink { return sink }
    let opened = try beginBody(for: head)
    sink = opened
    return opened
  }

  private func beginBody(for head: ResponseHead) throws(Failure) -> any BodySink {
    let size = announcedSize(of: head) ?? (use.isCoded ? nil : request.expectedSize)
    var plan = BodyPlan(
      expectedSize: size,
      algorithms: request.algorithms,
      partialKey: request.partialKey
    )
    plan.keepsBytes = request.keepsBody
    switch use {
    case .dropped, .decoded:
      return try staging.beginBody(plan)
    case .whole(let part):
      plan.partial = part
      return try staging.beginBody(plan)
    case .rest(let part), .complete(let part):
      plan.partial = part
      do throws(Failure) {
        return try staging.beginBody(plan)
      } catch {
        // What is kept is of no use, but the whole can still be had.
        throw Failure(error.code, error.message, isTransient: true)
      }
    }
  }
}
