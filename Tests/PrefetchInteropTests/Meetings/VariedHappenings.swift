/// Responses that depend on request headers.
extension Happening {
  private static let hour = "Cache-Control: max-age=3600"

  private static func speaking(_ language: String) -> Declaration {
    Declaration(segment: "headers: { Accept-Language: \(language) }")
  }

  private static func varied(
    _ name: String,
    _ pages: [String: Reply],
    then: Visit,
    last: Visit
  ) -> Happening {
    Happening(
      name,
      ["/item": .spoken(pages)],
      arrival: Visit("added 0 english", "GET /item 200 en"),
      then: then,
      last: last,
      again: Visit("refetched 0 \(last.body ?? "-")", "GET /item 200 fr")
    ).with { happening in
      happening.before = speaking("en")
      happening.after = speaking("fr")
      // No stored variant is in the requested language.
      if !then.isKept { happening.offline = Visit("no_network 69 -") }
    }
  }

  static let languageByTag = varied(
    "Vary, and a strong tag",
    [
      "en": .page("english", tag: "\"en\"", hour, "Vary: Accept-Language"),
      "fr": .page("french", tag: "\"fr\"", hour, "Vary: Accept-Language"),
    ],
    then: Visit("updated 0 french", "GET /item 200 fr if \"en\""),
    last: Visit("kept 0 french")
  )

  static let languageByWeakTag = varied(
    "Vary, a weak tag and a date",
    [
      "en": .page("english", tag: "W/\"1\"", date: Reply.longAgo, hour, "Vary: Accept-Language"),
      "fr": .page("french", tag: "W/\"1\"", date: Reply.longAgo, hour, "Vary: Accept-Language"),
    ],
    then: Visit("updated 0 french", "GET /item 200 fr", plans: "update|revalidate|fetch"),
    last: Visit("kept 0 french")
  )

  static let languageByDate = varied(
    "Vary, and a date",
    [
      "en": .page("english", date: Reply.longAgo, "Vary: Accept-Language"),
      "fr": .page("french", date: Reply.longAgo, "Vary: Accept-Language"),
    ],
    then: Visit("updated 0 french", "GET /item 200 fr", plans: "update|revalidate|fetch"),
    last: Visit("unchanged 0 french", "GET /item 304 fr since long ago")
  )

  static let sharedTag = varied(
    "Vary, and one tag for all languages",
    [
      "en": .page("english", tag: "\"all\"", hour, "Vary: Accept-Language"),
      "fr": .page("english", tag: "\"all\"", hour, "Vary: Accept-Language"),
    ],
    then: Visit("unchanged 0 english", "GET /item 304 fr if \"all\""),
    last: Visit("kept 0 english")
  )

  static let variedCoding = varied(
    "Vary that names nothing but the coding",
    [
      "en": .page("english", tag: "\"en\"", hour, "Vary: Accept-Encoding"),
      "fr": .page("english", tag: "\"en\"", hour, "Vary: Accept-Encoding"),
    ],
    then: Visit("kept 0 english"),
    last: Visit("kept 0 english")
  )

  static let variedByAnything = Happening(
    "Vary that names everything",
    ["/item": .page("one", tag: "\"1\"", hour, "Vary: *")],
    arrival: Visit("added 0 one", "GET /item 200"),
    then: Visit("unchanged 0 one", "GET /item 304 if \"1\""),
    last: Visit("unchanged 0 one", "GET /item 304 if \"1\"")
  ).with { $0.offline = Visit("no_network 69 -") }
}
