/// Events about redirects to named versions.
extension Scenario {
  private static let year = "Cache-Control: max-age=31536000, immutable"

  private static func version(_ name: String, _ number: Int) -> Reply {
    .page(name, tag: "\"\(number)\"", year)
  }

  /// Returns an event in which `/x` redirects to `/v1`, later to `/v2`, each fresh for a year.
  ///
  /// The redirects have the headers `hop`.
  private static func moving(_ name: String, hop: String..., sendsRequest: Bool) -> Scenario {
    let first = Reply.redirect(to: "/v1").with { $0.lines += hop }
    let second = Reply.redirect(to: "/v2").with { $0.lines += hop }
    let moved = ExpectedRun("updated 0 two", "GET /x 302", "GET /v2 200")
    let confirmed = ExpectedRun("unchanged 0 two", "GET /x 302", "GET /v2 304 if \"2\"")
    return Scenario(
      name,
      path: "/x",
      ["/x": first, "/v1": version("one", 1), "/v2": version("two", 2)],
      ["/x": second],
      arrival: ExpectedRun("added 0 one", "GET /x 302", "GET /v1 200"),
      then: sendsRequest ? moved : ExpectedRun("kept 0 one"),
      last: sendsRequest ? confirmed : ExpectedRun("kept 0 one"),
      again: ExpectedRun("refetched 0 two", "GET /x 302", "GET /v2 200")
    )
  }

  static let movingRedirect = moving("a redirect that moves on", sendsRequest: true)

  static let movingRedirectWithTTL = moving(
    "a redirect that moves on within a ttl",
    sendsRequest: false
  )
  .declared(segment: "ttl: 1d")

  static let minuteHop = moving(
    "a hop good for a minute",
    hop: "Cache-Control: max-age=60",
    sendsRequest: false
  )

  static let agedHop = moving(
    "a hop whose minute is over",
    hop: "Cache-Control: max-age=60",
    "Age: 120",
    sendsRequest: true
  )

  static let doubtfulHop = moving(
    "a hop with no-cache within a ttl",
    hop: "Cache-Control: no-cache",
    sendsRequest: true
  ).declared(segment: "ttl: 1d")

  static let stillRedirect = Scenario(
    "a redirect that stays",
    path: "/x",
    ["/x": .redirect(to: "/v1"), "/v1": version("one", 1)],
    arrival: ExpectedRun("added 0 one", "GET /x 302", "GET /v1 200"),
    then: ExpectedRun("unchanged 0 one", "GET /x 302", "GET /v1 304 if \"1\""),
    last: ExpectedRun("unchanged 0 one", "GET /x 302", "GET /v1 304 if \"1\""),
    again: ExpectedRun("refetched 0 one", "GET /x 302", "GET /v1 200")
  )

  static let foreignLocation = Scenario(
    "a redirect to a name in Latin-1",
    path: "/x",
    ["/x": .redirect(to: "/caf\u{E9}"), "/caf%E9": version("one", 1)],
    arrival: ExpectedRun("added 0 one", "GET /x 302", "GET /caf%E9 200"),
    then: ExpectedRun("unchanged 0 one", "GET /x 302", "GET /caf%E9 304 if \"1\""),
    last: ExpectedRun("unchanged 0 one", "GET /x 302", "GET /caf%E9 304 if \"1\""),
    again: ExpectedRun("refetched 0 one", "GET /x 302", "GET /caf%E9 200")
  )

  static let assuredHop = Scenario(
    "a redirect that learns how long it holds",
    path: "/x",
    ["/x": .redirect(to: "/v1"), "/v1": version("one", 1)],
    ["/x": .redirect(to: "/v1", "Cache-Control: max-age=3600")],
    arrival: ExpectedRun("added 0 one", "GET /x 302", "GET /v1 200"),
    then: ExpectedRun("unchanged 0 one", "GET /x 302", "GET /v1 304 if \"1\""),
    last: ExpectedRun("kept 0 one"),
    again: ExpectedRun("refetched 0 one", "GET /x 302", "GET /v1 200")
  )

  static let endedRedirect = Scenario(
    "a redirect that becomes a page",
    path: "/x",
    ["/x": .redirect(to: "/v1"), "/v1": version("one", 1)],
    ["/x": .page("two", tag: "\"1\"")],
    arrival: ExpectedRun("added 0 one", "GET /x 302", "GET /v1 200"),
    then: ExpectedRun("updated 0 two", "GET /x 200", plans: "update|revalidate"),
    last: ExpectedRun("unchanged 0 two", "GET /x 304 if \"1\"")
  )

  static let begunRedirect = Scenario(
    "a page that becomes a redirect",
    path: "/x",
    ["/x": .page("one", tag: "\"1\"")],
    ["/x": .redirect(to: "/v2"), "/v2": .page("two", tag: "\"1\"")],
    arrival: ExpectedRun("added 0 one", "GET /x 200"),
    then: ExpectedRun(
      "updated 0 two",
      "GET /x 302 if \"1\"",
      "GET /v2 200",
      plans: "update|revalidate"
    ),
    last: ExpectedRun("unchanged 0 two", "GET /x 302", "GET /v2 304 if \"1\""),
    again: ExpectedRun("refetched 0 two", "GET /x 302", "GET /v2 200")
  )
}
