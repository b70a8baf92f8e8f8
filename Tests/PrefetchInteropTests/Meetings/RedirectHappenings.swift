/// What stands behind a name that leads elsewhere.
extension Happening {
  private static let year = "Cache-Control: max-age=31536000, immutable"

  private static func version(_ name: String, _ number: Int) -> Reply {
    .page(name, tag: "\"\(number)\"", year)
  }

  /// `/x` has `/v1` and later to `/v2`, both of which are good for a year; the hop says `hop`.
  private static func moving(_ name: String, hop: String..., asks: Bool) -> Happening {
    let first = Reply.redirect(to: "/v1").with { $0.lines += hop }
    let second = Reply.redirect(to: "/v2").with { $0.lines += hop }
    let moved = Visit("updated 0 two", "GET /x 302", "GET /v2 200")
    let confirmed = Visit("unchanged 0 two", "GET /x 302", "GET /v2 304 if \"2\"")
    return Happening(
      name,
      path: "/x",
      ["/x": first, "/v1": version("one", 1), "/v2": version("two", 2)],
      ["/x": second],
      arrival: Visit("added 0 one", "GET /x 302", "GET /v1 200"),
      then: asks ? moved : Visit("kept 0 one"),
      last: asks ? confirmed : Visit("kept 0 one"),
      again: Visit("refetched 0 two", "GET /x 302", "GET /v2 200")
    )
  }

  static let movingRedirect = moving("a redirect that moves on", asks: true)

  static let movingRedirectWithTTL = moving("a redirect that moves on within a ttl", asks: false)
    .declared(segment: "ttl: 1d")

  static let minuteHop = moving(
    "a hop good for a minute",
    hop: "Cache-Control: max-age=60",
    asks: false
  )

  static let agedHop = moving(
    "a hop whose minute is over",
    hop: "Cache-Control: max-age=60",
    "Age: 120",
    asks: true
  )

  static let doubtfulHop = moving(
    "a hop with no-cache within a ttl",
    hop: "Cache-Control: no-cache",
    asks: true
  ).declared(segment: "ttl: 1d")

  static let stillRedirect = Happening(
    "a redirect that stays",
    path: "/x",
    ["/x": .redirect(to: "/v1"), "/v1": version("one", 1)],
    arrival: Visit("added 0 one", "GET /x 302", "GET /v1 200"),
    then: Visit("unchanged 0 one", "GET /x 302", "GET /v1 304 if \"1\""),
    last: Visit("unchanged 0 one", "GET /x 302", "GET /v1 304 if \"1\""),
    again: Visit("refetched 0 one", "GET /x 302", "GET /v1 200")
  )

  static let foreignPlace = Happening(
    "a redirect to a name in Latin-1",
    path: "/x",
    ["/x": .redirect(to: "/caf\u{E9}"), "/caf%E9": version("one", 1)],
    arrival: Visit("added 0 one", "GET /x 302", "GET /caf%E9 200"),
    then: Visit("unchanged 0 one", "GET /x 302", "GET /caf%E9 304 if \"1\""),
    last: Visit("unchanged 0 one", "GET /x 302", "GET /caf%E9 304 if \"1\""),
    again: Visit("refetched 0 one", "GET /x 302", "GET /caf%E9 200")
  )

  static let assuredHop = Happening(
    "a redirect that learns how long it holds",
    path: "/x",
    ["/x": .redirect(to: "/v1"), "/v1": version("one", 1)],
    ["/x": .redirect(to: "/v1", "Cache-Control: max-age=3600")],
    arrival: Visit("added 0 one", "GET /x 302", "GET /v1 200"),
    then: Visit("unchanged 0 one", "GET /x 302", "GET /v1 304 if \"1\""),
    last: Visit("kept 0 one"),
    again: Visit("refetched 0 one", "GET /x 302", "GET /v1 200")
  )

  static let endedRedirect = Happening(
    "a redirect that becomes a page",
    path: "/x",
    ["/x": .redirect(to: "/v1"), "/v1": version("one", 1)],
    ["/x": .page("two", tag: "\"1\"")],
    arrival: Visit("added 0 one", "GET /x 302", "GET /v1 200"),
    then: Visit("updated 0 two", "GET /x 200", plans: "update|revalidate"),
    last: Visit("unchanged 0 two", "GET /x 304 if \"1\"")
  )

  static let begunRedirect = Happening(
    "a page that becomes a redirect",
    path: "/x",
    ["/x": .page("one", tag: "\"1\"")],
    ["/x": .redirect(to: "/v2"), "/v2": .page("two", tag: "\"1\"")],
    arrival: Visit("added 0 one", "GET /x 200"),
    then: Visit("updated 0 two", "GET /x 302 if \"1\"", "GET /v2 200", plans: "update|revalidate"),
    last: Visit("unchanged 0 two", "GET /x 302", "GET /v2 304 if \"1\""),
    again: Visit("refetched 0 two", "GET /x 302", "GET /v2 200")
  )
}
