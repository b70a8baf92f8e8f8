import PrefetchCore

/// A simulated URL with its server's behavior, generated from a seed.
struct NightItem {
  enum Kind: String, CaseIterable {
    case redirect
    case language
    case brief
    case latin
    case gzip
    case mute
    case news
    case resumed
    case dated
    case unusable
    case careless
    case granted
    case immutable
    case expiring
    case wildcard
    case aged
  }

  enum Tags: Hashable {
    case none
    case strong
    /// An equal weak tag for every variant.
    case weak
    case latin
    /// nginx's tags: weak where the body may be encoded, strong elsewhere and in every 304.
    case gzip
    /// A tag without quotes.
    case word
    case wrong(String)
  }

  enum Dates: Hashable {
    case none
    case good
    /// A date in the format of C's `asctime`.
    case old
    case wrong(String)
    /// A date that never changes, whatever the body does.
    case fixed
  }

  /// Behavior of 304 responses.
  enum Confirmation: Hashable {
    case whole
    /// A 304 without validators.
    case mute
    /// A 304 for an equal date, even if the tag differs.
    case careless
  }

  /// Freshness headers of a response.
  struct Control: Hashable {
    var directives: String?
    /// Seconds from `Date` to `Expires`.
    var expiresAfter: Int?
    var expires: String?

    init(_ directives: String?, expiresAfter: Int? = nil, expires: String? = nil) {
      self.directives = directives
      self.expiresAfter = expiresAfter
      self.expires = expires
    }
  }

  struct Hop: Hashable {
    var status: Int
    var control: Control
    var age: String?
    var varies = false
  }

  /// Freshness that the declaration grants.
  enum Grant: Hashable {
    case nothing
    case seconds(Int64)
    case always
  }

  let number: Int
  let kind: Kind
  let name: String
  var grant = Grant.nothing
  var tags = Tags.strong
  var dates = Dates.good
  /// Freshness headers of each night; equal except for items of the kind `news`.
  var controls: [Control] = []
  var vary: String?
  var hops: [Hop] = []
  var isTargetElsewhere = false
  var confirmation = Confirmation.whole
  var age: String?
  /// Error of the server's clock in seconds.
  var skew: Int64 = 0
  var hasDate = true
  /// Percentage of responses with a body that break off.
  var cutChance = 0
  /// Whether a 206 has no headers but its range.
  var hasBareRanges = false
  var changeChance = 30
  /// First night in which the server sends tags.
  var firstTaggedNight = 0

  static let host = "https://origin.example/"
  static let nightCount = 10

  var address: String { Self.host + name }

  /// Whether each version of the body is transferred only once in all, even if in parts.
  ///
  /// That holds when nothing but a new version changes the body, and validators identify the
  /// version.
  var movesOnce: Bool {
    let isOne = (vary ?? "Accept-Encoding") == "Accept-Encoding" && hops.isEmpty
    guard isOne, confirmation != .careless else { return false }
    switch tags {
    case .strong, .latin: return true
    case .weak, .gzip, .word: return cutChance == 0
    case .none, .wrong: return cutChance == 0 && [.good, .old].contains(dates)
    }
  }
}

// MARK: - From a seed

extension NightItem {
  init(_ number: Int, _ kind: Kind, seed: Int) {
    var dice = Dice(seed, number, 1)
    self.number = number
    self.kind = kind
    name = "\(number)-\(kind.rawValue)"
    let usual = dice.pick(Self.usualControls)
    var control = dice.happens(25) ? Control(nil) : usual
    if dice.happens(20) { grant = .seconds(Int64(dice.number(1...60)) * 3_600) }
    if dice.happens(10) { cutChance = 30 }
    if dice.happens(10) { confirmation = .mute }
    if dice.happens(10) { age = dice.pick(Self.ages) }
    if dice.happens(10) { skew = Int64(dice.pick([-20_000, -3_600, -5, 5, 3_600])) }
    if dice.happens(8) { hasDate = false }
    if dice.happens(20) { dates = dice.pick([.none, .old]) }
    if dice.happens(10) { tags = dice.pick([.word, .weak]) }
    if dice.happens(10) { hops = [Self.hop(&dice)] }
    hasBareRanges = dice.happens(50)
    specialise(&control, &dice)
    // No document defines how `ttl` combines with an unreadable lifetime.
    if case .seconds = grant, Self.oddControls.contains(control) { grant = .nothing }
    controls = Array(repeating: control, count: Self.nightCount)
    guard kind == .news else { return }
    controls = controls.map { _ in dice.pick(Self.usualControls) }
  }

