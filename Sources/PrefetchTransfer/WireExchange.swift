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

  let request: TransferRequest
  private let staging: any BodyStaging
  private var parser = ResponseHeadParser()
  private(set) var head: ResponseHead?
  private var sink: (any BodySink)?
  private var failure: Failure?
  /// Bytes of the wanted body, decoded.
  private(set) var bodySize: Int64 = 0
  private var unwantedSize: Int64 = 0
  /// Bytes of the body as they came, as far as libcurl has told.
  var wireSize: Int64 = 0
  /// Whether the request went out; before, libcurl may have kept the transfer waiting for its turn.
  var isRequested = false
  /// Set by everything that arrives, cleared by whoever watches for stalls.
  var hasActivity = false

  init(_ request: TransferRequest, staging: any BodyStaging) {
    self.request = request
    self.staging = staging
  }

  var phase: CurlFault.Phase {
    guard isRequested else { return .connecting }
    return head == nil ? .awaitingHead : .receivingBody
  }

  /// Whether other exchanges may use the same connection at the same time, as far as is known.
  var mayShareConnection: Bool {
    guard let head else { return request.url.scheme == .https }
    return !head.version.hasPrefix("1.")
  }

  // MARK: Facts from libcurl

  /// False ends the transfer.
  func receiveHeader(_ line: RawSpan) -> Bool {
    hasActivity = true
    do throws(ResponseFault) {
      guard let head = try parser.receive(line) else { return true }
      try checkExpectations(of: head)
      self.head = head
      return checkAnnouncedSize(of: head)
    } catch {
      failure = Failure(.badResponse, "`\(request.url.authority)` answered with \(error)")
      return false
    }
  }

  /// False ends the transfer.
  func receiveBody(_ bytes: RawSpan) -> Bool {
    hasActivity = true
    guard let head, wantsBody(of: head) else {
      unwantedSize += Int64(bytes.byteCount)
      return unwantedSize <= Self.unwantedBodyLimit
    }
    do throws(Failure) {
      bodySize += Int64(bytes.byteCount)
      try checkSize(of: head, sparing: Self.unwantedBodyLimit)
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
    guard failure == nil, !isSettledByHead else { return }
    failure = reason
  }

  /// The outcome, once libcurl is done; `fault` is what libcurl had against it.
  func conclude(_ fault: Failure?) -> Result<TransferResponse, Failure> {
    do throws(Failure) {
      return .success(try response(fault))
    } catch {
      abandon()
      return .failure(error)
    }
  }

  func abandon() {
    sink?.abandon()
    sink = nil
  }

  private func response(_ fault: Failure?) throws(Failure) -> TransferResponse {
    if let failure { throw failure }
    guard let head else { throw fault ?? lostHead }
    guard wantsBody(of: head) else {
      return TransferResponse(status: head.status, headers: head.headers, body: nil)
    }
    if let fault { throw fault }
    try checkSize(of: head, sparing: 0)
    guard head.framing != .untilClose || request.expectedSize == bodySize else { throw openEnd }
    let body = try openSink(for: head).finish()
    return TransferResponse(status: head.status, headers: head.headers, body: body)
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

  // MARK: Rules

  private var isSettledByHead: Bool {
    guard let head else { return false }
    return !wantsBody(of: head)
  }

  private func wantsBody(of head: ResponseHead) -> Bool {
    request.method == .get && [200, 203, 206].contains(head.status)
  }

  private func isCoded(_ head: ResponseHead) -> Bool {
    request.allowsCoding && !head.codings.isEmpty
  }

  private func checkExpectations(of head: ResponseHead) throws(ResponseFault) {
    if head.status == 206, !request.has("Range") { throw .unaskedRange }
    let validators = ["If-None-Match", "If-Modified-Since"]
    if head.status == 304, !validators.contains(where: request.has) { throw .unaskedNotModified }
    if wantsBody(of: head), head.codings.count > 1 {
      throw .severalCodings(head.codings.joined(separator: ", "))
    }
  }

  private func checkAnnouncedSize(of head: ResponseHead) -> Bool {
    guard wantsBody(of: head), !isCoded(head), let limit = request.sizeLimit,
      let length = head.announcedLength, length > limit
    else { return true }
    failure = tooLarge("announces \(length) bytes, more than the \(limit) allowed")
    return false
  }

  /// `slack` are bytes on the wire that libcurl may have read and not yet told of.
  private func checkSize(of head: ResponseHead, sparing slack: Int64) throws(Failure) {
    if let limit = request.sizeLimit, bodySize > limit {
      throw tooLarge("sends more than the \(limit) bytes allowed")
    }
    guard isCoded(head), bodySize > Self.harmlessSize else { return }
    let wire = min(wireSize + slack, head.announcedLength ?? .max)
    guard bodySize / Self.maximumExpansion > wire else { return }
    throw tooLarge("sends a body that grows more than \(Self.maximumExpansion)-fold when decoded")
  }

  private func tooLarge(_ what: String) -> Failure {
    Failure(.tooLarge, "`\(request.url.authority)` \(what)")
  }

  private func openSink(for head: ResponseHead) throws(Failure) -> any BodySink {
    if let sink { return sink }
    let size = isCoded(head) ? nil : head.announcedLength ?? request.expectedSize
    let opened = try staging.beginBody(
      BodyPlan(expectedSize: size, algorithms: request.algorithms)
    )
    sink = opened
    return opened
  }
}

extension TransferRequest {
  /// Whether a header goes out with it.
  func has(_ name: String) -> Bool {
    HeaderBlock(headers)[name] != nil
  }
}
