import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite(
  "A redirect",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Nginx.isInstalled && Certificate.isPossible, "needs nginx and openssl")
)
struct RedirectMatrixTests {
  private static let moved = [301, 302, 303, 307, 308]

  @Test(
    "A redirect is followed only where the rules allow, and without secrets",
    .timeLimit(.minutes(10)),
    arguments: RedirectStart.allCases
  )
  func matrix(start: RedirectStart) throws {
    let ground = try RedirectGround(start)
    var count = 0
    for target in RedirectTarget.all {
      count += 1
      let status = Self.moved[count % Self.moved.count]
      let outcome = try ground.play(target.location, status: status, number: count)
      check(outcome, start.isSecure ? target.secure : target.insecure, ground, "\(target.name)")
    }
    // With seven beginnings that is far more than two hundred.
    #expect(count >= 55)
    checkLicense(ground)
  }

  @Test("A redirect has the same effect with each status of redirects", arguments: [false, true])
  func statuses(isLicensed: Bool) throws {
    let ground = try RedirectGround(isLicensed ? .licensed : .item)
    var number = 0
    for status in Self.moved {
      for (location, end) in [
        ("/next", RedirectTarget.End.same), ("http://OTHER/next", .other),
        ("ftp://OTHER/x", .fails("redirect_forbidden")),
      ] {
        number += 1
        let outcome = try ground.play(location, status: status, number: number)
        check(outcome, end, ground, "\(status) to \(location)")
      }
    }
    for (status, location) in [(302, nil), (300, "http://OTHER/x"), (304, "http://OTHER/x")] {
      number += 1
      let outcome = try ground.play(location, status: status, number: number)
      #expect(outcome.status == 4, "\(status)")
      #expect(outcome.otherConnections == 0, "\(status)")
    }
    checkLicense(ground)
  }

  /// Configured rules with the expected outcome of a redirect.
  static let cases: [(RedirectStart, String, String, RedirectTarget.End)] = [
    (.item, "follow: false", "/next", .fails("redirected")),
    (.item, "follow: false", "http://OTHER/x", .fails("redirected")),
    (.item, "cross_host: false", "/next", .same),
    (.item, "cross_host: false", "http://OTHER/x", .other),
    (.item, "cross_host: false", "http://localhost:P2/x", .fails("redirect_forbidden")),
    (.item, "cross_host: false", "https://localhost:PS/x", .fails("redirect_forbidden")),
    (.manifest, "cross_host: false", "http://localhost:P2/x", .fails("redirect_forbidden")),
    (.item, "max: 0", "/next", .fails("redirect_limit")),
    (.item, "max: 1", "/next", .same), (.item, "max: 1", "/hop/5", .fails("redirect_limit")),
    (.secureItem, "downgrade: true", "http://OTHER/x", .other),
    (.secureItem, "downgrade: true", "http://localhost:P1/x", .renamed),
    (.secureItem, "downgrade: true", "http://127.0.0.2:P3/x", .fails("transport_security")),
    (.secureLicensed, "downgrade: true", "http://OTHER/x", .other),
    (.secureLicensed, "downgrade: true", "http://localhost:P1/x", .renamed),
    (.secureManifest, "downgrade: true", "http://OTHER/x", .other),
    (.licensed, "cross_host: false", "http://localhost:P1/x", .fails("redirect_forbidden")),
  ]

  @Test("A redirect obeys the configuration", arguments: cases)
  func rules(
    start: RedirectStart,
    rule: String,
    location: String,
    end: RedirectTarget.End
  ) throws {
    let ground = try RedirectGround(start)
    let outcome = try ground.play(
      location,
      status: 302,
      number: 1,
      rules: "redirects: { \(rule) }"
    )
    check(outcome, end, ground, rule)
    checkLicense(ground)
  }

  @Test("A redirect that is not followed is reported with its target", arguments: ["run", "plan"])
  func unfollowed(command: String) throws {
    let server = try LoopbackServer { request in
      request.path == "/a"
        ? .respond(302, [("Location", "/b?x=1")]) : .respond(200, text: "b")
    }
    let home = try Home(isInMemory: true)
    home.configure(
      """
      cache: { min_free: 0 }
      redirects: { follow: false }
      segments: [{ name: s, urls: ["\(server.address("/a"))"] }]
      """
    )
    let run = try home.run(command, "--json")
    let item = try #require(try run.json().list("items").first, "\(run)")
    #expect(item.text("outcome") == "redirected", "\(run)")
    #expect(item.list("redirects").map { $0.text("status") } == ["302"])
    for address in [item.list("redirects").first?.text("url"), item.text("final_url")] {
      #expect(address?.hasPrefix(server.address("/b")) == true, "\(run)")
    }
    #expect(server.requests.allSatisfy { $0.path == "/a" })
  }

