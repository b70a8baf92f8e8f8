import PrefetchCore

/// Search patterns for secrets, made once for many texts.
struct SecretNeedles: Sendable, ExpressibleByArrayLiteral {
  /// Shortest secret that is searched; a shorter one would mask half of every message.
  private static let minimumLength = 6
  /// Shortest base64 form that is searched, since these match by chance more easily.
  private static let minimumCodedLength = 10

  /// Patterns, longest first, so that a longer secret is masked whole.
  private let needles: [[UInt8]]
  /// First bytes of patterns, which rule out most positions.
  private let isBeginning: [Bool]

  init(_ secrets: [String]) {
    let spellings = Set(
      secrets.filter { $0.utf8.count >= Self.minimumLength }.flatMap { Self.spellings(of: $0) }
    )
    needles = spellings.map { Array($0.utf8) }.sorted { $0.count > $1.count }
    var begins = [Bool](repeating: false, count: 256)
    for needle in needles { begins[Int(needle[0])] = true }
    isBeginning = begins
  }

  init(arrayLiteral secrets: String...) {
    self.init(secrets)
  }

  var isEmpty: Bool {
    needles.isEmpty
  }

  func ranges(in bytes: [UInt8]) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    for position in bytes.indices where isBeginning[Int(bytes[position])] {
      guard let needle = needles.first(where: { bytes[position...].starts(with: $0) }) else {
        continue
      }
      let end = position + needle.count
      if let last = ranges.last, position < last.upperBound {
        ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, end)
      } else {
        ranges.append(position..<end)
      }
    }
    return ranges
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
