import PrefetchCore

/// Keeps secrets out of every output, by their text.
enum Redaction {
  /// Short values would mask half of every message, so they are left to redaction by type.
  private static let minimumLength = 6

  static func masked(_ text: String, secrets: [String]) -> String {
    secrets.isEmpty ? text : masked(text, needles: needles(of: secrets))
  }

  /// What is looked for in texts because of secrets, made once for many texts.
  static func needles(of secrets: [String]) -> [[UInt8]] {
    // The longest first: of a secret that begins like another one nothing may be left over.
    secrets.flatMap(spellings)
      .filter { $0.utf8.count >= minimumLength }
      .sorted { $0.utf8.count > $1.utf8.count }
      .map { Array($0.utf8) }
  }

  static func masked(_ text: String, needles: [[UInt8]]) -> String {
    needles.reduce(text) { replaced($0, of: $1) }
  }

  /// A URL for reports and logs, also one that was refused for what it holds.
  static func url(_ text: String) -> String {
    if let url = try? WebURL(text) { return url.redacted }
    let mark = text.firstIndex(of: "?") ?? text.endIndex
    let address = withoutUserInformation(text[..<mark])
    guard mark < text.endIndex else { return address }
    let query = (try? WebURL("https://query.invalid/\(text[mark...])"))?.redacted
    return "\(address)?\(query.flatMap(afterMark) ?? Secret.mask)"
  }

  /// The part before the host masked, whatever else is wrong with the URL.
  static func withoutUserInformation(_ text: some StringProtocol) -> String {
    guard text.utf8.contains(UInt8(ascii: "@")), let slashes = text.firstRange(of: "//") else {
      return String(text)
    }
    let rest = text[slashes.upperBound...]
    guard let at = rest.prefix(while: { !"/?#".contains($0) }).lastIndex(of: "@") else {
      return String(text)
    }
    return "\(text[..<slashes.upperBound])\(Secret.mask)\(text[at...])"
  }

  private static func afterMark(_ url: String) -> String? {
    url.firstIndex(of: "?").map { String(url[url.index(after: $0)...]) }
  }

  /// A secret in a URL has been through its escaping.
  private static func spellings(_ secret: String) -> [String] {
    let isEscaped = secret.utf8.contains {
      $0 <= 0x20 || $0 >= 0x7F || "\"<>^`{|}".utf8.contains($0)
    }
    guard isEscaped, let query = (try? WebURL("https://secret.invalid/?\(secret)"))?.query else {
      return [secret]
    }
    return [secret, query]
  }

  private static func replaced(_ text: String, of needle: [UInt8]) -> String {
    let haystack = Array(text.utf8)
    var result: [UInt8] = []
    var position = 0
    while position < haystack.count {
      if haystack[position] == needle[0], haystack[position...].starts(with: needle) {
        result += Secret.mask.utf8
        position += needle.count
      } else {
        result.append(haystack[position])
        position += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}

extension Diagnostic {
  /// The same with secrets out of everything it says; its code and place are ours.
  func masked(secrets: [String]) -> Self {
    var masked = self
    masked.message = Redaction.masked(message, secrets: secrets)
    masked.hint = hint.map { Redaction.masked($0, secrets: secrets) }
    masked.path = path.map { Redaction.masked($0, secrets: secrets) }
    masked.file = file.map { Redaction.masked($0, secrets: secrets) }
    return masked
  }
}
