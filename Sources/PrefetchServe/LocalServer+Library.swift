internal import CMicroHTTPD

extension LocalServer {
  package static var libraryVersion: String {
    unsafe MHD_get_version().map { unsafe String(cString: $0) } ?? "unknown"
  }
}
