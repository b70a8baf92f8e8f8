import PrefetchDocuments

/// What a push message asks for.
struct PushPayload: Hashable {
  /// Nil for all of them.
  var segments: [String]?
  var renewsPolicy = false
  var refetches = false
  /// URLs or ids.
  var purged: [String] = []

  /// Nil for a message that is meant for another program.
  init?(_ root: Node, marker: String) {
    guard let bearers = Self.bearers(of: marker, in: root) else { return nil }
    let keys = ["segments", "config", "purge"]
    let asking = (bearers + [root]).first { node in
      node.mapping?.contains { keys.contains($0.key) && Self.value($0.value) != nil } == true
    }
    guard let asking else { return }
    segments = asking["segments"].flatMap(Self.value).map(Self.texts)
    renewsPolicy = asking["config"]?.scalar?.text == "true"
    let purge = asking["purge"].flatMap(Self.value)
    refetches = purge?.scalar?.text == "true"
    if !refetches, let purge { purged = Self.texts(purge).filter { $0 != "false" } }
  }

  /// Where the marker stands: what it names, then what it stands in; nil where it does not.
  private static func bearers(of marker: String, in node: Node) -> [Node]? {
    if node.scalar?.text == marker { return [node] }
    if let entries = node.mapping {
      for entry in entries where entry.key == marker {
        guard let named = value(entry.value), named.mapping != nil else { return [node] }
        return [named, node]
      }
      for entry in entries {
        if entry.value.scalar?.text == marker { return [node] }
        if let found = bearers(of: marker, in: entry.value) { return found }
      }
    }
    for element in node.sequence ?? [] {
      if element.scalar?.text == marker { return [node] }
      if let found = bearers(of: marker, in: element) { return found }
    }
    return nil
  }

  /// A value, or the JSON document in it: push services that carry only texts carry documents as texts.
  ///
  /// Nil for `null`.
  private static func value(_ node: Node) -> Node? {
    guard let scalar = node.scalar else { return node }
    if scalar.kind == .null { return nil }
    guard let first = scalar.text.first(where: { !$0.isWhitespace }), "[{".contains(first) else {
      return node
    }
    let bytes = Array(scalar.text.utf8)
    let outcome = DocumentReader.read(bytes, source: "payload", syntax: .json)
    return outcome.diagnostics.isEmpty ? outcome.node : node
  }

  private static func texts(_ node: Node) -> [String] {
    if let elements = node.sequence { return elements.compactMap { $0.scalar?.text } }
    return node.scalar.map { [$0.text] } ?? []
  }
}
