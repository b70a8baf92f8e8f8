internal import PrefetchDocuments

extension Node {
  /// Returns the value of a key; nil when it is absent or null.
  func member(_ key: String) -> Node? {
    self[key].flatMap { $0.scalar?.kind == .null ? nil : $0 }
  }

  var text: String? {
    guard let scalar, scalar.kind != .null else { return nil }
    return scalar.text
  }

  /// Returns whether a key is `true`, also as a string, since some tools quote every value.
  func flag(_ key: String) -> Bool {
    guard let scalar = self[key]?.scalar else { return false }
    return scalar.text == "true" && [.boolean, .string, .unquoted].contains(scalar.kind)
  }

  func words(_ key: String) -> [String] {
    guard let node = member(key) else { return [] }
    return node.text.map { [$0] } ?? node.sequence?.compactMap(\.text) ?? []
  }

  var integer: Int64? {
    guard let scalar, scalar.kind == .number else { return nil }
    return Int64(scalar.text)
  }
}
