import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("An age gate", .enabled(if: Binary.isGiven && FakedProgram.isPossible, "needs faketime"))
struct AgeTests {
  @Test("A new body waits for its age, and an older body stays without a word to cron")
  func waits() throws {
    let ground = try AgeGround()
    ground.serve("one", at: "/a")
    ground.declare("/a")
    let first = try ground.run()
    #expect(first.status == 75 && first.output.contains("deferred by age"), "\(first)")
    #expect(ground.requests == ["HEAD /a"])
    // Monitoring sees no failure where everything is as the configuration wants it.
    let health = try ground.run("status", "--nagios", "--max-age", "2h")
    #expect(health.status == 0 && health.output.contains("1 deferred"), "\(health)")
    ground.move(toHour: 23)
    #expect(try ground.run("-q").status == 75)
    ground.move(toHour: 25)
    #expect(try ground.run().status == 0)
    #expect(ground.requests == ["GET /a", "HEAD /a"] && ground.shown("a") == "one")

    ground.serve("two", at: "/a")
    for hour: Int64 in [26, 40] {
      ground.move(toHour: hour)
      let quiet = try ground.run("-q")
      #expect(quiet.status == 0 && quiet.output.isEmpty && quiet.errors.isEmpty, "\(quiet)")
      #expect(ground.requests == ["HEAD /a"] && ground.shown("a") == "one")
    }
    let status = try ground.run("status")
    #expect(status.status == 0 && status.output.contains("current"), "\(status)")
    // The server exchanges it once more: the wait begins again.
    ground.serve("three", at: "/a")
    #expect(try ground.run("-q").status == 0)
    ground.move(toHour: 60)
    #expect(try ground.run("-q").status == 0)
    #expect(ground.shown("a") == "one")
    let account = try ground.run("explain", ground.url("/a")).output
    #expect(account.contains("a run first saw it"), "\(account)")
    #expect(account.contains("newer bodies made the wait begin again once"), "\(account)")
    ground.move(toHour: 65)
    #expect(try ground.run("-q").status == 0)
    #expect(ground.shown("a") == "three")
    #expect(try ground.run("verify").status == 0)
  }

