/// Paths split by bytes, as in the kernel: Swift joins a slash and a combining mark after it.
package enum PathText {
  package static let slash = UInt8(ascii: "/")

  package static func components(of path: some StringProtocol) -> [Substring] {
    String(path).utf8.split(separator: slash, omittingEmptySubsequences: false).map {
      Substring($0)
    }
  }

  package static func isAbsolute(_ path: some StringProtocol) -> Bool {
    path.utf8.first == slash
  }

  package static func split(_ name: String) -> (folder: Substring, leaf: String) {
    guard let last = name.utf8.lastIndex(of: slash) else { return ("", name) }
    return (name[..<last], String(name[name.utf8.index(after: last)...]))
  }

  package static func folders(of name: String) -> [String] {
    name.utf8.indices.filter { name.utf8[$0] == slash }.map { String(name[..<$0]) }
  }

  /// Returns the path relative to a folder at most two levels below their common parent, which must
  /// not be the root, since both are then moved together; else the path itself.
  package static func relative(_ path: String, to folder: String) -> String {
    guard isAbsolute(path), isAbsolute(folder) else { return path }
    let (to, from) = (normalComponents(of: path), normalComponents(of: folder))
    let common = zip(to, from).prefix { $0.utf8.elementsEqual($1.utf8) }.count
    guard common > 0, from.count - common <= 2 else { return path }
    let up = Array(repeating: Substring(".."), count: from.count - common)
    let parts = up + to[common...]
    return parts.isEmpty ? "." : parts.joined(separator: "/")
  }

  package static func absolute(_ path: String, in folder: String) -> String {
    guard !isAbsolute(path) else { return path }
    return "/" + normalComponents(of: "\(folder)/\(path)").joined(separator: "/")
  }

  private static func normalComponents(of path: String) -> [Substring] {
    var kept: [Substring] = []
    for part in components(of: path) where !part.isEmpty && part != "." {
      if part == ".." {
        _ = kept.popLast()
      } else {
        kept.append(part)
      }
    }
    return kept
  }

  package static func rest(of path: String, after prefix: String) -> String? {
    guard path.utf8.starts(with: prefix.utf8) else { return nil }
    return String(decoding: path.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
  }
}
