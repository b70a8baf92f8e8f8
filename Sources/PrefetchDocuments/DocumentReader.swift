package import PrefetchCore

/// Bytes of any supported syntax into a positioned tree.
package enum DocumentReader {
  package enum Syntax: String, Sendable, CaseIterable {
    case json
    case yaml
    case xmlPlist
    case binaryPlist
  }

  /// Bounds for documents that people write; manifests have readers and limits of their own.
  package struct Limits: Sendable {
    package var bytes = 4 << 20
    package var depth = 64
    package var nodes = 200_000
    package var aliases = 10_000

    package init() {}
  }

  /// By the first bytes: `bplist00`, `<`, `{` (or `[`), everything else is YAML.
  package static func sniff(_ bytes: [UInt8]) -> Syntax {
    if bytes.starts(with: Array("bplist".utf8)) { return .binaryPlist }
    let first = bytes.first { !" \t\r\n\u{FEFF}".utf8.contains($0) }
    return switch first {
    case UInt8(ascii: "<"): .xmlPlist
    case UInt8(ascii: "{"), UInt8(ascii: "["): .json
    default: .yaml
    }
  }
}
