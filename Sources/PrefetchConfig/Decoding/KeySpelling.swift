import PrefetchDocuments

enum KeySpelling {
  /// Converts `maxFileSize` and `max-file-size` into `max_file_size`; `NS…` keys stay unchanged.
  static func normalised(_ key: String) -> String {
    guard !key.hasPrefix("NS"), !key.hasPrefix("SPKI-") else { return key }
    let scalars = Array(key.unicodeScalars)
    var text = String.UnicodeScalarView()
    for (index, scalar) in scalars.enumerated() {
      guard isUpper(scalar) else {
        text.append(scalar == "-" ? "_" : scalar)
        continue
      }
      if index > 0, beginsWord(at: index, of: scalars) { text.append("_") }
      text.append(Unicode.Scalar(scalar.value | 0x20) ?? scalar)
    }
    return String(text)
  }

  static func pattern(_ key: String) -> String? {
    let words = key.split(separator: "_")
    guard words.count > 1, !key.hasPrefix("NS") else { return nil }
    let rest = words.dropFirst().enumerated().map { offset, word in
      let capital = "\(word.prefix(1).uppercased())\(word.dropFirst())"
      let isLast = offset == words.count - 2
      return "(?:-\(word)|\(capital)\(isLast ? "|\(word.uppercased())" : ""))"
    }
    return "^\(words[0])\(rest.joined())$"
  }

  /// Returns whether a key belongs to the user, such as an anchor for YAML aliases.
  static func isPrivate(_ key: String) -> Bool {
    key.hasPrefix("x_") || key.hasPrefix("x-")
  }

  /// Returns whether a word begins: at `S` in `maxSize`, `U` in `baseURL`, `B` in `URLBase`.
  private static func beginsWord(at index: Int, of scalars: [Unicode.Scalar]) -> Bool {
    let previous = scalars[index - 1]
    guard previous != "_", previous != "-" else { return false }
    guard isUpper(previous) else { return true }
    return index + 1 < scalars.count && ("a"..."z").contains(scalars[index + 1])
  }

  private static func isUpper(_ scalar: Unicode.Scalar) -> Bool {
    ("A"..."Z").contains(scalar)
  }
}
