import PrefetchDocuments

struct PushPayload: Hashable {
  /// Names of segments; nil for all.
  var segments: [String]?
  var renewsPolicy = false
  var refetches = false
  /// URLs or ids of items whose bodies the push message removes.
  var purged: [String] = []

  /// Returns nil for a message to another program.
  init?(_ root: Node, marker: String) {
    guard let bearers = Self.bearers(of: marker, in: root) else { return nil }
    let keys = ["segments", "config", "purge"]
    let command = (bearers + [root]).first { node in
      node.mapping?.contains { keys.contains($0.key) && Self.value($0.value) != nil } == true
    }
    guard let command else { return }
    segments = command["segments"].flatMap(Self.value).map(Self.texts)
    renewsPolicy = command["config"]?.scalar?.text == "true"
    let purge = command["purge"].flatMap(Self.value)
    refetches = purge?.scalar?.text == "true"
    if !refetches, let purge { purged = Self.texts(purge).filter { $0 != "false" } }
  }

  /// Returns the marker's value and container, which may hold the request; nil without the marker.
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

  /// Returns a value or the JSON in it (some push services carry only texts); nil for `null`.
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
