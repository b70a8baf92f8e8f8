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

  var integer: Int64? {
    guard let scalar, scalar.kind == .number else { return nil }
    return Int64(scalar.text)
  }
}
