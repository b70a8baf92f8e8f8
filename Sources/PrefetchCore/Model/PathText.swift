/// Paths as the kernel takes them apart, byte by byte.
///
/// To Swift a slash and a combining mark behind it are one letter, which is no slash.
package enum PathText {
  package static let slash = UInt8(ascii: "/")

  /// What stands between the slashes, empty parts included.
  package static func parts(of path: some StringProtocol) -> [Substring] {
    String(path).utf8.split(separator: slash, omittingEmptySubsequences: false).map {
      Substring($0)
    }
  }

  package static func isAbsolute(_ path: some StringProtocol) -> Bool {
    path.utf8.first == slash
  }

  /// The folder that a name lies in, and what it is called there.
  package static func split(_ name: String) -> (folder: Substring, leaf: String) {
    guard let last = name.utf8.lastIndex(of: slash) else { return ("", name) }
    return (name[..<last], String(name[name.utf8.index(after: last)...]))
  }

  /// Every folder that the name lies in, the nearest last.
  package static func folders(of name: String) -> [String] {
    name.utf8.indices.filter { name.utf8[$0] == slash }.map { String(name[..<$0]) }
  }

  /// What follows the prefix; nil where the path does not begin with it.
  package static func rest(of path: String, after prefix: String) -> String? {
    guard path.utf8.starts(with: prefix.utf8) else { return nil }
    return String(decoding: path.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
  }
}
