/// Expected outcome of a run: the item's outcome, the stored body and the requests.
struct ExpectedRun: Sendable {
  /// Outcome, error code or deferral rule.
  ///
  /// `kept` is an item without any request, `refetched` one whose lost body was fetched again,
  /// `settled` one that is unchanged except for its headers.
  var word: String
  var exit: Int32
  /// The name of the body that is stored afterwards; nil where nothing is.
  var body: String?
  /// Requests in the form of the origin's log; alternatives are separated by ` or `.
  var requests: [String]
  /// Outcomes that a plan may predict, when they do not follow from `word`.
  var plans: [String]
  /// Requests of a plan, when they are not the run's requests with HEAD.
  var probes: [String]?

  /// Parses `updated 0 two`: word, exit status and stored body, `-` for none.
  init(_ text: String, _ requests: String..., plans: String? = nil, probes: [String]? = nil) {
    let parts = text.split(separator: " ").map { String($0) }
    word = parts[0]
    exit = Int32(parts[1]) ?? -1
    body = parts[2] == "-" ? nil : parts[2]
    self.requests = requests
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

  /// Whether the body is fetched although the item had one, or for the first time.
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
