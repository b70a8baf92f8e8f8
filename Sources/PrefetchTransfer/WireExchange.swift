internal import PrefetchCore

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

  /// What becomes of the bytes of an answer.
  private enum Use {
    /// Read and forgotten; the head says it all.
    case dropped
    /// The whole body; `part` is how its rest could be asked for.
    case whole(part: PartialBody?)
    /// What follows a kept part.
    case rest(of: PartialBody)
    /// Nothing follows: the kept part is the whole.
    case complete(PartialBody)
  }

  let request: TransferRequest
  /// The kept part whose rest is asked for.
  let continued: PartialBody?
  private let staging: any BodyStaging
  private var parser = ResponseHeadParser()
  private(set) var head: ResponseHead?
  private var use = Use.dropped
  private var sink: (any BodySink)?
  private var failure: Failure?
  /// Bytes of the wanted body that arrived, decoded.
  private(set) var arrivedSize: Int64 = 0
  private var unwantedSize: Int64 = 0
  /// Bytes of the body as they came, as far as libcurl has told; kept for bodies being decoded.
  var wireSize: Int64 = 0
  /// Whether HTTP/3 is tried first; libcurl falls back by itself.
  var triesHTTP3 = false
  /// Whether the request went out; before, libcurl may have kept the transfer waiting for its turn.
  var isRequested = false
  /// Set by everything that arrives, cleared by whoever watches for stalls.
  var hasActivity = false

  init(_ request: TransferRequest, staging: any BodyStaging) {
    self.request = request
    self.staging = staging
    continued = request.continuedPart
  }

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

  /// Whether libcurl decodes what arrives.
  var isDecoding: Bool {
    guard let head else { return false }
    return isCoded(head)
  }

  // MARK: Facts from libcurl

  /// False ends the transfer.
  func receiveHeader(_ line: Span<UInt8>) -> Bool {
    hasActivity = true
    do throws(ResponseFault) {
      guard let head = try parser.receive(line) else { return true }
      self.head = head
      use = try use(of: head)
      return checkAnnouncedSize(of: head)
    } catch {
      failure = Failure(
        .badResponse,
        "`\(request.url.authority)` answered with \(error)",
        isTransient: error.isWorthAskingForTheWhole
      )
      return false
    }
  }

  /// False ends the transfer.
  func receiveBody(_ bytes: RawSpan) -> Bool {
    hasActivity = true
    guard let head, takesBytes else {
      unwantedSize += Int64(bytes.byteCount)
      return unwantedSize <= Self.unwantedBodyLimit
    }
    do throws(Failure) {
      arrivedSize += Int64(bytes.byteCount)
      // Chunks are counted only once the buffer that they came in is used up.
      try checkSize(of: head, uncounted: head.framing == .chunked ? EasyHandle.bufferSize : 0)
      try openSink(for: head).append(bytes)
      return true
    } catch {
      failure = error
      return false
    }
  }

  // MARK: The end

  /// Ends the exchange from our side; an answer whose body nobody wants is whole with its head.
  func giveUp(_ reason: Failure) {
    guard failure == nil, head == nil || takesBytes else { return }
    failure = reason
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
    let part = reason.leavesGoodBytes && isResumable ? sink?.suspend() : nil
    if part == nil { sink?.abandon() }
    sink = nil
    return TransferResult(.failure(reason), figures: TransferFigures(), partial: part)
  }

  private func response(_ fault: Failure?) throws(Failure) -> TransferResponse {
    if let failure { throw failure }
    guard let head else { throw fault ?? lostHead }
    if case .dropped = use {
      return TransferResponse(status: head.status, headers: head.headers, body: nil)
    }
    if let fault, takesBytes { throw fault }
    try checkSize(of: head, uncounted: 0)
    try checkEnd(of: head)
    let body = try openSink(for: head).finish()
    return TransferResponse(status: head.status, headers: head.headers, body: body)
  }

  private func checkEnd(of head: ResponseHead) throws(Failure) {
    switch use {
    case .rest(let part):
      guard part.wholeSize == bodySize else { throw shortRest }
    case .whole:
      guard head.framing != .untilClose || request.expectedSize == bodySize else { throw openEnd }
    case .dropped, .complete:
      return
    }
  }

  private var lostHead: Failure {
    Failure(
      .reset,
      "`\(request.url.authority)` ended the connection within the headers",
      isTransient: true
    )
  }

  private var openEnd: Failure {
    Failure(
      .truncated,
      "`\(request.url.authority)` gave no length, so nobody can tell whether the body is whole",
      isTransient: true
    )
  }

  private var shortRest: Failure {
    Failure(
      .truncated,
      "`\(request.url.authority)` sent less of the body than it announced",
      isTransient: true
    )
  }

  // MARK: Rules

  /// The size of the body so far, with what was kept before.
  private var bodySize: Int64 {
    switch use {
    case .dropped, .whole: arrivedSize
    case .rest(let part), .complete(let part): part.offset + arrivedSize
    }
  }

  private var takesBytes: Bool {
    switch use {
    case .whole, .rest: true
    case .dropped, .complete: false
    }
  }

  private var isResumable: Bool {
    switch use {
    case .whole(let part): part != nil
    case .rest, .complete: true
    case .dropped: false
    }
  }

  private func isCoded(_ head: ResponseHead) -> Bool {
    request.allowsCoding && !head.codings.isEmpty
  }

  /// What the answer's body is good for; an answer to a question that nobody asked is a fault.
  private func use(of head: ResponseHead) throws(ResponseFault) -> Use {
    switch head.status {
    case 206:
      guard let continued else {
        guard request.has("Range") else { throw .unaskedRange }
        return try wholeBody(of: head)
      }
      if let objection = ResumeRule.objection(to: head.headers, continuing: continued) {
        throw .otherRest(objection)
      }
      var part = continued
      part.wholeSize = ResumeRule.wholeSize(head.headers)
      return .rest(of: part)
    case 200, 203:
      return try wholeBody(of: head)
    case 304:
      let validators = ["If-None-Match", "If-Modified-Since"]
      guard validators.contains(where: request.has) else { throw .unaskedNotModified }
      return .dropped
    case 416:
      guard let continued, ResumeRule.isWhole(continued, by: head.headers) else { return .dropped }
      return .complete(continued)
    default:
      return .dropped
    }
  }

  private func wholeBody(of head: ResponseHead) throws(ResponseFault) -> Use {
    guard request.method == .get else { return .dropped }
    let codings = head.codings
    guard codings.count <= 1 else { throw .severalCodings(codings.joined(separator: ", ")) }
    // The rest of a body is asked for uncoded, so nobody stands ready to decode.
    if continued != nil, request.allowsCoding, let coding = codings.first {
      throw .unaskedCoding(coding)
    }
    guard head.status == 200, codings.isEmpty, request.partialKey != nil,
      let validator = ResumeRule.validator(head.headers)
    else { return .whole(part: nil) }
    return .whole(
      part: PartialBody(
        source: request.url.string,
        validator: validator,
        offset: 0,
        wholeSize: head.announcedLength
      )
    )
  }

  private func checkAnnouncedSize(of head: ResponseHead) -> Bool {
    guard let size = announcedSize(of: head), let limit = request.sizeLimit, size > limit else {
      return true
    }
    failure = tooLarge("announces \(size) bytes, more than the \(limit) allowed")
    return false
  }

  /// The size of the whole body, where the head tells it.
  private func announcedSize(of head: ResponseHead) -> Int64? {
    switch use {
    case .whole: isCoded(head) ? nil : head.announcedLength
    case .rest(let part): part.wholeSize
    case .complete(let part): part.offset
    case .dropped: nil
    }
  }

  /// `uncounted` are bytes on the wire that libcurl may have read and not yet told of.
  private func checkSize(of head: ResponseHead, uncounted: Int) throws(Failure) {
    if let limit = request.sizeLimit, bodySize > limit {
      throw tooLarge("sends more than the \(limit) bytes allowed")
    }
    if case .rest(let part) = use, let whole = part.wholeSize, bodySize > whole {
      throw Failure(
        .badResponse,
        "`\(request.url.authority)` sends more of the body than it announced",
        isTransient: true
      )
    }
    guard isCoded(head), bodySize > Self.harmlessSize else { return }
    guard bodySize / Self.maximumExpansion > wireSize + Int64(uncounted) else { return }
    throw tooLarge("sends a body that grows more than \(Self.maximumExpansion)-fold when decoded")
  }

  private func tooLarge(_ what: String) -> Failure {
    Failure(.tooLarge, "`\(request.url.authority)` \(what)")
  }

  private func openSink(for head: ResponseHead) throws(Failure) -> any BodySink {
    if let sink { return sink }
    let opened = try beginBody(for: head)
    sink = opened
    return opened
  }

  private func beginBody(for head: ResponseHead) throws(Failure) -> any BodySink {
    let size = announcedSize(of: head) ?? (isCoded(head) ? nil : request.expectedSize)
    var plan = BodyPlan(
      expectedSize: size,
      algorithms: request.algorithms,
      partialKey: request.partialKey
    )
    switch use {
    case .dropped:
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

extension TransferRequest {
  /// Whether a header goes out with it.
  func has(_ name: String) -> Bool {
    headers.contains { field in
      field.name.utf8.count == name.utf8.count
        && zip(field.name.utf8, name.utf8).allSatisfy {
          ASCII.lowercased($0) == ASCII.lowercased($1)
        }
    }
  }

  /// The kept part that this request can continue: only the URL that gave a validator knows it.
  fileprivate var continuedPart: PartialBody? {
    guard let partial, partialKey != nil, method == .get, partial.offset > 0,
      partial.source == url.string, !has("Range")
    else { return nil }
    return partial
  }
}

extension Failure {
  /// Whether what arrived before it is as good as it was.
  fileprivate var leavesGoodBytes: Bool {
    code.category == .connectivity || code == .cancelled || code == .diskFull
  }
}

extension ResponseFault {
  /// Whether the answer may only be wrong because a part was asked for.
  fileprivate var isWorthAskingForTheWhole: Bool {
    switch self {
    case .otherRest, .unaskedCoding: true
    case .statusLine, .status, .protocolSwitch, .lineEnd, .foldedLine, .fieldName,
      .controlCharacter, .tooManyFields, .tooManyBytes, .contentLength,
      .lengthAndTransferCoding, .transferCoding, .severalCodings, .unaskedRange,
      .unaskedNotModified:
      false
    }
  }
}