  @Test("A redirect with a line break in its target adds no header")
  func injection() throws {
    let ground = try RedirectGround(.licensed)
    let location = "/next\r\nLocation: http://OTHER/x\r\nX-Evil: yes"
    let outcome = try ground.play(location, status: 302, number: 1)
    // Two different `Location` headers count as none.
    #expect(outcome.otherConnections == 0, "\(outcome.run)")
    #expect(outcome.status != 0 || outcome.first.map(\.path) == ["/start/1", "/next"])
    for (number, location) in ["/next\rX-Evil: yes", "/next\nX-Evil: yes", "/next\u{0}x"]
      .enumerated()
    {
      let outcome = try ground.play(location, status: 302, number: number + 2)
      #expect(outcome.otherConnections == 0)
      #expect(outcome.first.allSatisfy { $0.headers["X-Evil"] == nil }, "\(outcome.run)")
    }
    checkLicense(ground)
  }

  // MARK: What must hold

  private func check(
    _ outcome: RedirectGround.Outcome,
    _ end: RedirectTarget.End,
    _ ground: RedirectGround,
    _ name: String
  ) {
    let start = ground.start
    let message: Comment = "\(start) to \(name): \(outcome.run)"
    switch end {
    case .same, .other, .secure, .renamed:
      #expect(outcome.status == 0, message)
      #expect(outcome.code == nil, message)
    case .fails(let code), .failsAfterRequest(let code):
      let isTrust = ErrorCode(rawValue: code)?.category == .trust
      #expect(outcome.code == code, message)
      #expect(outcome.status == (isTrust ? 5 : 4), message)
      if case .fails = end { #expect(outcome.otherConnections == 0, message) }
    }
    #expect(outcome.first.first?.path.hasPrefix("/start/") == true, message)
    let passes = name == "there and back"
    #expect(outcome.other.isEmpty != (end == .other || passes && !start.isSecure), message)
    #expect(outcome.secure.isEmpty != (end == .secure || passes && start.isSecure), message)
    #expect(outcome.farConnections == 0, message)
    #expect(outcome.far.isEmpty, message)
    for request in outcome.other + outcome.secure { checkStranger(request, message) }
    for (position, request) in outcome.first.enumerated() {
      guard end == .renamed && position > 0 || start == .alternate else {
        checkFriend(request, start, message)
        continue
      }
      checkStranger(request, message)
    }
  }

  /// Checks that the declared origin receives its headers at every hop.
  private func checkFriend(_ request: LoopbackRequest, _ start: RedirectStart, _ message: Comment) {
    #expect(request.headers["X-Key"] == RedirectGround.secrets[2].text, message)
    let expected = start.isLicensed ? "Bearer \(LicenseServer.token)" : nil
    #expect(request.headers["Authorization"] == expected, message)
    #expect(!request.target.contains("#"), message)
    #expect(request.headers["X-Evil"] == nil, message)
  }

  private func checkStranger(_ request: LoopbackRequest, _ message: Comment) {
    for secret in RedirectGround.secrets {
      #expect(secret.found(in: "\(request)") == nil, message)
    }
    for name in ["Authorization", "Cookie", "Referer", "X-Key"] {
      #expect(request.headers[HeaderName(name)] == nil, message)
    }
  }

  /// The key itself is for the endpoint alone.
  private func checkLicense(_ ground: RedirectGround) {
    let key = RedirectGround.secrets[0]
    for server in [ground.first, ground.other, ground.far, ground.secure, ground.lost] {
      for request in server.requests where key.found(in: "\(request)") != nil {
        #expect(request.method == "POST" && request.path == "/license", "\(request)")
        #expect(server === ground.first)
      }
    }
    let registrations = ground.first.requests.filter { $0.method == "POST" }
    #expect(registrations.count == (ground.start.isLicensed ? 1 : 0))
  }
}
