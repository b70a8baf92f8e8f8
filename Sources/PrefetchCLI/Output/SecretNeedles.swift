import PrefetchCore

/// What is looked for in texts because of secrets, made once for many texts.
struct SecretNeedles: Sendable, ExpressibleByArrayLiteral {
  /// Short values would mask half of every message, so they are left to redaction by type.
  private static let minimumLength = 6
  /// The same for what is left of them in base64, where chance meets more easily.
  private static let minimumCodedLength = 10

  /// The longest first: of a secret that begins like another one nothing may be left over.
  private let needles: [[UInt8]]
  /// By first byte, which spares the look at most places.
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

  /// Where any of them stands; those that overlap are one place.
  func places(in bytes: [UInt8]) -> [Range<Int>] {
    var places: [Range<Int>] = []
    for position in bytes.indices where isBeginning[Int(bytes[position])] {
      guard let needle = needles.first(where: { bytes[position...].starts(with: $0) }) else {
        continue
      }
      let end = position + needle.count
      if let last = places.last, position < last.upperBound {
        places[places.count - 1] = last.lowerBound..<max(last.upperBound, end)
      } else {
        places.append(position..<end)
      }
    }
    return places
  }

  // MARK: Spellings

  /// As it is, as URLs have it, and as it looks in base64, where it depends on what stands before.
  private static func spellings(of secret: String) -> [String] {
    [secret, escaped(secret)].compactMap(\.self)
      + ["%20", "+"].map { blank in Hexadecimal.encodePercent(secret, blank: blank) }
      + [Hexadecimal.encodePercent(secret).lowercasingEscapes]
      + (0..<3).flatMap { offset in
        Base64.forms.map { coded(secret, behind: offset, as: $0) }
      }
      .filter { $0.utf8.count >= minimumCodedLength }
  }

  /// A secret in a URL of ours has been through its escaping.
  private static func escaped(_ secret: String) -> String? {
    let isEscaped = secret.utf8.contains {
      $0 <= 0x20 || $0 >= 0x7F || "\"<>^`{|}".utf8.contains($0)
    }
    return isEscaped ? (try? WebURL("https://secret.invalid/?\(secret)"))?.query : nil
  }

  /// What of the coded secret is the same whatever surrounds it, `offset` bytes into a group.
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
  /// `%2f` for `%2F`.
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
