internal import CMicroHTTPD
internal import Glibc
internal import PrefetchCore
internal import Synchronization

/// State of a request between its first line and the end of its response.
final class PendingRequest: Sendable {
  let target: String
  private let start = ContinuousClock.now
  private let progress = Mutex(Progress())

  var duration: Duration { start.duration(to: .now) }

  struct Progress: Sendable {
    var isSeen = false
    var received = 0
    var body: [UInt8] = []
    var response: ServedResponse?
  }

  init(target: String) {
    self.target = target
  }

  func addUpload(_ upload: Int) -> Progress {
    progress.withLock { progress in
      let before = progress
      progress.isSeen = true
      progress.received += upload
      return before
    }
  }

  func keep(_ chunk: UnsafeRawBufferPointer) {
    progress.withLock { progress in
      let room = EventEndpoint.longestBody + 1 - progress.body.count
      unsafe progress.body.append(contentsOf: chunk.prefix(room))
    }
  }

  func finish(with response: ServedResponse) {
    progress.withLock { $0.response = response }
  }
}

/// Admits requests: refuses those that are neither GET, HEAD nor events, and passes on the others.
final class RequestDesk: Sendable {
  private let responder: any Responder
  private let gate: RequestGate
  private let connections = Mutex(ConnectionTimes())
  private let resting = Mutex(Resting())
  private let access: ServeAccess
  private let listener: RequestLogEntry.Listener?
  private let events: (any EventReceiver)?

  init(
    responder: any Responder,
    gate: RequestGate,
    access: ServeAccess,
    listener: RequestLogEntry.Listener?,
    events: (any EventReceiver)?
  ) {
    self.events = events
    self.responder = responder
    self.gate = gate
    self.access = access
    self.listener = listener
  }

  func handle(
    _ pending: PendingRequest,
    of connection: OpaquePointer,
    method: UnsafePointer<CChar>,
    upload chunk: UnsafeRawBufferPointer
  ) -> MHD_Result {
    let upload = chunk.count
    let before = pending.addUpload(upload)
    let received = before.received + upload
    let method = unsafe String(cString: method)
    let target = access.target(pending.target)
    let origin = access.origin == nil ? nil : unsafe HTTPConnection.header("Origin", of: connection)
    let put = { (response: ServedResponse) in
      var response = response
      response.headers += self.access.headers(for: origin, hasToken: target?.hasToken == true)
      // The token must not appear in logs.
      let shown = target?.path ?? "/-/t/…"
      unsafe self.notifyListener(response, of: connection, method, shown, after: pending.duration)
      return unsafe HTTPConnection.put(response, to: connection)
    }
    if let response = before.response { return put(response) }
    if !before.isSeen {
      unsafe headReceived(on: connection)
      if let refusal = unsafe refusal(of: connection, target) { return put(refusal) }
      return .YES
    }
    let isEvent = events != nil && EventEndpoint.isMeant(by: target?.path ?? "")
    // Bodies are ignored; a short one is read so that its sender receives the response.
    guard upload == 0 else {
      if isEvent { unsafe pending.keep(chunk) }
      return received <= Self.longestBody ? .YES : .NO
    }
    let hasToken = target?.hasToken == true
    if method == "OPTIONS", access.admits(origin: origin, hasToken: hasToken), received == 0 {
      return put(
        ServedResponse(204, isEvent ? ServeAccess.eventPermission : ServeAccess.permission)
      )
    }
    if let events, isEvent {
      let authorization = unsafe HTTPConnection.header("Authorization", of: connection)
      let refusal = refusal(
        ofEvent: method,
        hasToken: hasToken || access.isShown(in: authorization),
        received: received
      )
      if let refusal { return put(refusal) }
      let body = before.body
      return unsafe rest(connection, pending) { finish in
        Background.perform { finish(events.respond(body)) }
      }
    }
    guard method == "GET" || method == "HEAD" else {
      let refusal = ServedResponse.refusal(405, nil, [("Allow", "GET, HEAD")] + Self.closingFields)
      return put(refusal)
    }
    guard received == 0 else {
      let refusal = ServedResponse.refusal(400, "\(method) has no body", Self.closingFields)
      return put(refusal)
    }
    var request = unsafe ServedRequest(target: target?.path ?? pending.target, of: connection)
    request.isHead = method == "HEAD"
    if responder.heedsFields {
      request.fields = ClientFields(unsafe HTTPConnection.fields(of: connection))
    }
    switch responder.respond(to: request) {
    case .now(let response): return put(response)
    case .later(let begin): return unsafe rest(connection, pending, begin)
    }
  }

  private func refusal(ofEvent method: String, hasToken: Bool, received: Int) -> ServedResponse? {
    guard method == "POST" else {
      return .refusal(405, nil, [("Allow", "POST")] + Self.closingFields)
    }
    guard hasToken else { return .refusal(403, "an event needs the token", Self.closingFields) }
    guard received <= EventEndpoint.longestBody else {
      let words = "an event has at most \(EventEndpoint.longestBody) bytes"
      return .refusal(413, words, Self.closingFields)
    }
    return nil
  }

