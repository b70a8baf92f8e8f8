package import PrefetchCore

/// Signed comment: `timestamp:UNIX<TAB>file:NAME<TAB>expires:UNIX<TAB>hashed`, or any text.
package struct TrustedComment: Hashable, Sendable {
  package let text: String

  package init(text: String) {
    self.text = text
  }

  /// Makes the comment of a file; control characters in its name would end the word.
  package init(timestamp: Instant, file: String, expires: Instant?) {
    var words = ["timestamp:\(timestamp.seconds)", "file:\(Self.inert(file))"]
    if let expires { words.append("expires:\(expires.seconds)") }
    words.append("hashed")
    text = words.joined(separator: "\t")
  }

  package var timestamp: Instant? {
    instant(of: "timestamp:")
  }

  package var expires: Instant? {
    instant(of: "expires:")
  }

  package var file: String? {
    word("file:")
  }

  /// Whether all stated dates are readable: an unreadable date must not count as absent.
  var hasReadableDates: Bool {
    ["timestamp:", "expires:"].allSatisfy { name in
      instant(of: name) != nil || !text.split(separator: "\t").contains { $0.hasPrefix(name) }
    }
  }

  private func instant(of name: String) -> Instant? {
    guard let seconds = word(name).flatMap({ Int64($0) }),
      Self.knownSeconds.contains(seconds)
    else { return nil }
    return Instant(seconds: seconds)
  }

  /// Returns a word's value; nil when the word is repeated, since either could be meant.
  private func word(_ name: String) -> String? {
    let words = text.split(separator: "\t").filter { $0.hasPrefix(name) }
    guard words.count == 1, let word = words.first else { return nil }
    return String(word.dropFirst(name.count))
  }

  /// Seconds up to the year 9999, the last that has a text form.
  private static let knownSeconds: Range<Int64> = 0..<253_402_300_800

  private static func inert(_ name: String) -> String {
    String(String.UnicodeScalarView(name.unicodeScalars.map { $0.value < 32 ? "_" : $0 }))
  }
}
