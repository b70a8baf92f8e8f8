/// What must come of one run: how the item ends, what is stored then, and what the server has seen.
struct Visit: Sendable {
  /// An outcome, an error's code or the rule of a deferral.
  ///
  /// `kept` is an item that no server was asked about, `refetched` one whose lost body came again,
  /// `settled` one that is as it was, its headers apart.
  var word: String
  var exit: Int32
  /// The name of the body that is stored afterwards; nil where nothing is.
  var body: String?
  /// Each request as the origin's log has it; several that are equally good have ` or ` between
  /// them.
  var asks: [String]
  /// What a plan may say of the item beforehand, where that does not follow from the word.
  var plans: [String]
  /// What a plan asks, where that is not the same with HEAD.
  var probes: [String]?

  /// As `updated 0 two`: word, exit status and body, `-` where none is stored.
  init(_ text: String, _ asks: String..., plans: String? = nil, probes: [String]? = nil) {
    let parts = text.split(separator: " ").map { String($0) }
    word = parts[0]
    exit = Int32(parts[1]) ?? -1
    body = parts[2] == "-" ? nil : parts[2]
    self.asks = asks
    self.plans =
      plans.map { $0.split(separator: "|").map { String($0) } } ?? Self.plans(parts[0])
    self.probes = probes
  }

  var outcomes: [String] {
    switch word {
    case "kept": ["unchanged"]
    case "refetched": ["added", "updated", "headers", "unchanged"]
    case "settled": ["headers", "unchanged"]
    default: [word]
    }
  }

  var isKept: Bool {
    word == "kept"
  }

  /// True where the body comes although the item had one, or has none yet.
  var isFetched: Bool {
    word == "added" || word == "refetched"
  }

  /// True where the item ends in trouble.
  var hasFailed: Bool {
    exit != 0
  }

  private static func plans(_ word: String) -> [String] {
    switch word {
    case "added", "refetched": ["fetch"]
    case "updated": ["update"]
    case "kept", "unchanged": ["keep"]
    case "headers", "settled", "stale": ["keep", "revalidate"]
    case "retry_after": ["defer"]
    default: ["fail"]
    }
  }
}
