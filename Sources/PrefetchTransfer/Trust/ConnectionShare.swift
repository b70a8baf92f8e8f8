internal import CCurl

/// Connections shared by some transfers of a multi handle only.
@safe final class ConnectionShare {
  let pointer: UnsafeMutableRawPointer
  /// Open sockets, kept alive since connections report their closing to it.
  private let sockets: OpenSockets

  init?(_ sockets: OpenSockets) {
    guard let pointer = unsafe curl_share_init() else { return nil }
    guard unsafe prefetch_curl_share_connections(pointer) == CURLSHE_OK else {
      unsafe curl_share_cleanup(pointer)
      return nil
    }
    unsafe self.pointer = pointer
    self.sockets = sockets
  }

  deinit {
    unsafe curl_share_cleanup(pointer)
  }
}
