/// What the files of an item that consists of several are called.
package enum BundleName {
  /// What is opened first of a stream: the last part of its URL's path, as a name that any tree can
  /// hold.
  package static func main(of url: WebURL) -> String {
    guard let plain = plain(lastPart(of: url)) else { return "index.m3u8" }
    return plain.hasSuffix(".m3u8") || plain.hasSuffix(".m3u") ? plain : plain + ".m3u8"
  }

  /// With what the names of all files of an ad begin.
  package static func stem(of entry: ManifestEntry) -> String {
    let id = entry.isIdentifierMade ? nil : entry.id
    let name = entry.path.map { withoutEnding(PathText.split($0).leaf) } ?? id
    let stem = plain(name ?? withoutEnding(lastPart(of: entry.url))) ?? "ad"
    return String(stem.map { $0 == "." ? "-" : $0 })
  }

  /// What its name ends in, by which players and servers know its type.
  package static func ending(of url: WebURL) -> String? {
    guard let dot = url.path.lastIndex(of: ".") else { return nil }
    let ending = url.path[url.path.index(after: dot)...].lowercased()
    guard (1...5).contains(ending.utf8.count),
      ending.utf8.allSatisfy({ ASCII.isDigit($0) || (0x61...0x7A).contains($0) })
    else { return nil }
    return ending
  }

  private static func lastPart(of url: WebURL) -> String {
    url.path.split(separator: "/").last.map(String.init) ?? ""
  }

  private static func withoutEnding(_ name: String) -> String {
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
    return String(name[..<dot])
  }

  private static func plain(_ name: String) -> String? {
    let bytes = name.utf8.filter { isPlain($0) || $0 == UInt8(ascii: ".") }
      .drop { $0 == UInt8(ascii: ".") }.prefix(100)
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    ASCII.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
  }
}

/// What an item that consists of several files is.
package enum BundleForm: String, Hashable, Sendable, CaseIterable {
  /// A playlist and the pieces that it names.
  case stream = "hls"
  /// An ad tag, and what is shown of the ad behind it.
  case ad = "vast"

  /// Where no server says how long an ad holds.
  package static let adLifetime = Freshness.Lifetime.atMost(.seconds(3600))
}

extension ManifestEntry {
  /// Nil where it is one file.
  package var bundleForm: BundleForm? { type.flatMap { BundleForm(rawValue: $0) } }
}
