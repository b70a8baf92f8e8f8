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
    var response: RegistrationResponse
    /// Whether a request to the server is expected.
    var sendsRequest: Bool
    /// `registered` and the token, `denied` or `waiting` and the code.
    var status: String
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
  ) -> RegistrationResponse {
    .granted(
      RegistrationRecord.Grant(
        token: token.map { Secret($0) },
        expires: expires.map { start + .seconds($0) },
        bundleID: bundle,
        since: start
      )
    )
  }

  private static let timeout = RegistrationResponse.failed(
    Failure(.timeout, "it took too long", isTransient: true)
  )
  private static let badJSON = RegistrationResponse.failed(Failure(.badResponse, "no JSON"))

  private static func changed(_ change: (inout RegistrationRule) -> Void) -> RegistrationRule {
    var rule = rule
    change(&rule)
    return rule
  }

  static let stories: [Story] = [
    Story(
      "200 is for good",
      Run(at: 0, response: grant(), sendsRequest: true, status: "registered one"),
      Run(at: 1, response: timeout, sendsRequest: false, status: "registered one"),
      Run(at: 90_000_000, response: timeout, sendsRequest: false, status: "registered one")
    ),
    Story(
      "200 without a token stands for the key",
      Run(at: 0, response: grant(nil), sendsRequest: true, status: "registered key"),
      Run(at: 1, response: grant("two"), sendsRequest: false, status: "registered key")
    ),
    Story(
      "a token that expires is asked for anew",
      Run(at: 0, response: grant(expires: 100), sendsRequest: true, status: "registered one"),
      Run(at: 99, response: timeout, sendsRequest: false, status: "registered one"),
      Run(at: 100, response: grant("two"), sendsRequest: true, status: "registered two")
    ),
    Story(
      "401 is remembered as long as the key is the same",
      Run(
        at: 0,
        response: .status(401, retryAfter: nil),
        sendsRequest: true,
        status: "denied license_refused"
      ),
      Run(at: 1, response: grant(), sendsRequest: false, status: "denied license_refused"),
      Run(at: 90_000_000, response: grant(), sendsRequest: false, status: "denied license_refused")
    ),
    Story(
      "403 as well, also where the machine moves to another network",
      Run(
        at: 0,
        response: .status(403, retryAfter: nil),
        sendsRequest: true,
        status: "denied license_refused"
      ),
      Run(
        at: 1,
        response: grant(),
        sendsRequest: false,
        status: "denied license_refused",
        rule: changed { $0.network = "wlan0 two" }
      )
    ),
    Story(
      "500 is asked again after the pause, and not before",
      Run(
        at: 0,
        response: .status(500, retryAfter: nil),
        sendsRequest: true,
        status: "waiting server_busy"
      ),
      Run(at: 599, response: grant(), sendsRequest: false, status: "waiting server_busy"),
      Run(
        at: 600,
        response: .status(502, retryAfter: nil),
        sendsRequest: true,
        status: "waiting server_busy"
      ),
      Run(at: 1_199, response: grant(), sendsRequest: false, status: "waiting server_busy"),
      Run(at: 1_200, response: grant(), sendsRequest: true, status: "registered one"),
      Run(at: 9_999, response: timeout, sendsRequest: false, status: "registered one")
    ),
    Story(
      "a timeout likewise",
      Run(at: 0, response: timeout, sendsRequest: true, status: "waiting timeout"),
      Run(at: 599, response: grant(), sendsRequest: false, status: "waiting timeout"),
      Run(at: 600, response: grant(), sendsRequest: true, status: "registered one")
    ),
    Story(
      "404 and an answer that cannot be read likewise",
      Run(
        at: 0,
        response: .status(404, retryAfter: nil),
        sendsRequest: true,
        status: "waiting http"
      ),
      Run(at: 1, response: grant(), sendsRequest: false, status: "waiting http"),
      Run(at: 601, response: badJSON, sendsRequest: true, status: "waiting bad_response"),
      Run(at: 602, response: grant(), sendsRequest: false, status: "waiting bad_response")
    ),
    Story(
      "Retry-After makes the pause longer, and a day at most",
      Run(
        at: 0,
        response: .status(503, retryAfter: .seconds(4_000)),
        sendsRequest: true,
        status: "waiting server_busy"
      ),
      Run(at: 3_999, response: grant(), sendsRequest: false, status: "waiting server_busy"),
      Run(
        at: 4_000,
        response: .status(503, retryAfter: .seconds(9_000_000)),
        sendsRequest: true,
        status: "waiting server_busy"
      ),
      Run(at: 90_399, response: grant(), sendsRequest: false, status: "waiting server_busy"),
      Run(at: 90_400, response: grant(), sendsRequest: true, status: "registered one")
    ),
    Story(
      "another network is worth another try",
      Run(at: 0, response: timeout, sendsRequest: true, status: "waiting timeout"),
      Run(
        at: 1,
        response: grant(),
        sendsRequest: true,
        status: "registered one",
        rule: changed { $0.network = "wlan0 two" }
      )
    ),
    Story(
      "a shorter pause in the configuration counts at once",
      Run(at: 0, response: timeout, sendsRequest: true, status: "waiting timeout"),
      Run(
        at: 30,
        response: grant(),
        sendsRequest: true,
        status: "registered one",
        rule: changed { $0.retry = .seconds(30) }
      )
    ),
    Story(
      "a clock that was ahead defers nothing",
      Run(at: 1_000_000, response: timeout, sendsRequest: true, status: "waiting timeout"),
      Run(at: 0, response: grant(), sendsRequest: true, status: "registered one")
    ),
    Story(
      "a renewal that fails leaves nothing once the token has expired",
      Run(at: 0, response: grant(expires: 100), sendsRequest: true, status: "registered one"),
      Run(at: 100, response: timeout, sendsRequest: true, status: "waiting timeout"),
      Run(at: 699, response: grant("two"), sendsRequest: false, status: "waiting timeout"),
      Run(at: 700, response: grant("two"), sendsRequest: true, status: "registered two")
    ),
    Story(
      "a renewal that is refused is the end of it",
      Run(at: 0, response: grant(expires: 100), sendsRequest: true, status: "registered one"),
      Run(
        at: 100,
        response: .status(403, retryAfter: nil),
        sendsRequest: true,
        status: "denied license_refused"
      ),
      Run(at: 9_999, response: grant("two"), sendsRequest: false, status: "denied license_refused")
    ),
    Story(
      "the bundle of the configuration is the right one",
      Run(
        at: 0,
        response: grant(bundle: "org.example.app"),
        sendsRequest: true,
        status: "registered one"
      )
    ),
    Story(
      "another bundle is a refusal until one of the two changes",
      Run(
        at: 0,
        response: grant(bundle: "org.example.other"),
        sendsRequest: true,
        status: "denied bundle_mismatch"
      ),
      Run(at: 9_999, response: grant(), sendsRequest: false, status: "denied bundle_mismatch"),
      Run(
        at: 10_000,
        response: grant("two", bundle: "org.example.other"),
        sendsRequest: true,
        status: "registered two",
        rule: changed { $0.bundleID = "org.example.other" }
      ),
      Run(at: 10_001, response: grant(), sendsRequest: false, status: "denied bundle_mismatch")
    ),
    Story(
      "without a bundle in the configuration any will do",
      Run(
        at: 0,
        response: grant(bundle: "org.example.other"),
        sendsRequest: true,
        status: "registered one",
        rule: changed { $0.bundleID = nil }
      )
    ),
  ]

  @Test("A registration has the expected state over several runs", arguments: stories)
  func story(_ story: Story) {
    var record: RegistrationRecord?
    for run in story.runs {
      let now = Self.start + .seconds(run.at)
      let sendsRequest = run.rule.status(of: record, at: now) == .due
      #expect(sendsRequest == run.sendsRequest, "at \(run.at)")
      if sendsRequest { record = run.rule.nextRecord(for: run.response, after: record, at: now) }
      #expect(Self.words(run.rule.status(of: record, at: now)) == run.status, "at \(run.at)")
    }
  }

  @Test("A registration by hand keeps a valid grant when the server fails")
  func forced() throws {
    let first = Self.rule.nextRecord(for: Self.grant(), after: nil, at: Self.start)
    let later = Self.start + .seconds(5)
    let failed = Self.rule.nextRecord(for: .status(500, retryAfter: nil), after: first, at: later)
    #expect(Self.words(Self.rule.status(of: failed, at: later)) == "registered one")
    let refused = Self.rule.nextRecord(for: .status(403, retryAfter: nil), after: failed, at: later)
    #expect(refused.grant == nil)
    let again = Self.rule.nextRecord(for: Self.grant("two"), after: refused, at: later)
    #expect(Self.words(Self.rule.status(of: again, at: later)) == "registered two")
  }

  private static func words(_ status: RegistrationRule.Status) -> String {
    switch status {
    case .registered(let grant): "registered \(grant.token?.value ?? "key")"
    case .due: "due"
    case .denied(let failure): "denied \(failure.code.rawValue)"
    case .waiting(_, let failure): "waiting \(failure.code.rawValue)"
    }
  }
}
