/// Responses that depend on request headers.
extension Scenario {
  private static let hour = "Cache-Control: max-age=3600"

  private static func speaking(_ language: String) -> Declaration {
    Declaration(segment: "headers: { Accept-Language: \(language) }")
  }

  private static func varied(
    _ name: String,
    _ pages: [String: Reply],
    then: ExpectedRun,
    last: ExpectedRun
  ) -> Scenario {
    Scenario(
      name,
      ["/item": .spoken(pages)],
      arrival: ExpectedRun("added 0 english", "GET /item 200 en"),
      then: then,
      last: last,
      again: ExpectedRun("refetched 0 \(last.body ?? "-")", "GET /item 200 fr")
    ).with { scenario in
      scenario.before = speaking("en")
      scenario.after = speaking("fr")
      // No stored variant is in the requested language.
      if !then.isKept { scenario.offline = ExpectedRun("no_network 69 -") }
    }
  }

  static let languageByTag = varied(
    "Vary, and a strong tag",
    [
      "en": .page("english", tag: "\"en\"", hour, "Vary: Accept-Language"),
      "fr": .page("french", tag: "\"fr\"", hour, "Vary: Accept-Language"),
    ],
    then: ExpectedRun("updated 0 french", "GET /item 200 fr if \"en\""),
    last: ExpectedRun("kept 0 french")
  )

  static let languageByWeakTag = varied(
    "Vary, a weak tag and a date",
    [
      "en": .page("english", tag: "W/\"1\"", date: Reply.longAgo, hour, "Vary: Accept-Language"),
      "fr": .page("french", tag: "W/\"1\"", date: Reply.longAgo, hour, "Vary: Accept-Language"),
    ],
    then: ExpectedRun("updated 0 french", "GET /item 200 fr", plans: "update|revalidate|fetch"),
    last: ExpectedRun("kept 0 french")
  )

  static let languageByDate = varied(
    "Vary, and a date",
    [
      "en": .page("english", date: Reply.longAgo, "Vary: Accept-Language"),
      "fr": .page("french", date: Reply.longAgo, "Vary: Accept-Language"),
    ],
    then: ExpectedRun("updated 0 french", "GET /item 200 fr", plans: "update|revalidate|fetch"),
    last: ExpectedRun("unchanged 0 french", "GET /item 304 fr since long ago")
  )

  static let sharedTag = varied(
    "Vary, and one tag for all languages",
    [
      "en": .page("english", tag: "\"all\"", hour, "Vary: Accept-Language"),
      "fr": .page("english", tag: "\"all\"", hour, "Vary: Accept-Language"),
    ],
    then: ExpectedRun("unchanged 0 english", "GET /item 304 fr if \"all\""),
    last: ExpectedRun("kept 0 english")
  )

  static let variedCoding = varied(
    "Vary that names nothing but the coding",
    [
      "en": .page("english", tag: "\"en\"", hour, "Vary: Accept-Encoding"),
      "fr": .page("english", tag: "\"en\"", hour, "Vary: Accept-Encoding"),
    ],
    then: ExpectedRun("kept 0 english"),
    last: ExpectedRun("kept 0 english")
  )

  static let variedByAnything = Scenario(
    "Vary that names everything",
    ["/item": .page("one", tag: "\"1\"", hour, "Vary: *")],
    arrival: ExpectedRun("added 0 one", "GET /item 200"),
    then: ExpectedRun("unchanged 0 one", "GET /item 304 if \"1\""),
    last: ExpectedRun("unchanged 0 one", "GET /item 304 if \"1\"")
  ).with { $0.offline = ExpectedRun("no_network 69 -") }
}
