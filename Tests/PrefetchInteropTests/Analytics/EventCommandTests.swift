import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("`event`", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct EventCommandTests {
  private let home: Home
  private let server: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    server = try LoopbackServer { request in
      .respond(200, [("Cache-Control", "max-age=3600")], text: "body of \(request.path)")
    }
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - name: films
          urls:
            - { url: "\(server.address("/film"))", id: "42", provider: films }
            - "\(server.address("/other"))"
      """
    )
  }

  private func rows() throws -> [[Substring]] {
    try home.run("event", "list").lines.map { $0.split(separator: "\t") }
  }

  @Test("`event log` records events in order, without a request and without output")
  func log() throws {
    for name in ["tapped home button", "b", "b"] {
      let run = try home.run("event", "log", name)
      #expect(run.status == 0 && run.output.isEmpty && run.errors.isEmpty, "\(run)")
    }
    #expect(try rows().map { $0[2] } == ["tapped home button", "b", "b"])
    let document = try home.run("event", "list", "--json").json()
    #expect(document.text("schema") == "prefetch-event-list/1")
    let ids = document.list("events").compactMap { $0.text("id") }
    #expect(Set(ids).count == 3 && ids.allSatisfy { $0.count == 32 })
    #expect(document.list("events").allSatisfy { $0.text("kind") == "logged" })
    let logged = try home.run("event", "log", "c", "--json").json()
    #expect(logged.text("event.name") == "c" && logged.text("action") == "log")
    #expect(server.requests.isEmpty)
  }

  @Test("`event` measures from `start` to `stop` by name, and names the runs in between")
  func timed() throws {
    #expect(try home.run("event", "start", "import").status == 0)
    #expect(try home.run("event", "start", "else").status == 0)
    #expect(try home.run("-q").status == 0)
    let again = try home.run("event", "start", "else")
    #expect(again.status == 0 && again.errors.contains("it starts again"), "\(again)")
    let open = try home.run("event", "list", "--json").json()
    #expect(open.list("open").map { $0.text("name") } == ["import", "else"])
    let id = open.text("open.0.id")
    let stop = try home.run("event", "stop", "import", "--json").json()
    #expect(stop.text("event.id") == id && stop.text("event.kind") == "timed")
    #expect(stop.list("event.runs").count == 1)
    #expect(Int(stop.text("event.duration_ms") ?? "") ?? -1 >= 0)
    let missing = try home.run("event", "stop", "import")
    #expect(missing.status == 4 && missing.errors.contains("no event `import` is open"))
    #expect(try rows().map { $0[1] } == ["timed", "open"])
  }

  @Test("`event` runs a program and passes on its exit status")
  func program() throws {
    let run = try home.shell(
      """
      $prefetch event run build -- sh -c 'echo said; exit 7'; echo "ended with $?"
      $prefetch event run build -- sh -c 'kill -9 $$'; echo "ended with $?"
      $prefetch event run build -- /nonexistent; echo "ended with $?"
      """
    )
    #expect(run.lines == ["said", "ended with 7", "ended with 137", "ended with 1"], "\(run)")
    let events = try home.run("event", "list", "--json").json().list("events")
    #expect(events.map { $0.text("status") } == ["7", "137"])
    #expect(try home.run("event", "run", "build").status == 64)
    #expect(try home.run("event", "run", " build", "--", "true").status == 64)
    // The program's exit status takes precedence over the failure to record the event.
    let lost = try home.run(
      "event",
      "run",
      "build",
      "--state-dir",
      home.path("prefetch.yaml/x"),
      "--",
      "sh",
      "-c",
      "exit 3"
    )
    #expect(lost.status == 3 && lost.errors.contains("was not recorded"), "\(lost)")
  }

  @Test("`event consume` records each quarter of an item once, and `list` shows unconsumed items")
  func consume() throws {
    #expect(try home.run("-q").status == 0)
    let film = server.address("/film")
    func quartiles(_ arguments: String...) throws -> [String?] {
      let run = try home.run(["event", "consume", "films/42", "--json"] + arguments)
      #expect(run.status == 0, "\(run)")
      return try run.json().list("event.quartiles").map(\.text)
    }
    #expect(try home.run("list", "--unconsumed").lines.count == 2)
    #expect(try quartiles("--to", "50", "--length", "100") == ["25", "50"])
    #expect(try quartiles("--from", "40", "--to", "80", "--length", "100") == ["75"])
    #expect(try quartiles("--to", "80") == [])
    #expect(try quartiles() == ["100"])
    #expect(try home.run("list", "--unconsumed").output.contains(film) == false)
    #expect(try home.run("list", "--unconsumed").lines.count == 1)
    // A new body is something new.
    #expect(try home.run("-q", "--refetch").status == 0)
    #expect(try home.run("list", "--unconsumed").lines.count == 2)
    #expect(try quartiles("--to", "30", "--length", "100") == ["25"])
    for name in ["nothing", "https://example.org/nothing"] {
      #expect(try home.run("event", "consume", name).status == 4)
    }
    let reversed = try home.run("event", "consume", film, "--from", "9", "--to", "3")
    #expect(reversed.status == 64, "\(reversed)")
    let seen = try home.run("event", "list", "--json").json().list("events")
    #expect(seen.allSatisfy { $0.text("url") == film && $0.text("provider") == "films" })
    #expect(seen.count == 5 && server.requests.count == 4, "no request is sent")
  }

  @Test("`event consume --at` records a time in the past and refuses one in the future")
  func past() throws {
    #expect(try home.run("-q").status == 0)
    let film = server.address("/film")
    let early = try home.run("event", "consume", film, "--at", "2020-01-02T03:04:05Z", "--json")
    #expect(early.status == 0, "\(early)")
    #expect(try early.json().text("event.time") == "2020-01-02T03:04:05.000Z", "\(early)")
    // A body that was stored after the event counts as not consumed.
    #expect(try home.run("list", "--unconsumed").output.contains(film))
    #expect(try home.run("event", "consume", film).status == 0)
    #expect(try home.run("list", "--unconsumed").output.contains(film) == false)
    // A late event does not undo a newer one.
    #expect(try home.run("event", "consume", film, "--at", "2020-01-02").status == 0)
    #expect(try home.run("list", "--unconsumed").output.contains(film) == false)
    for time in ["2999-01-01T00:00:00Z", "yesterday"] {
      #expect(try home.run("event", "consume", film, "--at", time).status == 64, "\(time)")
    }
  }

  @Test("`event consume` takes the length of a stored stream from its playlist")
  func stream() throws {
    let pieces = (0..<4).map { "#EXTINF:10.0,\n/\($0).ts" }.joined(separator: "\n")
    let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n\(pieces)\n#EXT-X-ENDLIST\n"
    let origin = try LoopbackServer { request in
      .respond(200, text: request.path.hasSuffix("m3u8") ? playlist : "piece \(request.path)")
    }
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - { name: s, urls: [{ url: "\(origin.address("/film.m3u8"))", type: hls, id: film }] }
      """
    )
    #expect(try home.run("-q").status == 0)
    let run = try home.run("event", "consume", "film", "--to", "21", "--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.json().text("event.length_ms") == "40000")
    #expect(try run.json().list("event.quartiles").map(\.text) == ["25", "50"])
  }

  @Test("`event` accepts names that look like personal data, with a warning")
  func privacy() throws {
    let run = try home.run("event", "log", "login of alice@example.org")
    #expect(run.status == 0, "\(run)")
    #expect(run.errors.contains("looks like an e-mail address  [event.private-name]"), "\(run)")
    #expect(run.errors.contains("hint: name the action, not the person"))
    home.configure(
      """
      name: user-4711
      segments: [{ name: "+49 170 1234567", urls: [] , allow_empty: true }]
      analytics: { metrics: { "order 123456789": ["https://a.example/"] } }
      """
    )
    let check = try home.run("check")
    #expect(check.status == 0, "\(check)")
    #expect(check.errors.components(of: "[config.private-name]") == 3, "\(check)")
  }

  @Test("`event` keeps configurations apart and refuses unusable names")
  func apart() throws {
    home.configure("name: other\nsegments: []", to: "other.yaml")
    #expect(try home.run("event", "log", "mine").status == 0)
    #expect(try home.run("event", "log", "theirs", "-c", "other.yaml").status == 0)
    #expect(try rows().map { $0[2] } == ["mine"])
    #expect(try home.run("event", "list", "-c", "other.yaml").output.contains("theirs"))
    for name in ["", " a", "a\nb", String(repeating: "n", count: 201)] {
      #expect(try home.run("event", "log", name).status == 64, "\(name)")
    }
    let family = try home.run("event")
    #expect(family.status == 64 && family.errors.contains("needs to know what to do"), "\(family)")
  }

  @Test("`event log` needs neither secrets nor a configuration")
  func bare() throws {
    home.configure("license: ${env:NOWHERE_SET}\nsegments: []")
    #expect(try home.run("event", "log", "a").status == 0)
    #expect(try home.shell("rm prefetch.yaml; $prefetch event log b").status == 0)
    // Without a configuration the events of all are listed.
    #expect(try rows().map { $0[2] } == ["a", "b"])
  }
}

extension String {
  /// Returns the number of occurrences of a text.
  fileprivate func components(of text: String) -> Int {
    var count = 0
    var rest = self[...]
    while let range = rest.firstRange(of: text) {
      count += 1
      rest = rest[range.upperBound...]
    }
    return count
  }
}