  private mutating func specialise(_ control: inout Control, _ dice: inout Dice) {
    switch kind {
    case .redirect:
      hops = (0...dice.number(0...1)).map { _ in Self.hop(&dice) }
      isTargetElsewhere = dice.happens(40)
      tags = dice.happens(70) ? .strong : .none
      if dice.happens(70) { control = Control("max-age=31536000, immutable") }
    case .language:
      vary = dice.pick(["Accept-Language", "accept-encoding, accept-language", "X-Channel"])
      tags = dice.pick([.strong, .strong, .weak, .none])
    case .brief:
      control = Control("max-age=1, immutable")
    case .latin:
      tags = .latin
    case .gzip:
      tags = .gzip
      vary = "Accept-Encoding"
    case .mute:
      confirmation = .mute
    case .news:
      confirmation = .whole
    case .resumed:
      cutChance = 60
      tags = dice.pick([.strong, .strong, .strong, .latin, .gzip, .none])
      if tags == .none { (dates, hasDate) = (.good, true) }
      if dice.happens(30) { vary = "Accept-Language" }
    case .dated:
      tags = .none
      dates = dice.pick([.good, .old])
      if dice.happens(50) { control = Control(nil) }
    case .unusable:
      tags = .wrong(dice.pick(["*", "\"a\", \"b\"", "\"open", "W/\"open", "shut\"", "W/*"]))
      dates = dice.pick([.good, .none, .wrong("yesterday"), .wrong("0")])
      if dice.happens(50) { control = Control(nil) }
    case .careless:
      confirmation = .careless
      cutChance = 0
      dates = .fixed
      tags = .strong
      if dice.happens(40) { firstTaggedNight = dice.number(1...8) }
      if dice.happens(50) { control = Control(nil) }
    case .granted:
      grant = .seconds(Int64(dice.number(1...80)) * 3_600)
      if dice.happens(50) { control = Control(nil) }
    case .immutable:
      grant = .always
      if dice.happens(50) { vary = "Accept-Language" }
      tags = dice.happens(80) ? .strong : .weak
    case .expiring:
      control = dice.pick(Self.datedControls + Self.oddControls)
      if dice.happens(30) { skew = Int64(dice.number(-40_000...40_000)) }
    case .wildcard:
      vary = dice.pick(["*", "Accept-Language, *"])
      tags = .strong
    case .aged:
      age = dice.pick(Self.ages)
      control = dice.pick(Self.usualControls)
    }
  }

  private static func hop(_ dice: inout Dice) -> Hop {
    let status = dice.pick([301, 302, 303, 307, 308])
    var hop = Hop(status: status, control: dice.pick(hopControls))
    if dice.happens(10) { hop.age = dice.pick(ages) }
    hop.varies = dice.happens(15)
    return hop
  }

  private static let ages = ["30", "3000", "86000", "0", "4000, 5", "5, 90000", "soon"]

  private static let hopControls = [
    Control(nil), Control(nil), Control("max-age=3600"), Control("max-age=31536000"),
    Control("no-cache"), Control("no-store"), Control("max-age=200000, immutable"),
    Control(nil, expiresAfter: 100_000), Control("max-age=31536000, immutable"),
  ]

  private static let datedControls = [
    Control(nil, expiresAfter: 50_000), Control(nil, expiresAfter: 300_000),
    Control(nil, expiresAfter: 0), Control("max-age=3600", expiresAfter: 900_000),
    Control("max-age=90000", expires: "0"), Control("public", expiresAfter: 100_000),
    Control(nil, expires: "0"), Control(nil, expires: "-1"), Control(nil, expires: "tomorrow"),
  ]

  private static let oddControls = [
    Control("max-age=3 600"), Control("max-age=-1"), Control("max-age=soon"), Control("max-age"),
  ]

  private static let usualControls =
    datedControls + [
      Control("max-age=3600"), Control("max-age=40000"), Control("public, max-age=90000"),
      Control("Max-Age=\"200000\""), Control("max-age=31536000, immutable"),
      Control("max-age=200000, must-revalidate"), Control("no-cache"), Control("max-age=0"),
      Control("no-store, max-age=90000"), Control("private, max-age=150000"),
      Control("ext=\"no-store, max-age=5\", max-age=100000"),
      Control("ext=\"a\\\", max-age=400000\", max-age=7200"), Control("s-maxage=400000"),
      Control("max-age=60000, stale-while-revalidate=900000"), Control("immutable"),
    ]
}

extension NightItem: CustomStringConvertible {
  /// Unusual properties of the item.
  var description: String {
    var words = ["grants \(grant)", "tags \(tags)", "dates \(dates)", "304s \(confirmation)"]
    if let vary { words.append("Vary \(vary)") }
    words += hops.map { "\($0.status) \($0.control)" }
    if skew != 0 { words.append("clock off by \(skew) s") }
    if firstTaggedNight > 0 { words.append("tags from night \(firstTaggedNight)") }
    return words.joined(separator: ", ")
  }
}

extension NightItem.Control: CustomStringConvertible {
  var description: String {
    let expiry = expires.map { "Expires: \($0)" } ?? expiresAfter.map { "expires after \($0) s" }
    let words = [directives, expiry].compactMap(\.self)
    return words.isEmpty ? "nothing said" : words.joined(separator: ", ")
  }
}
