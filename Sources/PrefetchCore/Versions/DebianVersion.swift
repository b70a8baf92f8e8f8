/// Versions of Debian packages, `[epoch:]upstream[-revision]`, in the order of `dpkg`.
enum DebianVersion {
  /// Returns nil where `dpkg` sees no version: a wrong epoch, or an empty part.
  static func key(_ bytes: ArraySlice<UInt8>) -> VersionKey? {
    var key = VersionKey()
    var upstream = bytes
    var epoch: Int32 = 0
    if let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
      guard let number = Int32(String(decoding: bytes[..<colon], as: UTF8.self)), number >= 0
      else { return nil }
      epoch = number
      upstream = bytes[(colon + 1)...]
    }
    key.append(integer: UInt64(epoch))
    var revision: ArraySlice<UInt8> = []
    if let hyphen = upstream.lastIndex(of: UInt8(ascii: "-")) {
      revision = upstream[(hyphen + 1)...]
      upstream = upstream[..<hyphen]
      guard !revision.isEmpty else { return nil }
    }
    guard !upstream.isEmpty else { return nil }
    append(part: upstream, to: &key)
    append(part: revision, to: &key)
    return key
  }

  // `dpkg` compares text and numbers in turn: `~` before the end of a text, then letters, then
  // all other bytes. Letters stand for themselves, so the other codes lie around them.
  private static let tilde: UInt8 = 1
  private static let end: UInt8 = 2
  private static let other: UInt8 = 255

  private static func append(part: ArraySlice<UInt8>, to key: inout VersionKey) {
    var text = VersionText(part)
    repeat {
      for byte in text.take(while: { !ASCII.isDigit($0) }) ?? [] {
        if byte == UInt8(ascii: "~") {
          key.append(tilde)
        } else if VersionText.isLetter(byte) {
          key.append(byte)
        } else {
          key.append(other)
          key.append(byte)
        }
      }
      key.append(end)
      key.append(number: text.takeDigits() ?? [])
    } while !text.isAtEnd
    key.append(end)
  }
}
