internal import CZlib

/// Which zlib this process runs with.
package enum ZlibVersion {
  package static var text: String {
    unsafe String(cString: zlibVersion())
  }
}
