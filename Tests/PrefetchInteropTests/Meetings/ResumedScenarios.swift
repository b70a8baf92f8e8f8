/// Bodies that arrive in two parts.
extension Scenario {
  private static let half = 160 << 10
  private static let hour = "Cache-Control: max-age=3600"
  private static let type = "Content-Type: video/mp4"

  /// Returns an event whose first response breaks off halfway.
  private static func resumed(
    _ name: String,
    _ reply: Reply,
    _ change: (inout Reply) -> Void = { _ in },
    then: ExpectedRun,
    last: ExpectedRun
  ) -> Scenario {
    Scenario(
      name,
      path: "/film",
      ["/film": reply.with { $0.cut = half }],
      ["/film": reply.with(change)],
      arrival: ExpectedRun("truncated 69 -", "GET /film 200"),
      then: then,
      last: last
    ).with { scenario in
      scenario.headers = ["Content-Type": "video/mp4", "Content-Range": ""]
      scenario.offline = ExpectedRun("no_network 69 -")
    }
  }

  private static func added(_ request: String) -> ExpectedRun {
    ExpectedRun("added 0 film", request, probes: ["HEAD /film 200"])
  }

  static let resumedFresh = resumed(
    "a body resumed within its hour",
    .page("film", tag: "\"f\"", hour, type),
    { $0.resuming = [] },
    then: added("GET /film 206 range unless \"f\""),
    last: ExpectedRun("kept 0 film")
  )

  static let resumedWithNews = resumed(
    "a body resumed with a new lifetime",
    .page("film", tag: "\"f\"", "Cache-Control: max-age=0", type),
    { reply in
      reply.resuming = ["ETag: \"f\"", hour]
    },
    then: added("GET /film 206 range unless \"f\""),
    last: ExpectedRun("kept 0 film")
  )

  static let resumedStale = resumed(
    "a body resumed by an answer without a tag",
    .page("film", tag: "\"f\"", type),
    { $0.resuming = ["Content-Type: text/plain"] },
    then: added("GET /film 206 range unless \"f\""),
    last: ExpectedRun("unchanged 0 film", "GET /film 304 if \"f\"")
  ).with { $0.headers["Content-Type"] = nil }

  static let resumedByDate = resumed(
    "a body resumed under its date",
    .page("film", date: Reply.longAgo, "Date: Mon, 01 Jan 2024 00:05:00 GMT", type),
    then: added("GET /film 206 range unless long ago"),
    last: ExpectedRun("unchanged 0 film", "GET /film 304 since long ago")
  )

  static let changedHalfway = resumed(
    "a body that changed before its rest was asked for",
    .page("film", tag: "\"f\"", hour, type),
    { reply in
      reply.body = "film-two"
      reply.tag = "\"g\""
    },
    then: ExpectedRun(
      "added 0 film-two",
      "GET /film 200 range unless \"f\"",
      probes: ["HEAD /film 200"]
    ),
    last: ExpectedRun("kept 0 film-two")
  )

  /// The body is complete, but its end was not signalled.
  static let satisfied = resumed(
    "a whole body that is asked for its rest",
    .page("film", tag: "\"f\"", type),
    then: ExpectedRun(
      "added 0 film",
      "GET /film 416 range unless \"f\"",
      probes: ["HEAD /film 200"]
    ),
    last: ExpectedRun("unchanged 0 film", "GET /film 304 if \"f\"")
  ).with { scenario in
    scenario.acts[0]["/film"]?.cut = nil
    scenario.acts[0]["/film"]?.isEndless = true
  }
}
