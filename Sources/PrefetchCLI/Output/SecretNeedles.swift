import PrefetchCore

/// Search patterns for secrets, made once for many texts.
struct SecretNeedles: Sendable, ExpressibleByArrayLiteral {
  /// Shortest secret that is searched; a shorter one would mask half of every message.
  private static let minimumLength = 6
  /// Shortest base64 form that is searched, since these match by chance more easily.
  private static let minimumCodedLength = 10

  /// Patterns, longest first, so that a longer secret is masked whole.
  private let needles: [[UInt8]]
  /// Beginnings of URLs that hold an unknown secret behind them.
  private let hiddenURLs: [[UInt8]]
  /// First bytes of patterns, which rule out most positions.
  private let isBeginning: [Bool]

  init(_ secrets: [String], hidingURLs hidden: [String] = []) {
    let spellings = Set(
      secrets.filter { $0.utf8.count >= Self.minimumLength }.flatMap { Self.spellings(of: $0) }
    )
    needles = spellings.map { Array($0.utf8) }.sorted { $0.count > $1.count }
    hiddenURLs = hidden.filter { !$0.isEmpty }.map { Array($0.utf8) }
    var begins = [Bool](repeating: false, count: 256)
    for needle in needles + hiddenURLs { begins[Int(needle[0])] = true }
    isBeginning = begins
  }

  init(arrayLiteral secrets: String...) {
    self.init(secrets)
  }

  var isEmpty: Bool {
    needles.isEmpty && hiddenURLs.isEmpty
  }

  /// Returns the ranges to mask, in order and without overlaps.
  func ranges(in bytes: [UInt8]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    for position in bytes.indices where isBeginning[Int(bytes[position])] {
      let rest = bytes[position...]
      if let needle = needles.first(where: { rest.starts(with: $0) }) {
        found.append(position..<position + needle.count)
      }
      for beginning in hiddenURLs where rest.starts(with: beginning) {
        let start = position + beginning.count
        let end = bytes[start...].firstIndex(where: Self.endsURL) ?? bytes.endIndex
        if start < end { found.append(start..<end) }
      }
    }
    // A range behind a beginning may start after one that is found later.
    if !hiddenURLs.isEmpty { found.sort { $0.lowerBound < $1.lowerBound } }
    var ranges: [Range<Int>] = []
    for range in found {
      if let last = ranges.last, range.lowerBound < last.upperBound {
        let end = max(last.upperBound, range.upperBound)
        ranges[ranges.count - 1] = last.lowerBound..<end
      } else {
        ranges.append(range)
      }
    }
    return ranges
  }

  /// Whether a byte stands behind a URL in a text and in none.
  private static func endsURL(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == 0x7F || "\"`<>".utf8.contains(byte)
  }

  // MARK: Spellings

  /// Returns the secret plain, URL-encoded, and in base64 at each of three offsets.
  private static func spellings(of secret: String) -> [String] {
    [secret, escaped(secret)].compactMap(\.self)
      + ["%20", "+"].map { blank in Hexadecimal.encodePercent(secret, blank: blank) }
      + [Hexadecimal.encodePercent(secret).lowercasingEscapes]
      + (0..<3).flatMap { offset in
        Base64.forms.map { coded(secret, behind: offset, as: $0) }
      }
      .filter { $0.utf8.count >= minimumCodedLength }
  }

  private static func escaped(_ secret: String) -> String? {
    let isEscaped = secret.utf8.contains {
      $0 <= 0x20 || $0 >= 0x7F || "\"<>^`{|}".utf8.contains($0)
    }
    return isEscaped ? (try? WebURL("https://secret.invalid/?\(secret)"))?.query : nil
  }

  /// Returns the base64 characters that do not depend on neighbours, `offset` bytes into a group.
  private static func coded(_ secret: String, behind offset: Int, as form: Base64.Form) -> String {
    let bytes = [UInt8](repeating: 0, count: offset) + Array(secret.utf8)
    let text = Base64.encode(bytes, as: form)
    let first = (offset * 8 + 5) / 6
    return String(text.prefix(bytes.count * 8 / 6).dropFirst(first))
  }
}

extension Base64 {
  fileprivate static let forms: [Form] = [.standard, .urlSafe]
}

extension String {
  fileprivate var lowercasingEscapes: String {
    var text = ""
    var escape = 0
    for character in self {
      text += escape > 0 ? character.lowercased() : String(character)
      escape = character == "%" ? 2 : max(0, escape - 1)
    }
    return text
  }
}
