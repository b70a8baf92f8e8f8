internal import CZlib

package enum ZlibVersion {
  package static var text: String {
    unsafe zlibVersion().map { unsafe String(cString: $0) } ?? "unknown"
  }
}
