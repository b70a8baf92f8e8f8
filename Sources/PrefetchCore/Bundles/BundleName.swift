package enum BundleName {
  /// Returns the name of a stream's main playlist, after the last component of its URL's path.
  package static func main(of url: WebURL) -> String {
    guard let safe = safeName(lastComponent(of: url)) else { return "index.m3u8" }
    return safe.hasSuffix(".m3u8") || safe.hasSuffix(".m3u") ? safe : safe + ".m3u8"
  }

  package static func stem(of entry: ManifestEntry) -> String {
    // All segments with the same ad space use one name for its ad.
    if let zone = entry.zone { return zone }
    let id = entry.isIdentifierMade ? nil : entry.id
    let name = entry.path.map { withoutSuffix(PathText.split($0).leaf) } ?? id
    let stem = safeName(name ?? withoutSuffix(lastComponent(of: entry.url))) ?? "ad"
    return String(stem.map { $0 == "." ? "-" : $0 })
  }

  // MARK: Marks of content

  static let markSize = 12

  /// Adds a mark: `v1/000001.ts` becomes `v1/000001-0a1b2c3d4e5f.ts`.
  static func marked(_ name: String, _ mark: Substring) -> String {
    let (folder, leaf) = PathText.split(name)
    let dot = leaf.lastIndex(of: ".") ?? leaf.endIndex
    return "\(folder)\(folder.isEmpty ? "" : "/")\(leaf[..<dot])-\(mark)\(leaf[dot...])"
  }

  /// Returns a playlist made here with the given names moved below a folder.
  package static func moving(
    _ bytes: [UInt8],
    _ names: Set<String>,
    below folder: String
  ) -> [UInt8] {
    var used: Set<String> = []
    let moved = names.map { ($0, folder + $0) }
    return renaming(bytes, by: Dictionary(moved) { first, _ in first }, &used)
  }

  /// Replaces file names, as lines or in quotes, in a playlist made here; adds them to `used`.
  static func renaming(
    _ bytes: [UInt8],
    by names: [String: String],
    _ used: inout Set<String>
  ) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + names.count * (markSize + 1))
    var start = 0
    for end in 0...bytes.count {
      let isEnd = end == bytes.count
      guard isEnd || bytes[end] == UInt8(ascii: "\n") || bytes[end] == UInt8(ascii: "\"") else {
        continue
      }
      let word = String(decoding: bytes[start..<end], as: UTF8.self)
      if let name = names[word] {
        used.insert(word)
        result += name.utf8
      } else {
        result += bytes[start..<end]
      }
      if !isEnd { result.append(bytes[end]) }
      start = end + 1
    }
    return result
  }

  package static func suffix(of url: WebURL) -> String? {
    guard let dot = url.path.lastIndex(of: ".") else { return nil }
    let suffix = url.path[url.path.index(after: dot)...].lowercased()
    guard (1...5).contains(suffix.utf8.count),
      suffix.utf8.allSatisfy({ ASCII.isDigit($0) || (0x61...0x7A).contains($0) })
    else { return nil }
    return suffix
  }

  private static func lastComponent(of url: WebURL) -> String {
    url.path.split(separator: "/").last.map(String.init) ?? ""
  }

  private static func withoutSuffix(_ name: String) -> String {
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
    return String(name[..<dot])
  }

  private static func safeName(_ name: String) -> String? {
    let bytes = name.utf8.filter { isSafe($0) || $0 == UInt8(ascii: ".") }
      .drop { $0 == UInt8(ascii: ".") }.prefix(100)
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  private static func isSafe(_ byte: UInt8) -> Bool {
    ASCII.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
  }
}

package enum BundleForm: String, Hashable, Sendable, CaseIterable {
  case stream = "hls"
  case ad = "vast"

  /// Lifetime of an ad if no server states one.
  package static let adLifetime = Freshness.Lifetime.atMost(.seconds(3600))
}

extension ManifestEntry {
  package var bundleForm: BundleForm? { type.flatMap { BundleForm(rawValue: $0) } }
}
