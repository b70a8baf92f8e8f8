import PrefetchConfig
import PrefetchCore
import PrefetchDocuments

enum ConfigurationTargets {
  static func run(_ bytes: [UInt8], syntax: DocumentReader.Syntax) {
    check(DocumentReader.read(bytes, source: "file", syntax: syntax), bytes)
    load(bytes)
  }

  /// Checks that a document has a tree or an error, and that all places lie within it.
  private static func check(_ outcome: DocumentReader.Outcome, _ bytes: [UInt8]) {
    require(
      outcome.node != nil || outcome.diagnostics.containsErrors,
      "a document has neither a tree nor an error"
    )
    let places = Places(of: bytes)
    for diagnostic in outcome.diagnostics {
      require(!diagnostic.message.isEmpty, "a message has no words")
      places.check(diagnostic.location)
    }
    if let node = outcome.node { check(node, depth: 1, places) }
  }

  private static func check(_ node: Node, depth: Int, _ places: Places) {
    require(depth <= DocumentReader.Limits().depth + 1, "a tree is nested too deeply")
    places.check(node.location)
    for child in node.sequence ?? node.mapping?.map(\.value) ?? [] {
      check(child, depth: depth + 1, places)
    }
  }

  /// Loads the document as the program's only configuration file.
  private static func load(_ bytes: [UInt8]) {
    var loader = ConfigurationLoader()
    loader.files = ["prefetch.yaml"]
    let loaded = loader.load(
      in: ConfigurationEnvironment(
        readFile: { $0 == "/work/prefetch.yaml" ? .success(bytes) : .failure(.missing) },
        realPath: { $0 == "/work/prefetch.yaml" ? $0 : nil },
        isReadableByOthers: { _ in true },
        variable: { $0 == "TOKEN" ? "secret-value-of-a-variable" : nil },
        currentDirectory: "/work",
        homeDirectory: "/home/me",
        standardInput: { .failure(.missing) }
      )
    )
    for diagnostic in loaded.diagnostics {
      let text = DiagnosticRenderer().render(diagnostic, line: loaded.sourceLine)
      require(!text.isEmpty, "a diagnostic has no text")
    }
    guard !loaded.hasErrors else { return }
    let canonical = JSONWriter.bytes(loaded.canonical)
    let again = DocumentReader.read(canonical, source: "canonical", syntax: .json)
    require(
      again.diagnostics.isEmpty && again.node != nil,
      "the effective configuration is no JSON: \(again.diagnostics.first?.message ?? "")"
    )
    require(
      canonical.firstRange(of: Array("secret-value-of-a-variable".utf8)) == nil
        || !loaded.secrets.contains("secret-value-of-a-variable"),
      "the effective configuration shows a secret"
    )
  }
}

/// Lines and columns that a document can have.
struct Places {
  private let lineCount: Int
  private let columns: ClosedRange<Int>

  init(of bytes: [UInt8]) {
    lineCount = 1 + bytes.count { $0 == 0x0A || $0 == 0x0D }
    columns = 1...bytes.count + 1
  }

  func check(_ location: PrefetchCore.SourceLocation?) {
    guard let location else { return }
    let isThere = (1...lineCount).contains(location.line) && columns.contains(location.column)
    require(isThere, "line \(location.line), column \(location.column) is not in the document")
  }
}
