/// Versions of PEP 440, in every spelling that `packaging` accepts: `1!2.0rc1.post2.dev3+local.4`.
enum PythonVersion {
  private typealias Labels = [(label: String, rank: UInt8)]

  // A label stands before its own beginnings, since the first match counts.
  private static let preLabels: Labels = [
    ("alpha", 1), ("a", 1), ("beta", 2), ("b", 2), ("preview", 3), ("pre", 3), ("c", 3), ("rc", 3),
  ]
  private static let postLabels: Labels = [("post", 1), ("rev", 1), ("r", 1)]
  private static let devLabels: Labels = [("dev", 0)]

  /// Returns nil for a text that PEP 440 does not allow.
  static func key(_ bytes: ArraySlice<UInt8>) -> VersionKey? {
    var text = VersionText(ArraySlice(bytes.map(ASCII.lowercased)))
    text.skipPrefix()
    guard var number = text.takeDigits() else { return nil }
    var key = VersionKey()
    if text.skip("!") {
      guard let first = text.takeDigits() else { return nil }
      key.append(number: number)
      number = first
    } else {
      key.append(number: [])
    }
    appendRelease(from: number, &text, to: &key)
    let pre = suffix(preLabels, &text)
    let post = implicitPost(&text) ?? suffix(postLabels, &text)
    let dev = suffix(devLabels, &text)
    if let pre {
      key.append(pre.rank)
      key.append(number: pre.number)
    } else {
      // A version that is only `.dev` comes before the pre-releases, a plain one after them.
      key.append(post == nil && dev != nil ? 0 : 4)
    }
    key.append(post?.rank ?? 0)
    if let post { key.append(number: post.number) }
    key.append(dev?.rank ?? 1)
    if let dev { key.append(number: dev.number) }
    guard appendLocal(from: &text, to: &key) else { return nil }
    return text.isAtEnd ? key : nil
  }

  /// Appends the release without its last zeros, as 1.0 and 1.0.0 are equal.
  private static func appendRelease(
    from first: ArraySlice<UInt8>,
    _ text: inout VersionText,
    to key: inout VersionKey
  ) {
    var numbers = [first]
    while true {
      var ahead = text
      guard ahead.skip("."), let number = ahead.takeDigits() else { break }
      numbers.append(number)
      text = ahead
    }
    while numbers.last?.allSatisfy({ $0 == UInt8(ascii: "0") }) == true { numbers.removeLast() }
    for number in numbers {
      key.append(1)
      key.append(number: number)
    }
    key.append(0)
  }

  private static func suffix(
    _ labels: Labels,
    _ text: inout VersionText
  ) -> (rank: UInt8, number: ArraySlice<UInt8>)? {
    var ahead = text
    _ = ahead.skip(anyOf: "._-")
    guard let found = labels.first(where: { ahead.skip($0.label) }) else { return nil }
    _ = ahead.skip(anyOf: "._-")
    let number = ahead.takeDigits() ?? []
    text = ahead
    return (found.rank, number)
  }

  /// Takes `-1`, which means `.post1`.
  private static func implicitPost(
    _ text: inout VersionText
  ) -> (rank: UInt8, number: ArraySlice<UInt8>)? {
    var ahead = text
    guard ahead.skip("-"), let number = ahead.takeDigits() else { return nil }
    text = ahead
    return (1, number)
  }

  /// Appends `+local.4`: words come before numbers, and a shorter text before a longer one.
  private static func appendLocal(from text: inout VersionText, to key: inout VersionKey) -> Bool {
    guard text.skip("+") else {
      key.append(0)
      return true
    }
    repeat {
      guard let part = text.take(while: { VersionText.isLetter($0) || ASCII.isDigit($0) })
      else { return false }
      key.append(part: part, numberRank: 2, wordRank: 1)
    } while text.skip(anyOf: "._-")
    key.append(0)
    return true
  }
}
