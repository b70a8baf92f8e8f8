/// Freshness of bodies by their servers' headers and by declarations.
extension Scenario {
  /// Returns a page with these lines, which every run revalidates or none.
  private static func lasting(
    _ name: String,
    ttl: String? = nil,
    _ lines: String...,
    sendsRequest: Bool
  ) -> Scenario {
    let expected =
      sendsRequest
      ? ExpectedRun("unchanged 0 one", "GET /item 304 if \"1\"") : ExpectedRun("kept 0 one")
    return Scenario(
      name,
      ["/item": Reply.page("one", tag: "\"1\"").with { $0.lines = lines }],
      arrival: ExpectedRun("added 0 one", "GET /item 200"),
      then: expected,
      last: expected
    ).declared(item: ttl.map { "ttl: \($0)" } ?? "")
  }

  static let unstated = lasting("no lifetime", sendsRequest: true)
  static let granted = lasting("a ttl where no lifetime is stated", ttl: "1d", sendsRequest: false)
  static let capped = lasting(
    "a ttl of nothing under a stated year",
    ttl: "0s",
    "Cache-Control: max-age=31536000",
    sendsRequest: true
  )
  static let worthless = lasting(
    "max-age=0 within a ttl",
    ttl: "1d",
    "Cache-Control: max-age=0",
    sendsRequest: true
  )
  static let doubted = lasting(
    "no-cache within a ttl",
    ttl: "1d",
    "Cache-Control: no-cache",
    sendsRequest: true
  )
  static let unkept = lasting(
    "no-store within a ttl",
    ttl: "1d",
    "Cache-Control: no-store",
    sendsRequest: true
  )
  static let notStored = lasting(
    "no-store under ttl immutable",
    ttl: "immutable",
    "Cache-Control: no-store",
    sendsRequest: false
  )
  static let pastImmutable = lasting(
    "immutable beyond its lifetime",
    "Cache-Control: max-age=10, immutable",
    "Age: 20",
    sendsRequest: true
  )
  static let expired = lasting("Expires that is none", "Expires: 0", sendsRequest: true)
  static let agedTwice = lasting(
    "an age in two members",
    "Cache-Control: max-age=3600",
    "Age: 5, 99999",
    sendsRequest: false
  )
  static let brokenAge = lasting(
    "a lifetime with a blank",
    "Cache-Control: max-age=3 600",
    sendsRequest: true
  )

  // MARK: The identity, and the disk

  private static func renamed(_ name: String, _ lines: String..., expected: ExpectedRun) -> Scenario
  {
    Scenario(
      name,
      ["/item": Reply.page("one", tag: "\"1\"").with { $0.lines = lines }],
      arrival: ExpectedRun("added 0 one", "GET /item 200"),
      then: expected,
      last: expected
    ).with { $0.after = Declaration(name: "another ring") }
  }

  static let renamedFresh = renamed(
    "a new name of the identity within an hour",
    "Cache-Control: max-age=3600",
    expected: ExpectedRun("kept 0 one")
  )

  static let renamedStale = renamed(
    "a new name of the identity",
    expected: ExpectedRun("unchanged 0 one", "GET /item 304 if \"1\"")
  )

  private static func lost(
    _ name: String,
    _ loss: Loss,
    lines: String...,
    last: ExpectedRun
  ) -> Scenario {
    Scenario(
      name,
      ["/item": Reply.page("one", tag: "\"1\"").with { $0.lines = lines }],
      arrival: ExpectedRun("added 0 one", "GET /item 200"),
      then: ExpectedRun("refetched 0 one", "GET /item 200"),
      last: last
    ).with { scenario in
      scenario.loss = loss
      scenario.offline = ExpectedRun("no_network 69 -")
    }
  }

  private static let unchangedVisit = ExpectedRun("unchanged 0 one", "GET /item 304 if \"1\"")

  static let deleted = lost("a lost body", .deleted, last: unchangedVisit)
  static let truncated = lost("a body cut on disk", .truncated, last: unchangedVisit)
  static let deletedFresh = lost(
    "a lost body within its hour",
    .deleted,
    lines: "Cache-Control: max-age=3600",
    last: ExpectedRun("kept 0 one")
  )
  static let truncatedFresh = lost(
    "a body cut on disk within its hour",
    .truncated,
    lines: "Cache-Control: max-age=3600",
    last: ExpectedRun("kept 0 one")
  )
  static let damagedFresh = lost(
    "a body that was written over within its hour",
    .damaged,
    lines: "Cache-Control: max-age=3600",
    last: ExpectedRun("kept 0 one")
  )
  static let deletedPinned = lost(
    "a lost body with a declared digest",
    .deleted,
    last: ExpectedRun("kept 0 one")
  ).declared(item: "sha256: DIGEST")

  static let deletedBehindRedirect = Scenario(
    "a lost body behind a redirect",
    path: "/x",
    [
      "/x": .redirect(to: "/v1", "Cache-Control: max-age=60"),
      "/v1": .page("one", tag: "\"1\"", "Cache-Control: max-age=31536000, immutable"),
    ],
    arrival: ExpectedRun("added 0 one", "GET /x 302", "GET /v1 200"),
    then: ExpectedRun("refetched 0 one", "GET /x 302", "GET /v1 200"),
    last: ExpectedRun("kept 0 one"),
    again: ExpectedRun("refetched 0 one", "GET /x 302", "GET /v1 200")
  ).with { scenario in
    scenario.loss = .deleted
    scenario.offline = ExpectedRun("no_network 69 -")
  }

  // MARK: Servers that have had enough

  private static func refused(
    _ name: String,
    _ lines: String...,
    refusal: Reply,
    then: ExpectedRun
  ) -> Scenario {
    Scenario(
      name,
      ["/item": Reply.page("one", tag: "\"1\"").with { $0.lines = lines }],
      ["/item": refusal],
      arrival: ExpectedRun("added 0 one", "GET /item 200"),
      then: then,
      last: then
    )
  }

  static let gone = refused(
    "a page that is gone",
    refusal: .refusal(404),
    then: ExpectedRun("gone 3 one", "GET /item 404 if \"1\"")
  )

  static let busy = refused(
    "a server that fails within max_stale",
    "Cache-Control: max-age=0",
    refusal: .refusal(503),
    then: ExpectedRun("stale 0 one", "GET /item 503 if \"1\"")
  ).declared(segment: "max_stale: 1d")

  static let busyAndStrict = refused(
    "a server that fails after must-revalidate",
    "Cache-Control: max-age=0, must-revalidate",
    refusal: .refusal(503),
    then: ExpectedRun("server_busy 69 one", "GET /item 503 if \"1\"")
  ).declared(segment: "max_stale: 1d")

  static let later = refused(
    "a server that wants to be asked later",
    refusal: .refusal(503, "Retry-After: 7200"),
    then: ExpectedRun("retry_after 75 one", "GET /item 503 if \"1\"")
  ).with { $0.last = ExpectedRun("retry_after 75 one") }
}
