internal import CCurl

/// Connections that belong to some of the transfers of a multi handle and to no others.
@safe final class ConnectionShare {
  let pointer: UnsafeMutableRawPointer
  /// The connections tell it when they are closed.
  private let sockets: OpenSockets

  /// Nil when there is no memory left for it.
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
