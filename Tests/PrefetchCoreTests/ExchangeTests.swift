import Testing

@testable import PrefetchCore

@Suite struct ExchangeTests {
  static let now = Instant(seconds: 1_700_000_000)

  static func response(
    _ status: Int,
    _ headers: [HeaderField] = []
  ) -> Result<
    TransferResponse, Failure
  > {
    .success(TransferResponse(status: status, headers: HeaderBlock(headers), body: nil))
  }

  static func redirect(_ target: String, status: Int = 302) -> Result<TransferResponse, Failure> {
    response(status, [HeaderField("Location", target)])
  }

  static func word(_ step: Exchange.Step) -> String {
    switch step {
    case .request: "ask"
    case .wait: "wait"
    case .responded(let response): "answered \(response.status)"
    case .failed(let failure, _): failure.code.rawValue
    case .deferred(let deferral, _): "deferred \(deferral.rule.rawValue)"
    }
  }

  @Test("A request that was taken back counts neither as an attempt nor as a retry")
  func undoRequest() throws {
    var exchange = Exchange(url: try WebURL("https://a.example/"))
    for number in 1...5 {
      _ = exchange.nextRequest(TransferID(number))
      exchange.undoRequest()
    }
    #expect(exchange.attempts == 0)
    #expect(!exchange.isRetry)
    _ = exchange.nextRequest(TransferID(6))
    #expect(exchange.attempts == 1)
    #expect(!exchange.isRetry)
    exchange.dropConditions()
    _ = exchange.nextRequest(TransferID(7))
    exchange.undoRequest()
    _ = exchange.nextRequest(TransferID(8))
    #expect(exchange.attempts == 2)
    #expect(!exchange.isRetry)
  }