  private func notifyListener(
    _ response: ServedResponse,
    of connection: OpaquePointer,
    _ method: String,
    _ target: String,
    after duration: Duration
  ) {
    guard let listener else { return }
    listener(
      RequestLogEntry(
        method: method,
        target: target,
        fields: unsafe HTTPConnection.fields(of: connection),
        response: response,
        duration: duration
      )
    )
  }

  private static func strangeness(host: String?, origin: String?) -> String {
    let (name, value) = origin.map { ("Origin", $0) } ?? ("Host", host ?? "")
    let shown = value.prefix(200).filter { $0.isASCII && !$0.isNewline }
    return "refused: \(name) `\(shown)` is not this server"
  }

  private func refusal(
    of connection: OpaquePointer,
    _ target: (path: String, hasToken: Bool)?
  ) -> ServedResponse? {
    guard let target else { return .refusal(403, "the token is wrong", Self.closingFields) }
    let host = unsafe HTTPConnection.header("Host", of: connection)
    let origin = unsafe HTTPConnection.header("Origin", of: connection)
    let site = unsafe HTTPConnection.header("Sec-Fetch-Site", of: connection)
    guard gate.admits(host: host, origin: origin, site: site, hasToken: target.hasToken) else {
      return .refusal(403, Self.strangeness(host: host, origin: origin), Self.closingFields)
    }
    // Two readers could see different ends of the request (RFC 9112 §6.3).
    let lengths = unsafe HTTPConnection.count("Content-Length", of: connection)
    let codings = unsafe HTTPConnection.count("Transfer-Encoding", of: connection)
    guard lengths + codings <= 1, unsafe HTTPConnection.count("Host", of: connection) <= 1 else {
      return .refusal(400, "its length is ambiguous", Self.closingFields)
    }
    return nil
  }

  /// Closes the connection, since the rest of a refused body may still arrive.
  private static let closingFields = [(name: "Connection", value: "close")]
  private static let longestBody = 1 << 20

  // MARK: Requests that wait

  private struct Resting: Sendable {
    var isClosed = false
    var requests: [ObjectIdentifier: RestingConnection] = [:]
  }

  @safe private struct RestingConnection: @unchecked Sendable {
    let connection: OpaquePointer
    let request: PendingRequest
  }

  private func rest(
    _ connection: OpaquePointer,
    _ pending: PendingRequest,
    _ begin: (@escaping @Sendable (ServedResponse) -> Void) -> Void
  ) -> MHD_Result {
    let name = ObjectIdentifier(pending)
    let isClosed = resting.withLock { resting in
      if !resting.isClosed {
        resting.requests[name] = unsafe RestingConnection(connection: connection, request: pending)
        unsafe MHD_suspend_connection(connection)
      }
      return resting.isClosed
    }
    guard !isClosed else { return unsafe HTTPConnection.put(Self.closing, to: connection) }
    begin { [weak self] response in self?.resume(name, with: response) }
    return .YES
  }

  private func resume(_ name: ObjectIdentifier, with response: ServedResponse) {
    resting.withLock { resting in
      guard let request = resting.requests.removeValue(forKey: name) else { return }
      request.request.finish(with: response)
      unsafe MHD_resume_connection(request.connection)
    }
  }

  func close() {
    let waiting = resting.withLock { resting in
      resting.isClosed = true
      return Array(resting.requests.keys)
    }
    for name in waiting { resume(name, with: Self.closing) }
  }

  private static var closing: ServedResponse {
    .refusal(503, "the server is stopping", closingFields)
  }

  // MARK: Requests that take too long to arrive

  /// Start of each connection's present request head, by socket.
  private struct ConnectionTimes: Sendable {
    var waiting: [Int32: ContinuousClock.Instant] = [:]
  }

  func connectionChanged(_ connection: OpaquePointer, isOpen: Bool) {
    let socket = unsafe prefetch_connection_socket(connection)
    connections.withLock { $0.waiting[socket] = isOpen ? ContinuousClock.now : nil }
  }

  func requestEnded(on connection: OpaquePointer) {
    let socket = unsafe prefetch_connection_socket(connection)
    connections.withLock { $0.waiting[socket] = ContinuousClock.now }
  }

  private func headReceived(on connection: OpaquePointer) {
    let socket = unsafe prefetch_connection_socket(connection)
    connections.withLock { _ = $0.waiting.removeValue(forKey: socket) }
  }

  /// Shuts connections on which a head takes too long; single bytes keep them from being idle.
  func endSlowRequests() {
    let now = ContinuousClock.now
    connections.withLock { times in
      for (socket, since) in times.waiting where now - since > Self.longestHead {
        // The library closes the socket later; until then its number is not reused.
        shutdown(socket, Int32(SHUT_RDWR))
        times.waiting[socket] = nil
      }
    }
  }

  private static let longestHead: Duration = .seconds(40)
}
