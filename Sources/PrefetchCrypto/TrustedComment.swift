package import PrefetchCore

/// The signed line of a signature: words between tabs, of which we know a few.
///
/// `timestamp:UNIX<TAB>file:NAME<TAB>expires:UNIX<TAB>hashed`; minisign writes all but `expires`,
/// and a person who signs by hand may write anything.
package struct TrustedComment: Hashable, Sendable {
  package let text: String

  package init(text: String) {
    self.text = text
  }

  /// What is written for a file; line ends and tabs of its name would end the word.
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

  /// The name of the file that was signed.
  package var file: String? {
    word("file:")
  }

  /// Whether every date that it means to state can be read: one that cannot must not count as none.
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

  /// Two words of one name are a riddle, so neither counts.
  private func word(_ name: String) -> String? {
    let words = text.split(separator: "\t").filter { $0.hasPrefix(name) }
    guard words.count == 1, let word = words.first else { return nil }
    return String(word.dropFirst(name.count))
  }

  /// Up to the end of the year 9999, beyond which no date has a text.
  private static let knownSeconds: Range<Int64> = 0..<253_402_300_800

  private static func inert(_ name: String) -> String {
    String(String.UnicodeScalarView(name.unicodeScalars.map { $0.value < 32 ? "_" : $0 }))
  }
}
