import PrefetchCore
import PrefetchTestSupport
import Testing

/// Generated configurations and URLs, small enough that they meet often.
@Suite struct SecurityModelTests {
  struct Dice {
    var state: UInt64

    mutating func roll(_ sides: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(sides))
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
      elements[roll(elements.count)]
    }

    mutating func isOne(in sides: Int) -> Bool {
      roll(sides) == 0
    }
  }

  /// Host names as typed in a URL and in their ASCII form.
  static let words = [
    ("a", "a"), ("B", "b"), ("c", "c"), ("local", "local"), ("bücher", "xn--bcher-kva"),
    ("xn--bcher-kva", "xn--bcher-kva"), ("example", "example"),
  ]
  static let now = TransportSecurityTable.now

  static func bits(_ value: UInt64, _ width: Int) -> String {
    String((0..<width).map { value >> UInt64(width - 1 - $0) & 1 == 1 ? "1" : "0" })
  }

  static func host(_ dice: inout Dice) -> (text: String, SecurityModel.Host) {
    switch dice.roll(5) {
    case 0:
      // 10.0.0.0 … 10.1.1.3 and 20.0.0.0 …
      let bytes = [dice.pick([10, 20]), dice.roll(2), dice.roll(2), dice.roll(4)]
      let value = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let text = bytes.map { "\($0)" }.joined(separator: ".")
      let host = SecurityModel.Host(bits: bits(value, 32), isInside: bytes[0] == 10)
      return (dice.isOne(in: 4) ? "[::ffff:\(text)]" : text, host)
    case 1:
      let (first, last) = (dice.pick([0xFD00, 0x2001]), dice.roll(4))
      let host = SecurityModel.Host(
        bits: bits(UInt64(first), 16) + bits(0, 64) + bits(UInt64(last), 48),
        isVersion6: true,
        isInside: first == 0xFD00
      )
      let spelled = "\(String(first, radix: 16))::\(last)"
      return ("[\(dice.isOne(in: 2) ? spelled.uppercased() : spelled)]", host)
    default:
      let labels = (0...dice.roll(4)).map { _ in dice.pick(words) }
      let hasDot = dice.isOne(in: 6)
      let text = labels.map(\.0).joined(separator: ".") + (hasDot ? "." : "")
      return (
        text, SecurityModel.Host(labels: labels.reversed().map(\.1), hasFinalDot: hasDot)
      )
    }
  }

  static func entry(_ dice: inout Dice) -> SecurityModel.Entry {
    var entry = SecurityModel.Entry(
      key: .name([]),
      text: "",
      isForSubdomains: dice.isOne(in: 2),
      opensHTTP: dice.isOne(in: 2),
      version: dice.pick([10, 11, 12, 12, 13]),
      isSecret: !dice.isOne(in: 3),
      isOver: dice.isOne(in: 5)
    )
    switch dice.roll(4) {
    case 0:
      let length = dice.pick([0, 8, 15, 16, 24, 31, 32])
      let bytes = [dice.pick([10, 20]), dice.roll(2), dice.roll(2), dice.roll(4)]
      let value = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let kept = length == 0 ? 0 : (value >> UInt64(32 - length)) << UInt64(32 - length)
      entry.key = .bits(String(bits(kept, 32).prefix(length)), isVersion6: false)
      let text = [24, 16, 8, 0].map { "\(kept >> UInt64($0) & 255)" }.joined(separator: ".")
      entry.text = length == 32 ? text : "\(text)/\(length)"
    case 1:
      let first = dice.pick([0xFD00, 0x2001])
      entry.key = .bits(bits(UInt64(first), 16), isVersion6: true)
      entry.text = "\(String(first, radix: 16))::/16"
    default:
      let labels = (0...dice.roll(3)).map { _ in dice.pick(words).1 }
      entry.key = .name(labels.reversed())
      entry.text = labels.joined(separator: ".")
    }
    return entry
  }

  static func model(_ dice: inout Dice) -> SecurityModel {
    var model = SecurityModel()
    for _ in 0..<dice.roll(7) {
      let entry = entry(&dice)
      if !model.entries.contains(where: { $0.key == entry.key }) { model.entries.append(entry) }
    }
    let maybe: [Bool?] = [nil, nil, nil, true, false]
    model.arbitrary = dice.isOne(in: 3)
    model.media = dice.pick(maybe)
    model.web = dice.pick(maybe)
    model.local = dice.pick(maybe)
    model.general = dice.pick([12, 12, 13])
    return model
  }

  static let versions: [Int: ConnectionRules.MinimumTLS] = [
    10: .tls10, 11: .tls11, 12: .tls12, 13: .tls13,
  ]

  static func security(_ model: SecurityModel) throws -> TransportSecurity {
    var security = TransportSecurity()
    security.allowsArbitraryLoads = model.arbitrary
    security.allowsArbitraryLoadsForMedia = model.media
    security.allowsArbitraryLoadsInWebContent = model.web
    security.allowsLocalNetworking = model.local
    for entry in model.entries {
      security.exceptions[entry.text] = TransportSecurity.Exception(
        includesSubdomains: entry.isForSubdomains,
        allowsInsecureHTTP: entry.opensHTTP,
        minimumTLS: try #require(versions[entry.version]),
        requiresForwardSecrecy: entry.isSecret,
        expires: entry.isOver ? now : nil
      )
    }
    return security
  }

  @Test("Five thousand generated rules and URLs are judged as by a second model")
  func secondOpinion() throws {
    var dice = Dice(state: 4)
    var tally: [String: Int] = [:]
    for round in 0..<5000 {
      let model = Self.model(&dice)
      let security = try Self.security(model)
      let (text, host) = Self.host(&dice)
      let purpose = dice.pick([RequestPurpose.other, .media, .page, .manifest])
      let expected = model.verdict(
        about: host,
        isMedia: purpose == .media,
        isPage: purpose == .page
      )
      let port = dice.isOne(in: 3) ? ":8080" : ""
      let url = try WebURL("http://\(text)\(port)/x")
      let decision = security.decide(url, for: purpose, at: Self.now)
      let basis = security.basis(of: url, for: purpose, at: Self.now)
      let isAllowed = if case .allowed = decision { true } else { false }
      let general = try #require(Self.versions[model.general])
      let minimum = basis.minimumTLS(forAll: general)
      let actual = SecurityModel.Verdict(
        mayBePlainHTTP: isAllowed,
        entry: basis.entry,
        version: try #require(Self.versions.first { $0.value == minimum }).key,
        isSecret: basis.requiresForwardSecrecy
      )
      #expect(actual == expected, "round \(round): \(url.string) under \(model)")
      guard actual == expected else { return }
      tally[String((expected.entry ?? "none").prefix { $0 != "." }), default: 0] += 1
    }
    // Every kind of entry has to have decided often.
    for exception in [
      "none", "NSExceptionDomains", "NSAllowsLocalNetworking", "NSAllowsArbitraryLoads",
      "NSAllowsArbitraryLoadsForMedia", "NSAllowsArbitraryLoadsInWebContent",
    ] {
      #expect(tally[exception, default: 0] >= 50, "\(exception)")
    }
  }
}
