import PrefetchCore
import PrefetchDocuments

extension Node {
  /// `{key=kind:text, list=[…]}`, in the order of the document.
  var shape: String {
    switch content {
    case .scalar(let scalar): "\(scalar.kind.rawValue):\(scalar.text)"
    case .sequence(let nodes): "[" + nodes.map(\.shape).joined(separator: ", ") + "]"
    case .mapping(let entries):
      "{" + entries.map { "\($0.key)=\($0.value.shape)" }.joined(separator: ", ") + "}"
    }
  }

  /// Description without kinds, which not all syntaxes have.
  var texts: String {
    switch content {
    case .scalar(let scalar): "'\(scalar.text)'"
    case .sequence(let nodes): "[" + nodes.map(\.texts).joined(separator: ", ") + "]"
    case .mapping(let entries):
      "{" + entries.map { "\($0.key)=\($0.value.texts)" }.joined(separator: ", ") + "}"
    }
  }

  /// All locations as `line:column+length`; a key's comes before its value's.
  var locations: String {
    switch content {
    case .scalar: location.text
    case .sequence(let nodes):
      location.text + "[" + nodes.map(\.locations).joined(separator: " ") + "]"
    case .mapping(let entries):
      location.text + "{"
        + entries.map { "\($0.keyLocation.text)=\($0.value.locations)" }.joined(separator: " ")
        + "}"
    }
  }
}

extension SourceLocation? {
  fileprivate var text: String {
    guard let self else { return "-" }
    return "\(self.line):\(self.column)+\(self.length)"
  }
}

extension Diagnostic {
  /// Text `line:column+length code message`, with the path when there is no line.
  var line: String {
    let shown = location == nil ? (path ?? "-") : location.text
    return "\(shown) \(code) \(message)"
  }
}

func read(
  _ text: String,
  _ syntax: DocumentReader.Syntax,
  limits: DocumentReader.Limits = DocumentReader.Limits()
) -> DocumentReader.Outcome {
  DocumentReader.read(Array(text.utf8), source: "file", syntax: syntax, limits: limits)
}

/// Returns the document's structure, or its diagnostics, one per line.
func outcome(_ outcome: DocumentReader.Outcome) -> String {
  guard outcome.diagnostics.isEmpty else {
    return outcome.diagnostics.map(\.line).joined(separator: "\n")
  }
  return outcome.node?.shape ?? "nothing"
}
