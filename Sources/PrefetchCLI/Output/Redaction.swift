/// Keeps secrets out of every output, by their text.
enum Redaction {
  /// Short values would mask half of every message, so they are left to redaction by type.
  private static let minimumLength = 6

  static func masked(_ text: String, secrets: [String]) -> String {
    secrets.filter { $0.utf8.count >= minimumLength }.reduce(text) { replaced($0, of: $1) }
  }

  private static func replaced(_ text: String, of secret: String) -> String {
    guard text.utf8.count >= secret.utf8.count else { return text }
    let haystack = Array(text.utf8)
    let needle = Array(secret.utf8)
    var result: [UInt8] = []
    var position = 0
    while position < haystack.count {
      if haystack[position...].starts(with: needle) {
        result += "***".utf8
        position += needle.count
      } else {
        result.append(haystack[position])
        position += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
