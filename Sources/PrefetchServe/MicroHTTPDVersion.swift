internal import CMicroHTTPD

/// Which libmicrohttpd this process runs with.
package enum MicroHTTPDVersion {
  package static var text: String {
    unsafe String(cString: MHD_get_version())
  }
}
