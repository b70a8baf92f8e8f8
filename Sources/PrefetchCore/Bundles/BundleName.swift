/// What is opened first of an item of several files.
package enum BundleName {
  /// The last part of its URL's path, as a name that any tree can hold.
  package static func main(of url: WebURL) -> String {
    let last = url.path.split(separator: "/").last.map(String.init) ?? ""
    let plain = String(
      decoding: last.utf8.filter { isPlain($0) || $0 == UInt8(ascii: ".") }.drop {
        $0 == UInt8(ascii: ".")
      }.prefix(100),
      as: UTF8.self
    )
    guard !plain.isEmpty else { return "index.m3u8" }
    return plain.hasSuffix(".m3u8") || plain.hasSuffix(".m3u") ? plain : plain + ".m3u8"
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    ASCII.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
  }
}

extension ManifestEntry {
  /// Whether it consists of several files.
  package var isBundle: Bool { type == "hls" }
}
