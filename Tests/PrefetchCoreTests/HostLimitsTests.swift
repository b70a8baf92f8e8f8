import Testing

@testable import PrefetchCore

@Suite struct HostLimitsTests {
  static let a = HostID(0)
  static let b = HostID(1)

  static func moment(_ seconds: Int64) -> Moment {
    Moment(wall: Instant(seconds: 1_700_000_000 + seconds), uptime: .seconds(100 + seconds))
  }

  static func limits(deadline: Int64? = nil, remembered: [HostLimits.Gate] = []) -> HostLimits {
    HostLimits(
      retries: RetryPolicy(),
      deadline: deadline.map { .seconds(100 + $0) },
      remembered: remembered,
      now: moment(0)
    )
  }

  static let reset = Failure(.reset, "reset", isTransient: true)

  /// `open`, `wait 120`, `retry_after 500`, `connect`: seconds from the start.
  static func word(_ verdict: HostLimits.Verdict) -> String {
    switch verdict {
    case .open: "open"
    case .wait(let until): "wait \((until - .seconds(100)).milliseconds / 1000)"
    case .deferred(let deferral):
      "\(deferral.rule.rawValue) \((deferral.until?.seconds ?? 0) - 1_700_000_000)"
    case .failed(let failure): failure.code.rawValue
    }
  }

  @Test(
    "A busy response with a time closes its whole host, and no other one",
    arguments: [
      (429, "30", nil, "wait 30"), (503, "30", nil, "wait 30"), (500, "30", nil, "wait 30"),
      (408, "30", nil, "wait 30"), (425, "30", nil, "wait 30"), (502, "30", nil, "wait 30"),
      (504, "30", nil, "wait 30"), (200, "30", nil, "open"), (301, "30", nil, "open"),
      (404, "30", nil, "open"), (501, "30", nil, "open"), (429, nil, nil, "open"),
      (429, "0", nil, "open"), (429, "soon", nil, "open"), (429, "120", nil, "wait 120"),
      (429, "121", nil, "retry_after 121"), (429, "999999999", nil, "retry_after 86400"),
      (429, "60", 59, "retry_after 60"), (429, "60", 60, "retry_after 60"),
      (429, "60", 61, "wait 60"),
      (429, "Tue, 14 Nov 2023 22:14:20 GMT", nil, "wait 60"),
      (429, "Tue, 14 Nov 2023 22:12:20 GMT", nil, "open"),
    ] as [(Int, String?, Int64?, String)]
  )
  func gates(status: Int, header: String?, deadline: Int64?, expected: String) {
    var limits = Self.limits(deadline: deadline)
    limits.recordResponse(Self.a, status: status, retryAfter: header, now: Self.moment(0))
    #expect(Self.word(limits.verdict(Self.a, now: Self.moment(0))) == expected)
    #expect(Self.word(limits.verdict(Self.b, now: Self.moment(0))) == "open")
  }

  @Test("The longest requested pause counts, and later responses do not end it")
  func longestGate() {
    var limits = Self.limits()
    limits.recordResponse(Self.a, status: 429, retryAfter: "60", now: Self.moment(0))
    limits.recordResponse(Self.a, status: 429, retryAfter: "10", now: Self.moment(1))
    limits.recordResponse(Self.a, status: 200, retryAfter: nil, now: Self.moment(2))
    #expect(Self.word(limits.verdict(Self.a, now: Self.moment(59))) == "wait 60")
    #expect(Self.word(limits.verdict(Self.a, now: Self.moment(60))) == "open")
  }

  @Test("A closed host stays deferred, however short the rest of its pause")
  func sticky() {
    var limits = Self.limits()
    limits.recordResponse(Self.a, status: 429, retryAfter: "200", now: Self.moment(0))
    #expect(Self.word(limits.verdict(Self.a, now: Self.moment(199))) == "retry_after 200")
    #expect(Self.word(limits.verdict(Self.a, now: Self.moment(200))) == "open")
  }

  @Test(
    "A gate of an earlier run holds for at most a day",
    arguments: [
      (60, "wait 60"), (121, "retry_after 121"), (-1, "open"), (0, "open"),
      (90_000, "retry_after 86400"), (1 << 40, "retry_after 86400"),
    ] as [(Int64, String)]
  )
  func remembered(seconds: Int64, expected: String) {
    let gate = HostLimits.Gate(host: Self.a, until: Self.moment(0).wall + .seconds(seconds))
    let limits = Self.limits(remembered: [gate])
    #expect(Self.word(limits.verdict(Self.a, now: Self.moment(0))) == expected)
    #expect(limits.gates(now: Self.moment(0)).isEmpty == (expected == "open"))
  }

