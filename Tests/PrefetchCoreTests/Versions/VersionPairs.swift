import PrefetchTestSupport

/// Generator of pairs of versions, most of them near to each other.
struct VersionPairs {
  private var random: SeededRandom
  private let grammar: Grammar

  enum Grammar: Sendable {
    case python
    case semver
    case debian
    case natural
  }

  init(_ grammar: Grammar, seed: UInt64) {
    self.grammar = grammar
    random = SeededRandom(seed)
  }

  mutating func next() -> (a: String, b: String) {
    let a = text()
    var b = random.happens(35) ? text() : a
    for _ in 0..<Int.random(in: 0...3, using: &random) where random.happens(70) { b = mutated(b) }
    return (a, b)
  }

  private static let alphabet = Array("0123456789019abrcdevpostAZ.-_+~:!v")

  private static let realistic: [String] = [
    "1.0", "1.0.0", "1.10", "1.9", "2024a", "2024.1", "24.04", "24.04.1", "6.8-rc1", "6.8", "6.8.1",
    "1.2.3-beta.11", "1.2.3-beta.2", "1.2.3+build.5", "1.0~rc1-1", "1.0-1", "1:1.0-1+deb12u1",
    "1.0-1+b2", "2.36-9+deb12u7", "0.0.0-20240101120000-abcdef123456", "12.5.0", "1.1.1w", "9.7p1",
    "20240507-1740", "2024-01", "2024-05-07", "3.13.0rc2", "3.13.0a6", "1!2.0", "2.0.post1",
    "2.0.dev3", "2.0+local.1", "v20.13.1", "7.0.18-162988", "8u412b08", "1.2.3-alpha", "1.2.3",
    "2:8.2.2434-3+deb11u1", "1.0.0-rc.1+build.1", "5.15.0-105.115~20.04.1", "0.99~beta10+dfsg-1",
  ]

  private mutating func text() -> String {
    if random.happens(15), let text = Self.realistic.randomElement(using: &random) { return text }
    if random.happens(8) { return noise() }
    switch grammar {
    case .python: return python()
    case .semver: return semver()
    case .debian: return debian()
    case .natural: return noise()
    }
  }

  private mutating func noise() -> String {
    String((0..<Int.random(in: 1...8, using: &random)).map { _ in pick(Self.alphabet) })
  }

  private mutating func python() -> String {
    var text = random.happens(10) ? pick(["v", "V"]) : ""
    if random.happens(10) { text += number() + "!" }
    text += numbers(upTo: 4)
    if random.happens(40) {
      text += separator() + label(["a", "b", "c", "rc", "alpha", "beta", "pre", "preview"])
      if random.happens(80) { text += separator() + number() }
    }
    if random.happens(25) {
      text += random.happens(30) ? "-" + number() : separator() + label(["post", "rev", "r"])
      if random.happens(70) { text += separator() + number() }
    }
    if random.happens(25) {
      text += separator() + label(["dev"])
      if random.happens(70) { text += separator() + number() }
    }
    if random.happens(20) { text += "+" + identifiers(separators: [".", "-", "_"]) }
    return text
  }

  private mutating func semver() -> String {
    var text = random.happens(10) ? "v" : ""
    text += "\(number()).\(number()).\(number())"
    if random.happens(50) { text += "-" + identifiers(separators: ["."]) }
    if random.happens(20) { text += "+" + identifiers(separators: ["."]) }
    return text
  }

  private mutating func debian() -> String {
    var text = random.happens(15) ? number(mayBeHuge: false) + ":" : ""
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      text += number() + pick(["", ".", "~", "+", "a", "rc", "Z", "~~", ".", "-", "+dfsg", "~rc"])
    }
    if random.happens(50) { text += "-" + number() }
    if random.happens(20) { text += pick(["+deb12u", "~bpo", "ubuntu", "+b"]) + number() }
    return text
  }

  private mutating func mutated(_ text: String) -> String {
    var characters = Array(text)
    let position = Int.random(in: 0...characters.count, using: &random)
    switch Int.random(in: 0..<5, using: &random) {
    case 0: characters.insert(pick(Self.alphabet), at: position)
    case 1 where position < characters.count: characters[position] = pick(Self.alphabet)
    case 2 where position < characters.count && characters.count > 1:
      characters.remove(at: position)
    case 3: characters += Array(pick([".0", "0", "-1", "~", "+1", "rc1", ".dev0", ".post"]))
    default: characters.insert("0", at: position)
    }
    return String(characters)
  }

  private mutating func numbers(upTo most: Int) -> String {
    (0..<Int.random(in: 1...most, using: &random)).map { _ in number() }.joined(separator: ".")
  }

  private mutating func number(mayBeHuge: Bool = true) -> String {
    switch Int.random(in: 0..<20, using: &random) {
    case 0 where mayBeHuge:
      return "1"
        + String(repeating: pick(["0", "9"]), count: Int.random(in: 15...320, using: &random))
    case 1: return "0" + String(Int.random(in: 0...3, using: &random))
    case 2: return String(Int.random(in: 0...99_999_999, using: &random))
    default: return String(Int.random(in: 0...11, using: &random))
    }
  }

  private mutating func identifiers(separators: [String]) -> String {
    var text = ""
    for index in 0..<Int.random(in: 1...3, using: &random) {
      if index > 0 { text += pick(separators) }
      text +=
        random.happens(50) ? number() : pick(["a", "alpha", "beta", "rc", "x1", "1x", "A", "ab"])
    }
    return text
  }

  private mutating func separator() -> String {
    random.happens(50) ? "" : pick([".", "-", "_"])
  }

  private mutating func label(_ labels: [String]) -> String {
    let label = pick(labels)
    return random.happens(15) ? label.uppercased() : label
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &random)]
  }
}
