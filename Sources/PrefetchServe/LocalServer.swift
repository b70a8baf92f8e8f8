internal import CMicroHTTPD
internal import Glibc
package import PrefetchCore

@safe package final class LocalServer {
  package let address: String

  private var daemon: OpaquePointer?
  /// Request handler, kept alive since the daemon uses its pointer.
  private let desk: RequestDesk

  package convenience init(
    listen address: ListenAddress,
    responder: any Responder,
    access: ServeAccess = ServeAccess(),
    listener: RequestLogEntry.Listener? = nil,
    events: (any EventReceiver)? = nil
  ) throws(Failure) {
    try self.init(ListeningSocket(address), responder, access, listener, events)
  }

  /// Makes a server for a socket that a service manager has opened.
  package convenience init(
    inherited descriptor: Int32,
    responder: any Responder,
    access: ServeAccess = ServeAccess(),
    listener: RequestLogEntry.Listener? = nil,
    events: (any EventReceiver)? = nil
  ) throws(Failure) {
    try self.init(ListeningSocket(inherited: descriptor), responder, access, listener, events)
  }

  private init(
    _ socket: consuming ListeningSocket,
    _ responder: any Responder,
    _ access: ServeAccess,
    _ listener: RequestLogEntry.Listener?,
    _ events: (any EventReceiver)?
  ) throws(Failure) {
    let bound = socket.address
    address = "http://\(bound.authority)/"
    isLoopback = bound.isLoopback
    desk = RequestDesk(
      responder: responder,
      gate: RequestGate(listening: bound, access: access),
      access: access,
      listener: listener,
      events: events
    )
    let context = unsafe Unmanaged.passUnretained(desk).toOpaque()
    unsafe daemon = prefetch_start_daemon(
      socket.release(),
      Self.threads,
      Self.connectionLimit,
      Self.headLimit,
      Self.timeoutSeconds,
      requestStarted,
      handleRequest,
      requestEnded,
      connectionChanged,
      context
    )
    guard unsafe daemon != nil else {
      throw Failure(.failed, "cannot start the HTTP server on `\(bound.authority)`")
    }
  }

  deinit {
    stop()
  }

  package let isLoopback: Bool

  /// Closes connections whose requests arrive too slowly; to be called now and then.
  package func endSlowRequests() {
    desk.endSlowRequests()
  }

  package func stop() {
    guard let running = unsafe daemon else { return }
    unsafe daemon = nil
    desk.close()
    unsafe MHD_stop_daemon(running)
  }

  /// Several, so that a slow disk under one response does not delay the others.
  private static let threads: UInt32 = 4
  private static let connectionLimit: UInt32 = 1_024
  /// Bytes for the heads of a request and its response, cleared for each request.
  private static let headLimit = 16 << 10
  private static let timeoutSeconds: UInt32 = 30
}

// MARK: - What the library calls

private func requestStarted(
  _ context: UnsafeMutableRawPointer?,
  _ target: UnsafePointer<CChar>?,
  _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
  let target = unsafe target.map { unsafe String(cString: $0) } ?? ""
  return unsafe Unmanaged.passRetained(PendingRequest(target: target)).toOpaque()
}

/// Called once after the headers, once per piece of a body, and once at the end.
private func handleRequest(
  _ context: UnsafeMutableRawPointer?,
  _ connection: OpaquePointer?,
  _ url: UnsafePointer<CChar>?,
  _ method: UnsafePointer<CChar>?,
  _ version: UnsafePointer<CChar>?,
  _ upload: UnsafePointer<CChar>?,
  _ uploadSize: UnsafeMutablePointer<Int>?,
  _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let context = unsafe context, let connection = unsafe connection,
    let method = unsafe method, let uploadSize = unsafe uploadSize,
    let state = unsafe state, let pending = unsafe state.pointee
  else { return .NO }
  let desk = unsafe Unmanaged<RequestDesk>.fromOpaque(context).takeUnretainedValue()
  let request = unsafe Unmanaged<PendingRequest>.fromOpaque(pending).takeUnretainedValue()
  let size = unsafe uploadSize.pointee
  unsafe uploadSize.pointee = 0
  let chunk = unsafe UnsafeRawBufferPointer(start: upload, count: unsafe upload == nil ? 0 : size)
  return unsafe desk.handle(request, of: connection, method: method, upload: chunk)
}

private func requestEnded(
  _ context: UnsafeMutableRawPointer?,
  _ connection: OpaquePointer?,
  _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
  _ code: MHD_RequestTerminationCode
) {
  if let context = unsafe context, let connection = unsafe connection {
    let desk = unsafe Unmanaged<RequestDesk>.fromOpaque(context).takeUnretainedValue()
    unsafe desk.requestEnded(on: connection)
  }
  guard let state = unsafe state, let pending = unsafe state.pointee else { return }
  unsafe state.pointee = nil
  unsafe Unmanaged<PendingRequest>.fromOpaque(pending).release()
}

private func connectionChanged(
  _ context: UnsafeMutableRawPointer?,
  _ connection: OpaquePointer?,
  _ socketContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
  _ code: MHD_ConnectionNotificationCode
) {
  guard let context = unsafe context, let connection = unsafe connection else { return }
  let desk = unsafe Unmanaged<RequestDesk>.fromOpaque(context).takeUnretainedValue()
  unsafe desk.connectionChanged(connection, isOpen: code.rawValue == 0)
}
