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

  /// The path as seen from a folder where both lie together, not far below one other than the root.
  ///
  /// Else it is the path as it was: what lies together is moved together.
  package static func relative(_ path: String, to folder: String) -> String {
    guard isAbsolute(path), isAbsolute(folder) else { return path }
    let (to, from) = (normalParts(of: path), normalParts(of: folder))
    let common = zip(to, from).prefix { $0.utf8.elementsEqual($1.utf8) }.count
    guard common > 0, from.count - common <= 2 else { return path }
    let up = Array(repeating: Substring(".."), count: from.count - common)
    let parts = up + to[common...]
    return parts.isEmpty ? "." : parts.joined(separator: "/")
  }

  /// Undoes ``relative(_:to:)``.
  package static func absolute(_ path: String, in folder: String) -> String {
    guard !isAbsolute(path) else { return path }
    return "/" + normalParts(of: "\(folder)/\(path)").joined(separator: "/")
  }

  /// Without empty, `.` and `..` parts.
  private static func normalParts(of path: String) -> [Substring] {
    var kept: [Substring] = []
    for part in parts(of: path) where !part.isEmpty && part != "." {
      if part == ".." {
        _ = kept.popLast()
      } else {
        kept.append(part)
      }
    }
    return kept
  }

  /// What follows the prefix; nil where the path does not begin with it.
  package static func rest(of path: String, after prefix: String) -> String? {
    guard path.utf8.starts(with: prefix.utf8) else { return nil }
    return String(decoding: path.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
  }
}
