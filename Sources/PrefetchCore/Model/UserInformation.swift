/// Masking of user names and passwords in URLs before text is shown or stored.
package enum UserInformation {
  package static func masked(_ text: String) -> String {
    guard text.utf8.span.contains(at) else { return text }
    let bytes = Array(text.utf8)
    let ranges = ranges(in: bytes)
    guard !ranges.isEmpty else { return text }
    var result: [UInt8] = []
    var position = 0
    for range in ranges {
      result += bytes[position..<range.lowerBound]
      result += Secret.mask.utf8
      position = range.upperBound
    }
    return String(decoding: result + bytes[position...], as: UTF8.self)
  }

  private static let at = UInt8(ascii: "@")
  private static let colon = UInt8(ascii: ":")
  private static let slash = UInt8(ascii: "/")

  private static func ranges(in bytes: [UInt8]) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var start = 0
    while start < bytes.count {
      let end = bytes[start...].firstIndex(where: endsWord) ?? bytes.count
      if let range = range(in: bytes, start..<end) { ranges.append(range) }
      start = end + 1
    }
    return ranges
  }

  private static func endsWord(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == 0x7F || "\"'`<>,".utf8.contains(byte)
  }

  private static func range(in bytes: [UInt8], _ word: Range<Int>) -> Range<Int>? {
    let mark = word.dropLast().first { bytes[$0] == slash && bytes[$0 + 1] == slash }
    if let mark {
      let start = mark + 2
      let end =
        bytes[start..<word.upperBound].firstIndex { "/?#".utf8.contains($0) }
        ?? word.upperBound
      if let last = bytes[start..<end].lastIndex(of: at) { return start..<last }
      // A password may hold what ends an authority; then the apparent port is not a number.
      guard let port = bytes[start..<end].lastIndex(of: colon), bytes[start] != UInt8(ascii: "["),
        !bytes[(port + 1)..<end].allSatisfy(ASCII.isDigit),
        let last = bytes[end..<word.upperBound].lastIndex(of: at)
      else { return nil }
      return start..<last
    }
    // `user:password@host`, the form used for proxies.
    guard let last = bytes[word].lastIndex(of: at) else { return nil }
    var start =
      bytes[word.lowerBound..<last].lastIndex { "/(".utf8.contains($0) }
      .map { $0 + 1 } ?? word.lowerBound
    guard let parting = bytes[start..<last].firstIndex(of: colon), parting + 1 < last else {
      return nil
    }
    // An option's name may precede the user name; a password may hold any character.
    if let equals = bytes[start..<parting].lastIndex(of: UInt8(ascii: "=")) { start = equals + 1 }
    guard start < parting else { return nil }
    return start..<last
  }
}
