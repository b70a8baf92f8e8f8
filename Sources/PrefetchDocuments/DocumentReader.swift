package import PrefetchCore

/// Reads bytes of any supported syntax into a tree of nodes with locations.
package enum DocumentReader {
  package enum Syntax: String, Sendable, CaseIterable {
    case json
    case yaml
    case xmlPlist
    case binaryPlist
    /// TOML is never guessed, only declared.
    case toml
  }

  /// Limits for documents that people write; manifests have readers and limits of their own.
  package struct Limits: Sendable {
    package var bytes = 4 << 20
    package var depth = 64
    package var nodes = 200_000
    /// Largest number of nodes that all aliases of a YAML document may expand to.
    package var aliases = 10_000

    package init() {}
  }

  /// Tree and diagnostics; the tree is missing only when the document cannot be trusted at all.
  package struct Outcome: Sendable {
    package var node: Node?
    package var diagnostics: [Diagnostic]
  }

  /// Returns the syntax by the first bytes: `bplist00`, `<`, `{` or `[`; everything else is YAML.
  package static func sniff(_ bytes: [UInt8]) -> Syntax {
    if bytes.starts(with: "bplist".utf8) { return .binaryPlist }
    let first = bytes.first { !" \t\r\n\u{FEFF}".utf8.contains($0) }
    return switch first {
    case UInt8(ascii: "<"): .xmlPlist
    case UInt8(ascii: "{"), UInt8(ascii: "["): .json
    default: .yaml
    }
  }

  package static func read(
    _ bytes: [UInt8],
    source: String,
    syntax: Syntax? = nil,
    limits: Limits = Limits()
  ) -> Outcome {
    var builder = TreeBuilder(source: source, limits: limits)
    do {
      try fill(&builder, from: bytes, syntax: syntax ?? sniff(bytes))
      return Outcome(node: builder.root, diagnostics: builder.diagnostics)
    } catch {
      return Outcome(node: nil, diagnostics: builder.diagnostics + [error])
    }
  }

  private static func fill(
    _ builder: inout TreeBuilder,
    from bytes: [UInt8],
    syntax: Syntax
  ) throws(Diagnostic) {
    let (source, limit) = (builder.source, builder.limits.bytes)
    guard bytes.count <= limit else {
      throw Diagnostic(
        "document.too-large",
        "the document has \(bytes.count) bytes, at most \(limit) are read",
        file: source
      )
    }
    guard syntax != .binaryPlist else {
      return try BinaryPlistReader.read(bytes, into: &builder)
    }
    let text = try SourceText(bytes, source: source)
    guard !text.isBlank else {
      throw Diagnostic("document.empty", "the document is empty", file: source)
    }
    switch syntax {
    case .json: try JSONReader.read(text, into: &builder)
    case .yaml: try YAMLReader.read(text, into: &builder)
    case .xmlPlist: try XMLPlistReader.read(text, into: &builder)
    case .toml: try TOMLReader.read(text, into: &builder)
    case .binaryPlist: break
    }
  }
}
