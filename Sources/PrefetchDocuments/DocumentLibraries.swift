internal import CExpat
internal import CYAML
internal import PrefetchCore

package enum DocumentLibraries {
  package static var yaml: String {
    unsafe yaml_get_version_string().map { unsafe String(cString: $0) } ?? "unknown"
  }

  /// expat reports its version as `expat_2.5.0`.
  package static var expat: String {
    let text = unsafe XML_ExpatVersion().map { unsafe String(cString: $0) } ?? "unknown"
    return String(text.drop { !ASCII.isDigit($0.utf8.first ?? 0) })
  }
}
