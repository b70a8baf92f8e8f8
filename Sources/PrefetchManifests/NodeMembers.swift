internal import PrefetchDocuments

extension Node {
  /// What stands under a key; null is as good as nothing.
  func member(_ key: String) -> Node? {
    self[key].flatMap { $0.scalar?.kind == .null ? nil : $0 }
  }

  /// The text of any scalar but null.
  var text: String? {
    guard let scalar, scalar.kind != .null else { return nil }
    return scalar.text
  }

  /// Whether `true` stands under a key, in quotes or without: some tools put everything in quotes.
  func flag(_ key: String) -> Bool {
    guard let scalar = self[key]?.scalar else { return false }
    return scalar.text == "true" && [.boolean, .string, .plain].contains(scalar.kind)
  }

  /// A text or a list of such.
  func words(_ key: String) -> [String] {
    guard let node = member(key) else { return [] }
    return node.text.map { [$0] } ?? node.sequence?.compactMap(\.text) ?? []
  }

  var integer: Int64? {
    guard let scalar, scalar.kind == .number else { return nil }
    return Int64(scalar.text)
  }
}
