internal import PrefetchCore
internal import PrefetchDocuments

enum LockDocument {
  static func read(
    _ bytes: RawSpan,
    syntax: DocumentReader.Syntax
  ) throws(Failure) -> Node {
    try NativeManifest.parse(unsafe bytes.withUnsafeBytes { unsafe Array($0) }, syntax: syntax)
  }

  static func packages(_ key: String, of root: Node) throws(Failure) -> [Node] {
    guard let node = root[key] else { return [] }
    guard let packages = node.sequence else {
      throw node.invalid("`\(key)` must be a list of tables, `[[\(key)]]`, not \(node.kindName)")
    }
    return packages
  }

  /// Returns whether a word, a future part of a URL, has only letters, digits and the given marks.
  static func isAlphanumeric(
    _ word: some StringProtocol,
    with marks: String,
    atMost length: Int
  ) -> Bool {
    !word.isEmpty && word.utf8.count <= length
      && word.utf8.allSatisfy { byte in
        ASCII.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
          || marks.utf8.contains(byte)
      }
  }
}
