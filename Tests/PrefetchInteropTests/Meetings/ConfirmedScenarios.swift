/// Bodies that did not change, with various 304 responses.
extension Scenario {
  private static let hour = "Cache-Control: max-age=3600"

  /// Returns a page with one body, whose server adds `news` to every 304 after the first run.
  private static func confirmed(
    _ name: String,
    _ page: Reply,
    _ change: (inout Reply) -> Void = { _ in },
    then: ExpectedRun,
    last: ExpectedRun
  ) -> Scenario {
    Scenario(
      name,
      ["/item": page],
      ["/item": page.with(change)],
      arrival: ExpectedRun("added 0 one", "GET /item 200"),
      then: then,
      last: last
    )
  }

  private static let kept = ExpectedRun("kept 0 one")
  private static let byTag = ExpectedRun("unchanged 0 one", "GET /item 304 if \"1\"")
  private static let newsByTag = ExpectedRun("headers 0 one", "GET /item 304 if \"1\"")

  static let news = confirmed(
    "a 304 with a new lifetime",
    .page("one", tag: "\"1\"", "Cache-Control: max-age=0", "X-News: none"),
    { $0.lines = [hour, "X-News: some"] },
    then: newsByTag,
    last: kept
  ).with { $0.headers = ["X-News": "some", "Cache-Control": "max-age=3600"] }

  static let newsByDate = confirmed(
    "a 304 with a new lifetime, to a date",
    .page("one", date: Reply.longAgo, "Cache-Control: max-age=0", "X-News: none"),
    { $0.lines = [hour, "X-News: some"] },
    then: ExpectedRun("headers 0 one", "GET /item 304 since long ago"),
    last: kept
  )

  static let revokedTTL = confirmed(
    "a 304 that brings no-cache over a ttl",
    .page("one", tag: "\"1\"", "Cache-Control: max-age=3600", "Age: 4000"),
    { $0.confirming = ["Cache-Control: no-cache"] },
    then: newsByTag,
    last: byTag
  ).declared(segment: "ttl: 1d")

  static let bare = confirmed(
    "a 304 without validators",
    .page("one", tag: "\"1\"", date: Reply.longAgo),
    { $0.confirming = [] },
    then: ExpectedRun("unchanged 0 one", "GET /item 304 if \"1\" since long ago"),
    last: ExpectedRun("unchanged 0 one", "GET /item 304 if \"1\" since long ago")
  )

  static let wrongTag = Scenario(
    "a 304 under another tag",
    ["/item": .page("one", tag: "\"1\"")],
    ["/item": .page("two", tag: "\"2\"").with { $0.confirmsAnything = true }],
    arrival: ExpectedRun("added 0 one", "GET /item 200"),
    then: ExpectedRun(
      "updated 0 two",
      "GET /item 304 if \"1\"",
      "GET /item 200 anew"
    ),
    last: ExpectedRun("unchanged 0 two", "GET /item 304 if \"2\"")
  )

  static let suddenTag = Scenario(
    "a 304 under a tag where none is stored",
    ["/item": .page("one", date: Reply.longAgo)],
    [
      "/item": .page("two", tag: "\"2\"", date: Reply.longAgo).with { $0.confirmsAnything = true }
    ],
    arrival: ExpectedRun("added 0 one", "GET /item 200"),
    then: ExpectedRun(
      "updated 0 two",
      "GET /item 304 since long ago",
      "GET /item 200 anew"
    ),
    last: ExpectedRun("unchanged 0 two", "GET /item 304 if \"2\" since long ago")
  )

  // MARK: Coded bodies

  /// Returns nginx's behavior: a weak tag with an encoded body, the strong tag with a 304.
  private static func coded(_ body: String, _ tag: String, _ lines: String...) -> Reply {
    .page(body, tag: "W/\"\(tag)\"", date: Reply.longAgo, "Vary: Accept-Encoding")
      .with { reply in
        reply.isCoded = true
        reply.lines += lines
        reply.confirming = ["ETag: \"\(tag)\"", "Last-Modified: \(Reply.longAgo)"]
      }
  }

  private static func settled(_ body: String, _ tag: String) -> ExpectedRun {
    let weak = "GET /item 304 if W/\"\(tag)\" since long ago"
    return ExpectedRun("settled 0 \(body)", "\(weak) or GET /item 304 if \"\(tag)\" since long ago")
  }

  static let coded = confirmed(
    "a coded body",
    coded("one", "1"),
    then: settled("one", "1"),
    last: settled("one", "1")
  )

  static let codedNews = Scenario(
    "a coded body that changes",
    ["/item": coded("one", "1")],
    ["/item": coded("two", "2")],
    arrival: ExpectedRun("added 0 one", "GET /item 200"),
    then: ExpectedRun("updated 0 two", "GET /item 200 if W/\"1\" since long ago"),
    last: settled("two", "2")
  )

  static let codedFresh = confirmed(
    "a coded body within its hour",
    coded("one", "1", hour),
    then: kept,
    last: kept
  ).with { $0.revalidated = settled("one", "1") }

  // MARK: Words that are none

  static let foreignTag = confirmed(
    "a tag in Latin-1",
    .page("one", tag: "\"caf\u{E9}\""),
    then: ExpectedRun("unchanged 0 one", "GET /item 304 if \"caf\u{E9}\""),
    last: ExpectedRun("unchanged 0 one", "GET /item 304 if \"caf\u{E9}\"")
  )

  private static let unconditional = ExpectedRun(
    "unchanged 0 one",
    "GET /item 200",
    plans: "keep|revalidate"
  )

  static let star = confirmed(
    "a tag that is a star",
    .page("one", tag: "*"),
    then: unconditional,
    last: unconditional
  )

  static let yesterday = confirmed(
    "a date that is none",
    .page("one", date: "yesterday"),
    then: unconditional,
    last: unconditional
  )
}
