@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("Limits on received bytes", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct TransferLimitTests {
  private static let size = 100_000
  private static let count = 20

  private let home: Home
  private let zone = NoonZone()

  init() throws {
    home = try Home()
  }

  private func configure(_ urls: [String], _ limits: String, further: String = "") {
    let list = urls.map { "\"\($0)\"" }.joined(separator: ", ")
    home.configure(
      """
      segments: [{ name: basics, urls: [\(list)]\(further) }]
      cache: { min_free: 0 }
      network: { concurrency: 2, timezone: \(zone.name), \(limits) }
      """
    )
  }

  @Test("A daily limit defers the rest until local midnight, and the next run sends nothing")
  func daily() throws {
    let body = [UInt8](repeating: 7, count: Self.size)
    let fresh = [("Cache-Control", "max-age=86400")]
    let server = try LoopbackServer { _ in .respond(200, fresh, body: body) }
    let urls = (0..<Self.count).map { server.address("/\($0).bin") }
    configure(urls, "daily_limit: 1MB")
    let run = try home.run("--json", "--items", "all")
    #expect(run.status == 75, "\(run)")
    let report = try run.json()
    #expect(report.text("exit.next_allowed_at") == zone.next(24))
    let fetched = try #require(report.number("totals.fetched"))
    // Headers count too; two may be on the wire when the limit is met.
    #expect((9...12).contains(fetched))
    #expect(report.number("totals.deferred") == Self.count - fetched)
    let deferred = report.list("items").filter { $0.text("outcome") == "deferred" }
    #expect(deferred.allSatisfy { $0.text("deferred.rule") == "daily_limit" })
    #expect(deferred.allSatisfy { $0.text("deferred.until") == zone.next(24) })
    let requestCount = server.requests.count
    // Each of the two places may start another transfer before the budget is known to be spent.
    #expect(requestCount <= fetched + 4)

    let again = try home.run("--json")
    #expect(again.status == 75, "\(again)")
    #expect(try again.json().text("exit.next_allowed_at") == zone.next(24))
    #expect(try again.totals()["requests"] == 0)
    #expect(try home.run("get", urls[Self.count - 1]).status == 75)
    #expect(server.requests.count == requestCount)

    let status = try home.run("status", "--json").json()
    #expect(status.text("quotas.0.period") == "day")
    #expect(try #require(status.number("quotas.0.used")) >= 1_000_000)
    #expect(status.number("quotas.0.remaining") == 0)
    #expect(status.text("quotas.0.renews_at") == zone.next(24))
    #expect(status.text("segments.0.deferred.until") == zone.next(24))

    // With another budget the rest is fetched, and nothing twice.
    configure(urls, "daily_limit: 1GB")
    #expect(try home.run().status == 0)
    #expect(server.requests.count == requestCount + Self.count - fetched)
  }

  @Test("A limit is not exceeded, whatever the number and the size of the transfers")
  func strict() throws {
    let body = [UInt8](repeating: 7, count: 2_000_000)
    let server = try LoopbackServer { request in
      let size = request.path == "/whole.bin" ? body.count : body.count / 8
      return .respond(200, [("ETag", "\"1\"")], body: Array(body.prefix(size)))
    }
    for paths in [["/whole.bin"], (0..<8).map { "/\($0).bin" }] {
      let home = try Home()
      let urls = paths.map { "\"\(server.address($0))\"" }.joined(separator: ", ")
      home.configure(
        """
        segments: [{ name: basics, urls: [\(urls)] }]
        cache: { min_free: 0 }
        network: { timezone: \(zone.name), daily_limit: 1MB }
        """
      )
      let run = try home.run("--json")
      #expect(run.status == 75, "\(run)")
      let report = try run.json()
      #expect(report.text("exit.next_allowed_at") == zone.next(24))
      // Bytes in a buffer count although they are not used.
      #expect(try #require(report.number("totals.bytes_body")) <= 1_000_000)
      #expect(try #require(report.number("totals.deferred")) >= paths.count / 2)
      let requestCount = server.requests.count
      let again = try home.run("--json")
      #expect(again.status == 75, "\(again)")
      #expect(try again.totals()["requests"] == 0)
      #expect(server.requests.count == requestCount)
    }
  }

  @Test(
    "Each day fetches files of half a limit that start together, resumable or not",
    .enabled(if: Tool.isInstalled("faketime"), "needs faketime"),
    arguments: [true, false]
  )
  func progress(hasTags: Bool) throws {
    let site = Site()
    for number in 0..<6 {
      let body = [UInt8](repeating: UInt8(number), count: 90_000)
      site["/\(number).bin"] = Site.Page(
        body,
        entityTag: hasTags ? "\"\(number)\"" : nil,
        headers: [HeaderField("Cache-Control", "max-age=9999999")]
      )
    }
    let server = try LoopbackServer { site.respond(to: $0) }
    let urls = (0..<6).map { "\"\(server.address("/\($0).bin"))\"" }.joined(separator: ", ")
    home.configure(
      """
      segments: [{ name: basics, urls: [\(urls)] }]
      cache: { min_free: 0 }
      network: { timezone: \(zone.name), daily_limit: 200kB }
      """
    )
    let binary = try #require(Binary.path)
    var days = 0
    var last: Int32 = 75
    while last == 75, days < 8 {
      let run = try home.tool("faketime", "-f", "+\(days)d", binary, "run", "--json")
      last = run.status
      let totals = try run.totals()
      #expect(try #require(totals["fetched"]) > 0, "day \(days): \(run)")
      // The limit, exceeded by one read at most.
      #expect(try #require(totals["bytes_wire"]) <= 200_000 + 64 << 10, "day \(days): \(run)")
      days += 1
    }
    #expect(last == 0)
    #expect(days <= (hasTags ? 3 : 4))
    let sent = site.requests.count
    #expect(sent <= (hasTags ? 9 : 10))
    #expect(try home.run("verify").status == 0)
  }

  @Test(
    "A body larger than a daily limit fails at once where it cannot be resumed",
    arguments: ["", "Accept-Ranges"]
  )
  func tooLarge(header: String) throws {
    let body = [UInt8](repeating: 7, count: 300_000)
    let headers =
      header.isEmpty ? [] : [("Accept-Ranges", "none"), ("ETag", "\"1\"")]
    let server = try LoopbackServer { _ in .respond(200, headers, body: body) }
    configure([server.address("/x")], "daily_limit: 200kB")
    let run = try home.run("--json")
    #expect(run.status == 4, "\(run)")
    let report = try run.json()
    #expect(report.text("items.0.error.code") == "too_large", "\(report)")
    let message = try #require(report.text("items.0.error.message"))
    #expect(message.contains("`daily_limit`") && message.contains("200") && message.contains("300"))
    #expect(try #require(report.number("totals.bytes_body")) == 0)
  }

  @Test("Limits by kind of network count separately, and a segment's own counts its bytes")
  func byKind() throws {
    let body = [UInt8](repeating: 7, count: Self.size)
    let server = try LoopbackServer { _ in .respond(200, body: body) }
    let urls = (0..<6).map { server.address("/\($0).bin") }
    configure(urls, "daily_limit: { cellular: 150kB }")
    let first = try home.run("--json", "--network", "cellular")
    #expect(first.status == 75, "\(first)")
    let fetched = try #require(try first.totals()["fetched"])
    // Two transfers that share the rest may both be cut off.
    #expect(fetched <= 2)
    #expect(try home.run("--network", "wifi").status == 0)
    configure(urls, "daily_limit: { cellular: 150kB }, monthly_limit: 2GB")
    #expect(try home.run("--network", "cellular", "--refetch").status == 75)

    let other = try Home()
    other.configure(
      """
      segments:
        - { name: small, urls: ["\(urls[0])", "\(urls[1])", "\(urls[2])", "\(urls[3])"],
            network: { monthly_limit: 150kB } }
        - { name: large, urls: ["\(urls[4])", "\(urls[5])"] }
      cache: { min_free: 0 }
      network: { concurrency: 1 }
      """
    )
    let run = try other.run("--json")
    #expect(run.status == 75, "\(run)")
    let report = try run.json()
    #expect(report.text("segments.0.deferred.rule") == "daily_limit")
    #expect(report.text("segments.1.state") == "current")
  }

  @Test(
    "A body that completes at the limit is stored, and nothing is requested after it",
    arguments: [true, false],
    [0, 1, 100]
  )
  func whole(hasLength: Bool, excess: Int) throws {
    let body = [UInt8](repeating: 7, count: 1_000_000 + excess)
    let fresh = [("Cache-Control", "max-age=86400")]
    let server = try LoopbackServer { _ in
      hasLength
        ? .respond(200, fresh, body: body)
        : .chunked(
          200,
          fresh,
          chunks: stride(from: 0, to: body.count, by: 50_000).map {
            Array(body[$0..<min(body.count, $0 + 50_000)])
          }
        )
    }
    configure([server.address("/whole.bin")], "daily_limit: 1MB")
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.totals()["fetched"] == 1)
    #expect(FileTree.objects(home.cache).count == 1)
    configure([server.address("/whole.bin"), server.address("/next.bin")], "daily_limit: 1MB")
    let next = try home.run("--json")
    #expect(next.status == 75, "\(next)")
    #expect(server.requests.count == 1)
  }

  @Test(
    "A body that meets the limit is kept as a part and resumed with the next budget",
    arguments: [(4_000_000, 2_000_000, "1MB"), (400_000, 350_000, "200kB")]
  )
  func part(size: Int, sent: Int, limit: String) throws {
    let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 7) }
    let site = Site()
    site["/film.mp4"] = Site.Page(body, entityTag: "\"1\"")
    let isFirst = Flag()
    let server = try LoopbackServer { request in
      guard isFirst.raise() else { return site.respond(to: request) }
      let head = Script.head(
        200,
        [("Content-Length", String(body.count)), ("ETag", "\"1\"")]
      )
      return Script([.send(head + body[..<sent]), .silence])
    }
    configure([server.address("/film.mp4")], "daily_limit: \(limit)")
    let run = try home.run("--json")
    #expect(run.status == 75, "\(run)")
    let report = try run.json()
    #expect(report.text("items.0.deferred.rule") == "daily_limit")
    #expect(report.text("exit.next_allowed_at") == zone.next(24))
    #expect(try home.run().status == 75)
    #expect(server.requests.count == 1)

    configure([server.address("/film.mp4")], "daily_limit: 1GB")
    let next = try home.run("--json")
    #expect(next.status == 0, "\(next)")
    #expect(server.requests.last?.headers["Range"]?.hasPrefix("bytes=") == true)
    #expect(try home.run("verify").status == 0)
  }

  @Test("Received bytes count although the run was killed")
  func killed() throws {
    let head = Script.head(200, [("Content-Length", "9000000"), ("ETag", "\"1\"")])
    let body = [UInt8](repeating: 7, count: 3_000_000)
    let server = try LoopbackServer { _ in Script([.send(head + body), .silence]) }
    configure([server.address("/film.mp4")], "daily_limit: 1GB")
    let run = try home.start([])
    var used = 0
    let end = ContinuousClock.now + .seconds(60)
    while used < 1_000_000, ContinuousClock.now < end {
      used = try home.run("status", "--json").json().number("quotas.0.used") ?? 0
    }
    run.signal(SIGKILL)
    #expect(run.finish().status == 128 + SIGKILL)
    let status = try home.run("status", "--json").json()
    #expect(try #require(status.number("quotas.0.used")) >= 1_000_000)
  }
}