  @Test("Exceptions and `--allow age` take a body at once, and only once")
  func exceptions() throws {
    let ground = try AgeGround()
    for name in ["a.bin", "a.sig"] { ground.serve(name, at: "/\(name)") }
    ground.declare("/a.bin", "/a.sig", rules: #"min_age: 1d, min_age_except: ["*.sig"]"#)
    #expect(try ground.run().status == 75)
    #expect(ground.requests == ["GET /a.sig", "HEAD /a.bin"])
    #expect(try ground.run("--allow", "age").status == 0)
    #expect(ground.shown("a.bin") == "a.bin")
    ground.serve("new", at: "/a.bin")
    #expect(try ground.run("-q").status == 0)
    #expect(ground.shown("a.bin") == "a.bin")
  }

  @Test("A body without tag and date is known by a whole transfer, which is not repeated")
  func unmarked() throws {
    let ground = try AgeGround()
    ground.site["/a"] = Site.Page(Array("one".utf8))
    ground.declare("/a")
    #expect(try ground.run().status == 75)
    #expect(ground.requests == ["GET /a", "HEAD /a"])
    ground.move(toHour: 12)
    #expect(try ground.run().status == 75)
    #expect(ground.requests == [])
    #expect(ground.shown("a") == nil)
    ground.move(toHour: 25)
    #expect(try ground.run().status == 0)
    #expect(ground.shown("a") == "one")
  }

  @Test("A server that refuses HEAD is asked by GET, and its young body is not kept")
  func refusedHead() throws {
    let site = Site()
    site["/a"] = Site.Page("one")
    let server = try LoopbackServer { request in
      request.method == "HEAD" ? .respond(405, text: "no") : site.respond(to: request)
    }
    let ground = try AgeGround()
    ground.configure(
      #"  - { name: s, urls: ["\#(server.address("/a"))"], min_age: 1d, publish: { dir: dir } }"#
    )
    #expect(try ground.run().status == 75)
    #expect(try ground.run("list").output.contains("idle"))
    ground.move(toHour: 12)
    #expect(try ground.run().status == 75)
    // The first transfer shows which body it is; none follows before its time.
    #expect(site.requests.map(\.method) == ["GET"])
    ground.move(toHour: 25)
    #expect(try ground.run().status == 0)
    #expect(site.requests.count == 2)
  }

  @Test("A server whose HEAD shows other tags than GET delays a body, but not for ever")
  func otherHead() throws {
    let site = Site()
    site["/a"] = Site.Page("one")
    let server = try LoopbackServer { request in
      request.method == "HEAD"
        ? .respond(200, [("ETag", "\"other\"")], text: "") : site.respond(to: request)
    }
    let ground = try AgeGround()
    ground.configure(
      #"  - { name: s, urls: ["\#(server.address("/a"))"], min_age: 1d, publish: { dir: dir } }"#
    )
    #expect(try ground.run().status == 75)
    #expect(site.requests.isEmpty)
    ground.move(toHour: 25)
    #expect(try ground.run().status == 75)
    ground.move(toHour: 30)
    #expect(try ground.run().status == 75)
    #expect(site.requests.count == 1)
    ground.move(toHour: 50)
    #expect(try ground.run().status == 0)
  }

  @Test("A dry run says what waits, and records no sight")
  func dryRun() throws {
    let ground = try AgeGround()
    ground.serve("one", at: "/a")
    ground.declare("/a")
    let plan = try ground.run("plan")
    #expect(plan.output.hasPrefix("defer\tfiles"), "\(plan)")
    ground.move(toHour: 25)
    #expect(try ground.run().status == 75)
    ground.move(toHour: 50)
    #expect(try ground.run("plan").output.hasPrefix("fetch\tfiles"))
    #expect(try ground.run().status == 0)
    ground.serve("two", at: "/a")
    let update = try ground.run("plan")
    #expect(update.status == 0 && update.output.hasPrefix("defer\tfiles"), "\(update)")
  }

  @Test("`get` gives the older body, and waits where there is none")
  func single() throws {
    let ground = try AgeGround()
    ground.serve("one", at: "/a")
    ground.declare("/a")
    let early = try ground.run("get", ground.url("/a"))
    #expect(early.status == 75 && early.output.isEmpty, "\(early)")
    #expect(early.errors.contains("deferred by age"), "\(early)")
    #expect(try ground.run("-q", "--allow", "age").status == 0)
    ground.serve("two", at: "/a")
    let older = try ground.run("get", ground.url("/a"))
    #expect(older.status == 0 && older.output == "one", "\(older)")
  }

  @Test("What a list replaces stays until its successor is old enough")
  func removal() throws {
    let ground = try AgeGround()
    let list = { (names: [String]) in
      for name in names { ground.serve("body of \(name)", at: "/\(name)") }
      let lines = names.map { "\(Digest.hexadecimal("body of \($0)"))  \($0)\n" }
      ground.serve(lines.joined(), at: "/SHA256SUMS")
    }
    list(["tool-1", "base"])
    ground.configure(
      """
        - name: files
          manifest: "\(ground.url("/SHA256SUMS"))"
          min_age: 1d
          publish: { dir: dir }
      """
    )
    #expect(try ground.run("-q", "--allow", "age").status == 0)
    list(["tool-2", "base"])
    #expect(try ground.run("-q").status == 75)
    #expect(ground.requests == ["GET /SHA256SUMS"])
    #expect(ground.shown("tool-1") != nil && ground.shown("tool-2") == nil)
    ground.move(toHour: 25)
    #expect(try ground.run("-q").status == 0)
    #expect(ground.shown("tool-1") == nil && ground.shown("tool-2") != nil)
  }

  @Test("A lock lifts the gate for what it pins, and the gate holds for its updates")
  func lock() throws {
    let ground = try AgeGround()
    ground.serve("one", at: "/a")
    ground.declare("/a")
    #expect(try ground.run("-q", "--allow", "age").status == 0)
    #expect(try ground.run("freeze").status == 0)
    try ground.home.removeCache()
    #expect(try ground.run("-q").status == 0)
    #expect(ground.shown("a") == "one")
    ground.serve("two", at: "/a")
    _ = try ground.run("freeze", "--update")
    #expect(ground.home.read("prefetch.lock")?.contains(Digest.hexadecimal("one")) == true)
    ground.move(toHour: 25)
    #expect(try ground.run("freeze", "--update").status == 0)
    #expect(ground.home.read("prefetch.lock")?.contains(Digest.hexadecimal("two")) == true)
  }

  @Test("A clock that servers contradict lets no body pass, and its sights do not count")
  func clock() throws {
    let site = Site()
    site["/a"] = Site.Page("one", headers: [])
    let date = HTTPDate.format(AgeGround.ago(hours: 0))
    let server = try LoopbackServer { request in
      var page = site.page(for: request)
      page.headers.append(HeaderField("Date", date))
      let head = page.headers.map { ($0.name, $0.value) }
      return .respond(page.status, head, text: request.method == "HEAD" ? "" : "one")
    }
    let ground = try AgeGround()
    ground.configure(#"  - { name: s, urls: ["\#(server.address("/a"))"], min_age: 1d }"#)
    ground.move(toHour: 24 * 30)
    #expect(try ground.run("-q").status == 75)
    ground.move(toHour: 24 * 33)
    #expect(try ground.run("-q").status == 75)
  }

  @Test("The newest version that is old enough is the one to take")
  func versions() throws {
    let ground = try AgeGround()
    let publish = { (ages: [(String, Int64)]) in
      let items = ages.map { version, hours in
        ground.serve(version, at: "/tool-\(version).zip")
        return
          #"{"url": "tool-\#(version).zip", "mtime": "\#(Timestamp.format(AgeGround.ago(hours: hours)))"}"#
      }
      let head = #"{"format": "prefetch-manifest", "version": 1, "items": ["#
      ground.serve(head + items.joined(separator: ", ") + "]}", at: "/list.json")
    }
    publish([("1.8", 900), ("1.9", 400), ("1.10", 2)])
    ground.configure(
      """
        - name: files
          manifest: "\(ground.url("/list.json"))"
          select: { name: "tool-@v.zip" }
          min_age: 7d
          age_from: published
          publish: { dir: dir, layout: basename }
      """
    )
    let run = try ground.run()
    #expect(run.status == 0, "\(run)")
    #expect(ground.shown("tool-1.9.zip") == "1.9" && ground.shown("tool-1.10.zip") == nil)
    let account = { (version: String) in
      try ground.run("explain", ground.url("/tool-\(version).zip")).output
    }
    let (young, old, older) = try (account("1.10"), account("1.9"), account("1.8"))
    #expect(young.contains("its list dates it") && young.contains("decision   defer"), "\(young)")
    #expect(old.contains("decision   keep") || old.contains("decision   revalidate"), "\(old)")
    #expect(older.contains("left out"), "\(older)")
    #expect(try ground.run("freeze").status == 0)
    #expect(ground.home.read("prefetch.lock")?.contains("tool-1.9.zip") == true)
    #expect(ground.home.read("prefetch.lock")?.contains("tool-1.10.zip") == false)
    #expect(try ground.home.tool("rm", ground.home.path("prefetch.lock")).status == 0)
    ground.move(toHour: 24 * 8)
    #expect(try ground.run("-q").status == 0)
    #expect(ground.shown("tool-1.9.zip") == nil && ground.shown("tool-1.10.zip") == "1.10")
    // A longer age does not take back what is here.
    #expect(try ground.run("-q", "--set", "defaults.min_age=30d").status == 0)
    #expect(try ground.run("-q", "--set", "segments.files.min_age=30d").status == 0)
    #expect(ground.shown("tool-1.10.zip") == "1.10")
  }
}
