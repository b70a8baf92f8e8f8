internal import PrefetchCore

enum PublishedName {
  static let maximumLength = 4096

  static func objection(to name: String) -> Failure {
    if name.utf8.contains(UInt8(ascii: "\\")) {
      let shown = TreeName.visible(name)
      return Failure(.badName, "the name `\(shown)` has a backslash, which some take for a slash")
    }
    return TreeName.objection(to: name, below: "")
      ?? Failure(.badName, "the name `\(TreeName.visible(name))` cannot be the name of a file")
  }

  /// Rejects absolute paths, `.`, `..`, empty components, backslashes and control characters.
  static func isSafe(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { unsafe isSafe(UnsafeRawBufferPointer($0)) }
  }

  static func isSafe(_ name: UnsafeRawBufferPointer) -> Bool {
    guard unsafe !name.isEmpty, name.count <= maximumLength else { return false }
    var dots = 0
    var length = 0
    for index in name.indices {
      let byte = unsafe name[index]
      guard byte >= 0x20, byte != 0x7F, byte != UInt8(ascii: "\\") else { return false }
      if byte == UInt8(ascii: "/") {
        guard length > 0, !(length == dots && dots <= 2) else { return false }
        (dots, length) = (0, 0)
      } else {
        length += 1
        if byte == UInt8(ascii: ".") { dots += 1 }
      }
    }
    return length > 0 && !(length == dots && dots <= 2)
  }
}