  @Test(
    "A busy server with `Retry-After` is requested then, or in a later run",
    arguments: [
      ("1", "wait 1"), ("120", "wait 120"), ("121", "deferred retry_after 121"),
      ("99999999999999999999", "deferred retry_after 86400"), ("0", "wait 0"),
      ("Thu, 01 Jan 1970 00:01:40 GMT", "wait 100"),
      ("Thu, 01 Jan 1970 01:00:00 GMT", "deferred retry_after 3600"),
      ("soon", "wait 0"), ("-1", "wait 0"),
    ]
  )
  func retryAfter(header: String, expected: String) throws {
    var exchange = Exchange(url: try WebURL("https://a.example/x"))
    _ = exchange.nextRequest(TransferID(1))
    let step = exchange.receive(
      Self.response(429, [HeaderField("Retry-After", header)]),
      policy: RunPolicy(),
      now: Instant(milliseconds: 0),
      random: 0
    )
    switch step {
    case .wait(let pause): #expect("wait \(pause.milliseconds / 1000)" == expected)
    case .deferred(let deferral, let status):
      let seconds = try #require(deferral.until).seconds
      #expect("deferred \(deferral.rule.rawValue) \(seconds)" == expected)
      #expect(status == 429)
    case .request, .responded, .failed: Issue.record("\(step)")
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var url = "https://a.example/x"
    var targets: [String]
    var last: String
    var change: @Sendable (inout RunPolicy) -> Void = { _ in }

    var testDescription: String { name }
  }

  static let rows: [Row] = [
    Row(name: "one hop", targets: ["/y"], last: "ask"),
    Row(name: "five hops", targets: ["/1", "/2", "/3", "/4", "/5"], last: "ask"),
    Row(name: "six hops", targets: ["/1", "/2", "/3", "/4", "/5", "/6"], last: "redirect_limit"),
    Row(name: "to itself", targets: ["/x"], last: "redirect_limit"),
    Row(name: "around", targets: ["/1", "/2", "/1"], last: "redirect_limit"),
    Row(name: "no hops", targets: ["/y"], last: "redirect_limit") { $0.redirects.maximum = 0 },
    Row(name: "not followed", targets: ["/y"], last: "redirected") {
      $0.redirects.isFollowing = false
    },
    Row(name: "to another host", targets: ["https://b.example/"], last: "ask"),
    Row(name: "to a forbidden host", targets: ["https://b.example/"], last: "redirect_forbidden") {
      $0.redirects.allowsCrossHost = false
    },
    Row(name: "to another port", targets: ["https://a.example:444/"], last: "ask") {
      $0.redirects.allowsCrossHost = false
    },
    Row(name: "downgrade", targets: ["http://a.example/"], last: "redirect_forbidden") {
      $0.transportSecurity.allowsArbitraryLoads = true
    },
    Row(
      name: "downgrade allowed, http not",
      targets: ["http://a.example/"],
      last: "transport_security"
    ) {
      $0.redirects.allowsDowngrade = true
    },
    Row(name: "downgrade and http allowed", targets: ["http://a.example/"], last: "ask") {
      $0.redirects.allowsDowngrade = true
      $0.transportSecurity.allowsArbitraryLoads = true
    },
    Row(name: "upgrade", url: "http://a.example/", targets: ["https://a.example/"], last: "ask"),
    Row(
      name: "to an unsupported scheme",
      targets: ["file:///etc/passwd"],
      last: "redirect_forbidden"
    ),
    Row(name: "to no host", targets: ["https://"], last: "bad_response"),
    Row(name: "to user-info", targets: ["https://u:p@b.example/"], last: "redirect_forbidden"),
  ]

  @Test("Every hop obeys the whole policy", arguments: rows)
  func redirects(row: Row) throws {
    var policy = RunPolicy()
    row.change(&policy)
    var exchange = Exchange(url: try WebURL(row.url))
    var step = Exchange.Step.request
    for (number, target) in row.targets.enumerated() {
      guard case .request = step else {
        Issue.record("ended before its last hop")
        return
      }
      _ = exchange.nextRequest(TransferID(number))
      step = exchange.receive(Self.redirect(target), policy: policy, now: Self.now, random: 0.5)
    }
    #expect(Self.word(step) == row.last)
  }

  @Test("Headers stay with the first origin and return to it")
  func headerScope() throws {
    let secret = HeaderField("Authorization", "Bearer x")
    var exchange = Exchange(url: try WebURL("https://a.example/"), headers: [secret])
    #expect(exchange.nextRequest(TransferID(1)).headers == [secret])
    #expect(exchange.carriesCredentials)
    for (target, headers) in [
      ("https://a.example/2", [secret]), ("https://a.example:444/", []), ("https://b.example/", []),
      ("https://sub.a.example/", []), ("https://a.example/5", [secret]),
    ] {
      _ = exchange.receive(Self.redirect(target), policy: RunPolicy(), now: Self.now, random: 0)
      #expect(exchange.nextRequest(TransferID(2)).headers == headers)
      #expect(exchange.carriesCredentials == !headers.isEmpty)
    }
  }

  @Test("Validators are sent only to their own URL, both and verbatim")
  func conditions() throws {
    var exchange = Exchange(
      url: try WebURL("https://a.example/"),
      conditions: Validators(entityTag: "W/\"1\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"),
      conditionURL: "https://b.example/final"
    )
    #expect(exchange.nextRequest(TransferID(1)).headers == [])
    #expect(!exchange.isConditional)
    let target = Self.redirect("https://b.example/final", status: 301)
    _ = exchange.receive(target, policy: RunPolicy(), now: Self.now, random: 0)
    #expect(
      exchange.nextRequest(TransferID(2)).headers == [
        HeaderField("If-None-Match", "W/\"1\""),
        HeaderField("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"),
        HeaderField("Cache-Control", "max-age=0"),
      ]
    )
    exchange.dropConditions()
    #expect(
      exchange.nextRequest(TransferID(3)).headers == [HeaderField("Cache-Control", "no-cache")]
    )
  }

  @Test("Three retries follow the first attempt, after random pauses below a doubling limit")
  func retries() throws {
    let busy = Self.response(503)
    for random in [0.0, 0.5, 0.999] {
      var exchange = Exchange(url: try WebURL("https://a.example/"))
      var pauses: [Duration] = []
      var step = Exchange.Step.request
      for attempt in 0..<10 {
        _ = exchange.nextRequest(TransferID(attempt))
        step = exchange.receive(busy, policy: RunPolicy(), now: Self.now, random: random)
        guard case .wait(let pause) = step else { break }
        pauses.append(pause)
      }
      #expect(Self.word(step) == "server_busy")
      #expect(exchange.attempts == 4)
      #expect(pauses == [1, 2, 4].map { Duration.seconds($0) * random })
    }
  }

  @Test("A pause never exceeds its limit, whatever the attempt")
  func ceiling() {
    let policy = RetryPolicy()
    for attempt in [2, 6, 7, 50, 1_000_000] {
      #expect(policy.delay(beforeAttempt: attempt, random: 1) <= policy.maximumDelay)
      #expect(policy.delay(beforeAttempt: attempt, random: 0) == .zero)
    }
  }

  @Test(
    "Temporary statuses are retried, and others are final",
    arguments: [
      (200, "answered 200"), (304, "answered 304"), (404, "answered 404"), (403, "answered 403"),
      (501, "answered 501"), (301, "answered 301"), (408, "wait"), (425, "wait"), (429, "wait"),
      (500, "wait"), (502, "wait"), (503, "wait"), (504, "wait"),
    ]
  )
  func statuses(status: Int, word: String) throws {
    var exchange = Exchange(url: try WebURL("https://a.example/"))
    _ = exchange.nextRequest(TransferID(1))
    let step = exchange.receive(
      Self.response(status),
      policy: RunPolicy(),
      now: Self.now,
      random: 0.5
    )
    #expect(Self.word(step) == word)
  }

  @Test("Only transient failures are retried, and hops cost no attempt")
  func failures() throws {
    var exchange = Exchange(url: try WebURL("https://a.example/"))
    _ = exchange.nextRequest(TransferID(1))
    let certificate = Failure(.certificate, "wrong")
    let final = exchange.receive(
      .failure(certificate),
      policy: RunPolicy(),
      now: Self.now,
      random: 0
    )
    #expect(Self.word(final) == "certificate")

    let reset = Failure(.reset, "reset", isTransient: true)
    var moved = Exchange(url: try WebURL("https://a.example/"))
    for target in ["/1", "/2"] {
      _ = moved.nextRequest(TransferID(2))
      _ = moved.receive(Self.redirect(target), policy: RunPolicy(), now: Self.now, random: 0)
    }
    var tries = 0
    var step = Exchange.Step.wait(.zero)
    while case .wait = step, tries < 10 {
      _ = moved.nextRequest(TransferID(3))
      tries += 1
      step = moved.receive(.failure(reset), policy: RunPolicy(), now: Self.now, random: 0)
    }
    #expect(tries == 4)
  }

  @Test("A digest that was required after the request is not in its response")
  func algorithms() throws {
    var exchange = Exchange(url: try WebURL("https://a.example/"), algorithms: [.md5])
    #expect(exchange.nextRequest(TransferID(1)).algorithms == [.md5])
    exchange.require([.sha512])
    #expect(exchange.computesDigests(for: [.md5]))
    #expect(!exchange.computesDigests(for: [.sha512]))
    #expect(exchange.nextRequest(TransferID(2)).algorithms == [.md5, .sha512])
    #expect(exchange.computesDigests(for: [.sha512]))
  }
}

extension Exchange {
  /// Without figures, kept parts and deadline.
  mutating func receive(
    _ outcome: Result<TransferResponse, Failure>,
    policy: RunPolicy,
    now: Instant,
    random: Double
  ) -> Step {
    receive(
      TransferResult(outcome, figures: TransferFigures()),
      policy: policy,
      now: Moment(wall: now, uptime: .zero),
      deadline: nil,
      random: random
    )
  }
}
