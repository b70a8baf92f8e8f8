import PrefetchCore
import PrefetchSystem

/// Location of a declared digest in the local list that declares it, and its spelling there.
struct DeclaredDigestLocation {
  var location: SourceLocation
  var message: String

  /// Limit in bytes, above the size of any lock file.
  private static let largestList = 32 << 20

  /// Finds a digest of the message in the list; nil if none occurs there.
  init?(of message: String, in path: String) {
    guard let bytes = try? FileReading.read(path, limit: Self.largestList) else { return nil }
    let words = message.split { " ,;".contains($0) }.map(String.init)
    for word in words.reversed() {
      if let found = Self.find(word, in: bytes, of: path) {
        (location, self.message) = (found, message)
        return
      }
      guard let digits = Self.hexadecimal(word) else { continue }
      if let found = Self.find(digits, in: bytes, of: path) {
        let spelled = words.reduce(message) { text, word in
          Self.hexadecimal(word).map { text.replacing(word, with: $0) } ?? text
        }
        (location, self.message) = (found, spelled)
        return
      }
    }
    return nil
  }

  /// Converts `sha512-BASE64=` to hex digits, which checksum lists use.
  private static func hexadecimal(_ word: String) -> String? {
    let parts = word.split(separator: "-", maxSplits: 1)
    guard parts.count == 2, parts[0].hasPrefix("sha"), let bytes = Base64.decode(parts[1]) else {
      return nil
    }
    return Hexadecimal.encode(bytes)
  }

  private static func find(_ word: String, in list: [UInt8], of path: String) -> SourceLocation? {
    // A word shorter than a digest would match anywhere.
    guard word.utf8.count >= 32 else { return nil }
    guard let range = list.firstRange(of: Array(word.utf8)) else { return nil }
    let before = list[..<range.lowerBound]
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let column = String(decoding: list[start..<range.lowerBound], as: UTF8.self).unicodeScalars
      .count
    return SourceLocation(
      file: path,
      line: before.count { $0 == UInt8(ascii: "\n") } + 1,
      column: column + 1,
      length: word.utf8.count
    )
  }
}