  @Test("Gates that are still closed are saved in order")
  func saved() {
    var limits = Self.limits()
    limits.recordResponse(Self.b, status: 503, retryAfter: "300", now: Self.moment(0))
    limits.recordResponse(Self.a, status: 503, retryAfter: "40", now: Self.moment(0))
    limits.recordFailure(HostID(2), Self.reset, isExhausted: true, now: Self.moment(0))
    #expect(
      limits.gates(now: Self.moment(30)) == [
        .init(host: Self.a, until: Self.moment(40).wall),
        .init(host: Self.b, until: Self.moment(300).wall),
      ]
    )
    #expect(limits.gates(now: Self.moment(40)).map(\.host) == [Self.b])
  }

  @Test(
    "A host that is unreachable after all retries is skipped until it answers",
    arguments: [ErrorCode.connect, .dns]
  )
  func unreachable(code: ErrorCode) {
    var limits = Self.limits()
    let failure = Failure(code, "no way to `a`", isTransient: true)
    limits.recordFailure(Self.a, failure, isExhausted: false, now: Self.moment(0))
    #expect(limits.verdict(Self.a, now: Self.moment(0)) == .open)
    limits.recordFailure(Self.a, failure, isExhausted: true, now: Self.moment(1))
    guard case .failed(let reported) = limits.verdict(Self.a, now: Self.moment(9_999)) else {
      Issue.record("it is not skipped")
      return
    }
    #expect(reported.code == code)
    #expect(reported.isTransient)
    #expect(reported.message == "no way to `a`; its host is not tried again in this run")
    #expect(limits.verdict(Self.b, now: Self.moment(1)) == .open)
    limits.recordResponse(Self.a, status: 404, retryAfter: nil, now: Self.moment(2))
    #expect(limits.verdict(Self.a, now: Self.moment(2)) == .open)
  }

  static func broken(deadline: Int64? = nil) -> HostLimits {
    var limits = limits(deadline: deadline)
    for _ in 0..<HostLimits.failuresInARow {
      limits.recordFailure(a, reset, isExhausted: true, now: moment(0))
    }
    return limits
  }

  @Test(
    "Five items in a row that end in broken transfers open the breaker",
    arguments: [
      (ErrorCode.reset, "wait 60"), (.stalled, "wait 60"), (.timeout, "wait 60"),
      (.truncated, "wait 60"), (.tls, "wait 60"), (.serverBusy, "wait 60"),
      (.noNetwork, "wait 60"), (.http, "open"), (.certificate, "open"), (.digestMismatch, "open"),
      (.cancelled, "open"), (.diskFull, "open"),
    ]
  )
  func breaker(code: ErrorCode, expected: String) {
    var limits = Self.limits()
    let failure = Failure(code, "x")
    for _ in 1..<HostLimits.failuresInARow {
      limits.recordFailure(Self.a, failure, isExhausted: true, now: Self.moment(0))
      limits.recordFailure(Self.a, failure, isExhausted: false, now: Self.moment(0))
    }
    #expect(limits.verdict(Self.a, now: Self.moment(0)) == .open)
    limits.recordFailure(Self.a, failure, isExhausted: true, now: Self.moment(0))
    #expect(Self.word(limits.verdict(Self.a, now: Self.moment(0))) == expected)
    #expect(limits.limit(of: Self.a) == (expected == "open" ? nil : 1))
    #expect(limits.verdict(Self.b, now: Self.moment(0)) == .open)
  }

  @Test("Any response resets the count of failures in a row")
  func row() {
    var limits = Self.limits()
    for round in 0..<20 {
      limits.recordFailure(Self.a, Self.reset, isExhausted: true, now: Self.moment(0))
      guard round % 4 == 3 else { continue }
      limits.recordResponse(Self.a, status: 404, retryAfter: nil, now: Self.moment(0))
    }
    #expect(limits.verdict(Self.a, now: Self.moment(0)) == .open)
  }

  @Test("Items that were in flight when the breaker opened do not open it further")
  func latecomers() {
    var limits = Self.broken()
    for second in 0..<60 {
      limits.recordFailure(Self.a, Self.reset, isExhausted: true, now: Self.moment(Int64(second)))
    }
    #expect(Self.word(limits.verdict(Self.a, now: Self.moment(59))) == "wait 60")
    #expect(limits.verdict(Self.a, now: Self.moment(60)) == .open)
    #expect(limits.limit(of: Self.a) == 1)
  }

  @Test("Each later failure doubles the pause up to five minutes, and a response ends it")
  func probes() {
    var limits = Self.broken()
    var reported: [String] = []
    var time: Int64 = 60
    for pause in [120, 240, 300, 300] as [Int64] {
      // Retries of an item do not count as further failures of its host.
      for isExhausted in [false, false, true] {
        #expect(limits.verdict(Self.a, now: Self.moment(time)) == .open)
        limits.recordFailure(Self.a, Self.reset, isExhausted: isExhausted, now: Self.moment(time))
      }
      reported.append(Self.word(limits.verdict(Self.a, now: Self.moment(time))))
      time += pause
    }
    #expect(reported == ["wait 180", "breaker 420", "breaker 720", "breaker 1020"])
    limits.recordResponse(Self.a, status: 304, retryAfter: nil, now: Self.moment(time))
    #expect(limits.verdict(Self.a, now: Self.moment(time)) == .open)
    #expect(limits.limit(of: Self.a) == nil)
  }

  @Test("The probing item obeys the gate of a busy host")
  func busyProbe() {
    var limits = Self.broken()
    limits.recordResponse(Self.a, status: 503, retryAfter: "5", now: Self.moment(60))
    #expect(Self.word(limits.verdict(Self.a, now: Self.moment(60))) == "wait 65")
    let busy = Failure(.serverBusy, "busy", isTransient: true)
    limits.recordFailure(Self.a, busy, isExhausted: true, now: Self.moment(66))
    #expect(Self.word(limits.verdict(Self.a, now: Self.moment(66))) == "wait 186")
  }

  @Test("A closed host is reported once, with the end of its pause")
  func news() {
    var limits = Self.limits()
    var news: [Instant] = []
    for time in [0, 1, 2, 3, 4, 5, 64, 65] as [Int64] {
      let now = Self.moment(time)
      if let until = limits.recordFailure(Self.a, Self.reset, isExhausted: true, now: now) {
        news.append(until)
      }
    }
    #expect(news == [Self.moment(64).wall, Self.moment(184).wall])
  }

  @Test("A breaker whose pause passes the deadline defers its items")
  func deadline() {
    #expect(
      Self.word(Self.broken(deadline: 50).verdict(Self.a, now: Self.moment(0))) == "breaker 60"
    )
    #expect(Self.word(Self.broken(deadline: 80).verdict(Self.a, now: Self.moment(0))) == "wait 60")
  }
}
