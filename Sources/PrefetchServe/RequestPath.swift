internal import PrefetchCore

enum RequestPath: Hashable {
  /// Relative path without empty, dot or hidden names.
  case file(String)
  case nowhere
  case malformed

  init(_ raw: String) {
    guard raw.hasPrefix("/"), raw.utf8.count <= WebURL.maximumLength else {
      self = .malformed
      return
    }
    var names: [String] = []
    var isHidden = false
    let parts = raw.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    for (offset, part) in parts.enumerated() {
      guard let name = Self.decode(part), name != ".", name != ".." else {
        self = .malformed
        return
      }
      let isFolderItself = name.isEmpty && offset == parts.count - 1
      if isFolderItself {
        names.append("index.html")
      } else {
        isHidden = isHidden || name.isEmpty || name.utf8.first == UInt8(ascii: ".")
        names.append(name)
      }
    }
    self = isHidden ? .nowhere : .file(names.joined(separator: "/"))
  }

  private static func decode(_ part: Substring) -> String? {
    Hexadecimal.decodePercent(strictly: part).flatMap { text in
      text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") } ? text : nil
    }
  }
}
