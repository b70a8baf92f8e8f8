internal import CMicroHTTPD
internal import Glibc
package import PrefetchCore

/// An HTTP server over one folder, on a thread of its own until it is stopped.
@safe package final class OriginServer {
  /// `http://127.0.0.1:7733/`.
  package let address: String

  private var daemon: OpaquePointer?
  /// The daemon keeps its address.
  private let responder: OriginResponder

  package static func start(
    listen address: ListenAddress = .standard,
    directory: String
  ) throws(Failure) -> OriginServer {
    let folder = try ServedFolder(directory)
    let socket = try ListeningSocket(address)
    var bound = address
    bound.port = socket.port
    return try OriginServer(folder: folder, socket: socket, address: bound)
  }

  private init(
    folder: consuming ServedFolder,
    socket: consuming ListeningSocket,
    address: ListenAddress
  ) throws(Failure) {
    self.address = "http://\(address.authority)/"
    responder = OriginResponder(folder: folder, gate: RequestGate(listening: address))
    let context = unsafe Unmanaged.passUnretained(responder).toOpaque()
    unsafe daemon = prefetch_start_daemon(
      socket.release(),
      Self.connectionLimit,
      Self.timeoutSeconds,
      answerRequest,
      context
    )
    guard unsafe daemon != nil else {
      throw Failure(.failed, "cannot start the HTTP server on `\(address.authority)`")
    }
  }

  deinit {
    stop()
  }

  /// Closes every connection and waits for the thread to end.
  package func stop() {
    guard let running = unsafe daemon else { return }
    unsafe daemon = nil
    unsafe MHD_stop_daemon(running)
  }

  private static let connectionLimit: UInt32 = 256
  private static let timeoutSeconds: UInt32 = 30
}

/// Called once when the headers are there, once per piece of a body, and once at the end.
private func answerRequest(
  _ context: UnsafeMutableRawPointer?,
  _ connection: OpaquePointer?,
  _ url: UnsafePointer<CChar>?,
  _ method: UnsafePointer<CChar>?,
  _ version: UnsafePointer<CChar>?,
  _ upload: UnsafePointer<CChar>?,
  _ uploadSize: UnsafeMutablePointer<Int>?,
  _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let context = unsafe context, let connection = unsafe connection, let url = unsafe url,
    let method = unsafe method, let uploadSize = unsafe uploadSize, let state = unsafe state
  else { return .NO }
  let isFirstCall = unsafe state.pointee == nil
  let hasUpload = unsafe uploadSize.pointee != 0
  if isFirstCall || hasUpload {
    unsafe state.pointee = context
    unsafe uploadSize.pointee = 0
    return .YES
  }
  let responder = unsafe Unmanaged<OriginResponder>.fromOpaque(context).takeUnretainedValue()
  return unsafe responder.answer(
    connection,
    method: String(cString: method),
    path: String(cString: url)
  )
}
