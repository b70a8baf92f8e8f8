internal import Glibc
package import PrefetchCore

/// An HTTP/1.1 server on a loopback address that plays scripts, including misbehavior.
///
/// On release it breaks every connection and joins every thread.
package final class LoopbackServer: Sendable {
  package typealias Handler = @Sendable (LoopbackRequest) -> Script

  package enum Fault: Error {
    case system(String, errno: CInt)
  }

  package let port: Int
  /// `127.0.0.1`, or another loopback address.
  package let host: String
  private let listener: CInt
  private let stop = Gate()
  private let log = Log()
  private let acceptor: NativeThread

  /// `greeting` is played on every new connection before any request is read.
  ///
  /// `number` is the last part of the address: 2 for 127.0.0.2.
  package init(
    number: UInt8 = 1,
    greeting: Script = Script([]),
    _ handler: @escaping Handler
  ) throws {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Fault.system("socket", errno: errno) }
    do {
      port = try Self.listen(descriptor, number: number)
    } catch {
      close(descriptor)
      throw error
    }
    listener = descriptor
    host = "127.0.0.\(number)"
    let acceptLoop = AcceptLoop(
      listener: descriptor,
      stop: stop,
      log: log,
      greeting: greeting,
      handler: handler
    )
    guard let thread = NativeThread({ acceptLoop.run() }) else {
      close(descriptor)
      throw Fault.system("pthread_create", errno: EAGAIN)
    }
    acceptor = thread
  }

  deinit {
    stop.open()
    acceptor.join()
    close(listener)
  }

  /// Keeps few sent bytes in the system's buffers, which a client that is killed would lose.
  ///
  /// Connections inherit the size from the listening socket.
  package func shrinkBuffers() {
    var size: CInt = 64 << 10
    unsafe setsockopt(listener, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<CInt>.size))
  }

  // MARK: What a test asks

  /// Returns the URL of a path, which begins with a slash.
  package func url(_ path: String = "/") throws -> WebURL {
    try WebURL("http://\(host):\(port)\(path)")
  }

  /// All requests so far, in the order of their arrival.
  package var requests: [LoopbackRequest] {
    log.state.withLock { $0.requests }
  }

  package var connectionCount: Int {
    log.state.withLock { $0.connections }
  }

  /// Largest number of connections that were open at a time.
  ///
  /// A connection that its client has closed no longer counts at the next accept, even if the
  /// server has not noticed.
  package var peakConnectionCount: Int {
    log.state.withLock { $0.peakConnections }
  }

  /// Largest number of requests in progress at a time: the last step of their script was to come.
  package var peakRequestCount: Int {
    log.state.withLock { $0.peakRequests }
  }

  /// Number of bytes sent so far, heads included.
  package var sentByteCount: Int {
    log.state.withLock { $0.sentBytes }
  }

  private static func listen(_ descriptor: CInt, number: UInt8) throws -> Int {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = (UInt32(0x7F00_0000) | UInt32(number)).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic -> CInt in
        guard unsafe bind(descriptor, generic, size) == 0 else { return -1 }
        guard Glibc.listen(descriptor, 256) == 0 else { return -1 }
        return unsafe getsockname(descriptor, generic, &size)
      }
    }
    guard status == 0 else { throw Fault.system("listen", errno: errno) }
    return Int(UInt16(bigEndian: address.sin_port))
  }
}

/// Observations of a server, shared by its threads.
private final class Log: Sendable {
  struct State: Sendable {
    var requests: [LoopbackRequest] = []
    var connections = 0
    /// Descriptors by connection number.
    var openConnections: [Int: CInt] = [:]
    var peakConnections = 0
    var openRequests = 0
    var peakRequests = 0
    var sentBytes = 0
  }

  let state = Guarded(State())

  func connectionOpened(_ descriptor: CInt) -> Int {
    state.withLock { state in
      state.connections += 1
      // The client's earlier data has arrived, although its reader may not have run yet.
      state.openConnections = state.openConnections.filter { !Descriptors.hasEnded($0.value) }
      state.openConnections[state.connections] = descriptor
      state.peakConnections = max(state.peakConnections, state.openConnections.count)
      return state.connections
    }
  }

  /// Called before the descriptor is closed, since another connection may reuse it at once.
  func connectionWillClose(_ number: Int) {
    state.withLock { $0.openConnections[number] = nil }
  }

  func requestBegan(_ request: LoopbackRequest) {
    state.withLock { state in
      state.requests.append(request)
      state.openRequests += 1
      state.peakRequests = max(state.peakRequests, state.openRequests)
    }
  }

  func sent(_ count: Int) {
    state.withLock { $0.sentBytes += count }
  }

  func requestEnded() {
    state.withLock { $0.openRequests -= 1 }
  }
}

/// The accepting thread, which starts a thread per connection and joins them all.
private struct AcceptLoop: Sendable {
  let listener: CInt
  let stop: Gate
  let log: Log
  let greeting: Script
  let handler: LoopbackServer.Handler

  func run() {
    var threads: [NativeThread] = []
    while Descriptors.waitForInput(listener, unless: stop) {
      let descriptor = accept(listener, nil, nil)
      guard descriptor >= 0 else { continue }
      Descriptors.closeOnExecution(descriptor)
      Descriptors.sendAtOnce(descriptor)
      let number = log.connectionOpened(descriptor)
      guard let thread = NativeThread({ serve(descriptor, number) }) else {
        log.connectionWillClose(number)
        close(descriptor)
        continue
      }
      threads.append(thread)
    }
    for thread in threads {
      thread.join()
    }
  }

  private func serve(_ descriptor: CInt, _ number: Int) {
    let connection = LoopbackConnection(
      descriptor: descriptor,
      number: number,
      stop: stop,
      sent: log.sent,
      willClose: { log.connectionWillClose(number) }
    )
    connection.serve(greeting) { request in
      log.requestBegan(request)
      return handler(request)
    } finished: {
      log.requestEnded()
    }
  }
}
