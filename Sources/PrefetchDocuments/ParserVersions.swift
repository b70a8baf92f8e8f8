internal import CExpat
internal import CYAML

/// Which parsers this process runs with.
package enum ParserVersions {
  package static var yaml: String {
    unsafe String(cString: yaml_get_version_string())
  }

  /// Without the name that expat puts before it.
  package static var expat: String {
    let text = unsafe String(cString: XML_ExpatVersion())
    return text.hasPrefix("expat_") ? String(text.dropFirst("expat_".count)) : text
  }
}
