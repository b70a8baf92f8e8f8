import PrefetchCore
import Testing

@Suite("The registration of a license")
struct RegistrationTests {
  private static let start = Instant(seconds: 1_800_000_000)
  private static let rule = RegistrationRule(
    retry: .seconds(600),
    bundleID: "org.example.app",
    network: "eth0 one"
  )

  /// A run of a scenario: the server's response and the expected outcome.
  struct Run: Sendable {
    /// Seconds since the first run.
    var at: Int64
    var answer: RegistrationAnswer
    /// Whether a request to the server is expected.
    var asks: Bool
    /// `registered` and the token, `denied` or `waiting` and the code.
    var standing: String
    var rule = RegistrationTests.rule
  }

  struct Story: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var runs: [Run]

    init(_ description: String, _ runs: Run...) {
      testDescription = description
      self.runs = runs
    }
  }

  private static func grant(
    _ token: String? = "one",
    expires: Int64? = nil,
    bundle: String? = nil
  ) -> RegistrationAnswer {
    .granted(
      RegistrationRecord.Grant(
        token: token.map { Secret($0) },
        expires: expires.map { start + .seconds($0) },
        bundleID: bundle,
        since: start
      )
    )
  }

  private static let timeout = RegistrationAnswer.failed(
    Failure(.timeout, "it took too long", isTransient: true)
  )
  private static let badJSON = RegistrationAnswer.failed(Failure(.badResponse, "no JSON"))

  private static func changed(_ change: (inout RegistrationRule) -> Void) -> RegistrationRule {
    var rule = rule
    change(&rule)
    return rule
  }

  static let stories: [Story] = [
    Story(
      "200 is for good",
      Run(at: 0, answer: grant(), asks: true, standing: "registered one"),
      Run(at: 1, answer: timeout, asks: false, standing: "registered one"),
      Run(at: 90_000_000, answer: timeout, asks: false, standing: "registered one")
    ),
    Story(
      "200 without a token stands for the key",
      Run(at: 0, answer: grant(nil), asks: true, standing: "registered key"),
      Run(at: 1, answer: grant("two"), asks: false, standing: "registered key")
    ),
    Story(
      "a token that expires is asked for anew",
      Run(at: 0, answer: grant(expires: 100), asks: true, standing: "registered one"),
      Run(at: 99, answer: timeout, asks: false, standing: "registered one"),
      Run(at: 100, answer: grant("two"), asks: true, standing: "registered two")
    ),
    Story(
      "401 is remembered as long as the key is the same",
      Run(
        at: 0,
        answer: .status(401, retryAfter: nil),
        asks: true,
        standing: "denied license_refused"
      ),
      Run(at: 1, answer: grant(), asks: false, standing: "denied license_refused"),
      Run(at: 90_000_000, answer: grant(), asks: false, standing: "denied license_refused")
    ),
    Story(
      "403 as well, also where the machine moves to another network",
      Run(
        at: 0,
        answer: .status(403, retryAfter: nil),
        asks: true,
        standing: "denied license_refused"
      ),
      Run(
        at: 1,
        answer: grant(),
        asks: false,
        standing: "denied license_refused",
        rule: changed { $0.network = "wlan0 two" }
      )
    ),
    Story(
      "500 is asked again after the pause, and not before",
      Run(
        at: 0,
        answer: .status(500, retryAfter: nil),
        asks: true,
        standing: "waiting server_busy"
      ),
      Run(at: 599, answer: grant(), asks: false, standing: "waiting server_busy"),
      Run(
        at: 600,
        answer: .status(502, retryAfter: nil),
        asks: true,
        standing: "waiting server_busy"
      ),
      Run(at: 1_199, answer: grant(), asks: false, standing: "waiting server_busy"),
      Run(at: 1_200, answer: grant(), asks: true, standing: "registered one"),
      Run(at: 9_999, answer: timeout, asks: false, standing: "registered one")
    ),
    Story(
      "a timeout likewise",
      Run(at: 0, answer: timeout, asks: true, standing: "waiting timeout"),
      Run(at: 599, answer: grant(), asks: false, standing: "waiting timeout"),
      Run(at: 600, answer: grant(), asks: true, standing: "registered one")
    ),
    Story(
      "404 and an answer that cannot be read likewise",
      Run(at: 0, answer: .status(404, retryAfter: nil), asks: true, standing: "waiting http"),
      Run(at: 1, answer: grant(), asks: false, standing: "waiting http"),
      Run(at: 601, answer: badJSON, asks: true, standing: "waiting bad_response"),
      Run(at: 602, answer: grant(), asks: false, standing: "waiting bad_response")
    ),
    Story(
      "Retry-After makes the pause longer, and a day at most",
      Run(
        at: 0,
        answer: .status(503, retryAfter: .seconds(4_000)),
        asks: true,
        standing: "waiting server_busy"
      ),
      Run(at: 3_999, answer: grant(), asks: false, standing: "waiting server_busy"),
      Run(
        at: 4_000,
        answer: .status(503, retryAfter: .seconds(9_000_000)),
        asks: true,
        standing: "waiting server_busy"
      ),
      Run(at: 90_399, answer: grant(), asks: false, standing: "waiting server_busy"),
      Run(at: 90_400, answer: grant(), asks: true, standing: "registered one")
    ),
    Story(
      "another network is worth another try",
      Run(at: 0, answer: timeout, asks: true, standing: "waiting timeout"),
      Run(
        at: 1,
        answer: grant(),
        asks: true,
        standing: "registered one",
        rule: changed { $0.network = "wlan0 two" }
      )
    ),
    Story(
      "a shorter pause in the configuration counts at once",
      Run(at: 0, answer: timeout, asks: true, standing: "waiting timeout"),
      Run(
        at: 30,
        answer: grant(),
        asks: true,
        standing: "registered one",
        rule: changed { $0.retry = .seconds(30) }
      )
    ),
    Story(
      "a clock that was ahead holds nobody back",
      Run(at: 1_000_000, answer: timeout, asks: true, standing: "waiting timeout"),
      Run(at: 0, answer: grant(), asks: true, standing: "registered one")
    ),
    Story(
      "a renewal that fails leaves nothing once the token has expired",
      Run(at: 0, answer: grant(expires: 100), asks: true, standing: "registered one"),
      Run(at: 100, answer: timeout, asks: true, standing: "waiting timeout"),
      Run(at: 699, answer: grant("two"), asks: false, standing: "waiting timeout"),
      Run(at: 700, answer: grant("two"), asks: true, standing: "registered two")
    ),
    Story(
      "a renewal that is refused is the end of it",
      Run(at: 0, answer: grant(expires: 100), asks: true, standing: "registered one"),
      Run(
        at: 100,
        answer: .status(403, retryAfter: nil),
        asks: true,
        standing: "denied license_refused"
      ),
      Run(at: 9_999, answer: grant("two"), asks: false, standing: "denied license_refused")
    ),
    Story(
      "the bundle of the configuration is the right one",
      Run(at: 0, answer: grant(bundle: "org.example.app"), asks: true, standing: "registered one")
    ),
    Story(
      "another bundle is a refusal until one of the two changes",
      Run(
        at: 0,
        answer: grant(bundle: "org.example.other"),
        asks: true,
        standing: "denied bundle_mismatch"
      ),
      Run(at: 9_999, answer: grant(), asks: false, standing: "denied bundle_mismatch"),
      Run(
        at: 10_000,
        answer: grant("two", bundle: "org.example.other"),
        asks: true,
        standing: "registered two",
        rule: changed { $0.bundleID = "org.example.other" }
      ),
      Run(at: 10_001, answer: grant(), asks: false, standing: "denied bundle_mismatch")
    ),
    Story(
      "without a bundle in the configuration any will do",
      Run(
        at: 0,
        answer: grant(bundle: "org.example.other"),
        asks: true,
        standing: "registered one",
        rule: changed { $0.bundleID = nil }
      )
    ),
  ]

  @Test("A registration has the expected state over several runs", arguments: stories)
  func story(_ story: Story) {
    var record: RegistrationRecord?
    for run in story.runs {
      let now = Self.start + .seconds(run.at)
      let asks = run.rule.standing(record, at: now) == .due
      #expect(asks == run.asks, "at \(run.at)")
      if asks { record = run.rule.noting(run.answer, after: record, at: now) }
      #expect(Self.words(run.rule.standing(record, at: now)) == run.standing, "at \(run.at)")
    }
  }

  @Test("A registration by hand keeps a valid grant when the server fails")
  func forced() throws {
    let first = Self.rule.noting(Self.grant(), after: nil, at: Self.start)
    let later = Self.start + .seconds(5)
    let failed = Self.rule.noting(.status(500, retryAfter: nil), after: first, at: later)
    #expect(Self.words(Self.rule.standing(failed, at: later)) == "registered one")
    let refused = Self.rule.noting(.status(403, retryAfter: nil), after: failed, at: later)
    #expect(refused.grant == nil)
    let again = Self.rule.noting(Self.grant("two"), after: refused, at: later)
    #expect(Self.words(Self.rule.standing(again, at: later)) == "registered two")
  }

  private static func words(_ standing: RegistrationRule.Standing) -> String {
    switch standing {
    case .registered(let grant): "registered \(grant.token?.value ?? "key")"
    case .due: "due"
    case .denied(let failure): "denied \(failure.code.rawValue)"
    case .waiting(_, let failure): "waiting \(failure.code.rawValue)"
    }
  }
}
