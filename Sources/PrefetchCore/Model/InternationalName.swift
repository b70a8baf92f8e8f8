@_spi(_Unicode) private import Swift

/// Host names beyond ASCII in the form in which the net knows them (`xn--…`, RFC 3492).
///
/// Of UTS 46 this is the part that people type: small letters, composed, ideographic full stops read
/// as dots. What would need its tables is refused, so no two spellings that differ here can be one
/// host elsewhere: what is asked for is always the name that the rules were applied to.
package enum InternationalName {
  /// The ASCII form of a whole name, itself where it has nothing else; nil for what is no name.
  package static func ascii(_ name: some StringProtocol) -> String? {
    if name.utf8.allSatisfy({ $0 < 0x80 }) { return name.lowercased() }
    let labels = composed(String(name).lowercased())
      .split(separator: ".", omittingEmptySubsequences: false)
    var result: [String] = []
    for label in labels {
      guard let ascii = ascii(label: label) else { return nil }
      result.append(ascii)
    }
    return result.joined(separator: ".")
  }

  private static func composed(_ text: String) -> [Unicode.Scalar] {
    text._nfc.map { scalar in
      switch scalar {
      case "\u{3002}", "\u{FF0E}", "\u{FF61}": "."
      default: scalar
      }
    }
  }

  private static func ascii(label: ArraySlice<Unicode.Scalar>) -> String? {
    if label.allSatisfy(\.isASCII) {
      return String(String.UnicodeScalarView(label))
    }
    // A name that begins like the other form could be read as both.
    guard label.allSatisfy(isPlain), let first = label.first, !isMark(first), first != "-",
      label.last != "-", !label.dropFirst(2).starts(with: ["-", "-"]),
      let code = Punycode.encode(Array(label))
    else { return nil }
    return "xn--\(code)"
  }

  /// Letters, digits and marks that stand for themselves.
  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII {
      return scalar == "-" || scalar.properties.isASCIIHexDigit || isLetter(scalar)
    }
    guard !compatible.contains(where: { $0.contains(scalar.value) }),
      !scalar.properties.isDefaultIgnorableCodePoint, !scalar.properties.changesWhenLowercased
    else { return false }
    switch scalar.properties.generalCategory {
    case .lowercaseLetter, .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark,
      .decimalNumber:
      return true
    default:
      return false
    }
  }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar)
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: true
    default: false
    }
  }

  /// Blocks of letters that are other spellings of others: modifiers, letterlike symbols, ligatures,
  /// presentation forms, full and half width, mathematical alphabets.
  private static let compatible: [ClosedRange<UInt32>] = [
    0x00AA...0x00AA, 0x00BA...0x00BA, 0x0132...0x0133, 0x013F...0x0140, 0x0149...0x0149,
    0x017F...0x017F, 0x01C4...0x01CC, 0x01F1...0x01F3, 0x02B0...0x02FF, 0x0340...0x0345,
    0x03D0...0x03D6, 0x03F0...0x03F9, 0x0587...0x0587, 0x0675...0x0678, 0x0E33...0x0E33,
    0x0EB3...0x0EB3, 0x0EDC...0x0EDD, 0x0F0C...0x0F0C, 0x0F77...0x0F79, 0x10FC...0x10FC,
    0x1100...0x11FF, 0x1D2C...0x1DBF, 0x1E9A...0x1E9B, 0x2000...0x2BFF, 0x2C7C...0x2C7D,
    0x2E80...0x2FFF, 0x3031...0x303F, 0x309B...0x309F, 0x30FF...0x30FF, 0x3130...0x319F,
    0x3200...0x33FF, 0xA69C...0xA69D, 0xA770...0xA770, 0xA7F2...0xA7F9, 0xAB5C...0xAB69,
    0xD7B0...0xD7FF, 0xF900...0xFAFF, 0xFB00...0xFDFF, 0xFE00...0xFFFF, 0x1D400...0x1D7FF,
    0x1EE00...0x1EEFF, 0x1F100...0x1FBFF, 0x2F800...0x2FA1F,
  ]
}

/// The encoding of RFC 3492, with the figures it has for names.
private enum Punycode {
  private static let (base, smallest, largest, skew, damp) = (36, 1, 26, 38, 700)

  /// Nil for what would be no label any more.
  static func encode(_ scalars: [Unicode.Scalar]) -> String? {
    var output = scalars.filter(\.isASCII).map { UInt8($0.value) }
    let basic = output.count
    if basic > 0 { output.append(UInt8(ascii: "-")) }
    var (number, delta, bias, handled) = (0x80, 0, 72, basic)
    while handled < scalars.count {
      guard let next = scalars.map({ Int($0.value) }).filter({ $0 >= number }).min() else { break }
      delta += (next - number) * (handled + 1)
      number = next
      for scalar in scalars.map({ Int($0.value) }) {
        if scalar < number { delta += 1 }
        guard scalar == number else { continue }
        append(delta, bias: bias, to: &output)
        bias = adapt(delta, count: handled + 1, isFirst: handled == basic)
        delta = 0
        handled += 1
      }
      delta += 1
      number += 1
    }
    return output.count <= 59 ? String(decoding: output, as: UTF8.self) : nil
  }

  private static func append(_ delta: Int, bias: Int, to output: inout [UInt8]) {
    var rest = delta
    var position = base
    while true {
      let threshold = min(max(position - bias, smallest), largest)
      guard rest >= threshold else { break }
      output.append(digit(threshold + (rest - threshold) % (base - threshold)))
      rest = (rest - threshold) / (base - threshold)
      position += base
    }
    output.append(digit(rest))
  }

  private static func adapt(_ delta: Int, count: Int, isFirst: Bool) -> Int {
    var delta = isFirst ? delta / damp : delta / 2
    delta += delta / count
    var bias = 0
    while delta > (base - smallest) * largest / 2 {
      delta /= base - smallest
      bias += base
    }
    return bias + (base - smallest + 1) * delta / (delta + skew)
  }

  private static func digit(_ value: Int) -> UInt8 {
    UInt8(value < 26 ? value + 97 : value + 22)
  }
}
