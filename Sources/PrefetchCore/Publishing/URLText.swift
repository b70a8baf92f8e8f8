enum URLText {
  /// Decodes all escapes except `/`, `?`, `%` and control characters, which mean something else.
  static func readable(path: String) -> String {
    guard path.utf8.contains(UInt8(ascii: "%")) else { return path }
    return decoding(path) { $0 >= 0x20 && $0 != 0x7F && !"/?%".utf8.contains($0) }
  }

  /// Returns wget's file name: all escapes decoded but those of slashes and control characters.
  static func fileName(_ text: some StringProtocol, isQuery: Bool = false) -> String {
    if !isQuery {
      return PathText.components(of: String(text)).map { fileName($0, isQuery: true) }
        .joined(separator: "/")
    }
    var bytes: [UInt8] = []
    for byte in decodedBytes(text, { _ in true }) {
      guard byte < 0x20 || byte == 0x7F || byte == PathText.slash else {
        bytes.append(byte)
        continue
      }
      bytes += "%\(Hexadecimal.encode([byte]).uppercased())".utf8
    }
    return String(validating: bytes, as: UTF8.self) ?? String(text)
  }

  /// Decodes all escapes; text that would not be UTF-8 stays.
  static func decoded(_ text: some StringProtocol) -> String {
    decoding(text) { _ in true }
  }

  /// Returns a query as one path component; `%` is escaped too, to keep names distinct.
  static func withoutSlashes(query: String) -> String {
    guard query.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "%") }) else {
      return query
    }
    var bytes: [UInt8] = []
    for byte in query.utf8 {
      switch byte {
      case UInt8(ascii: "/"): bytes += "%2F".utf8
      case UInt8(ascii: "%"): bytes += "%25".utf8
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func decoding(
    _ text: some StringProtocol,
    _ isDecoded: (UInt8) -> Bool
  ) -> String {
    String(validating: decodedBytes(text, isDecoded), as: UTF8.self) ?? String(text)
  }

  private static func decodedBytes(
    _ text: some StringProtocol,
    _ isDecoded: (UInt8) -> Bool
  ) -> [UInt8] {
    let source = Array(text.utf8)
    var bytes: [UInt8] = []
    var index = 0
    while index < source.count {
      if source[index] == UInt8(ascii: "%"), index + 2 < source.count,
        let high = digit(source[index + 1]), let low = digit(source[index + 2]),
        isDecoded(high << 4 | low)
      {
        bytes.append(high << 4 | low)
        index += 3
      } else {
        bytes.append(source[index])
        index += 1
      }
    }
    return bytes
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
