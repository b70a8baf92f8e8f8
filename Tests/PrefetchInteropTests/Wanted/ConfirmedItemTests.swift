import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Stored items in `get` whose server does not respond.
@Suite("A stored item that no server confirms", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ConfirmedItemTests {
  private let site = Site()
  private let origin: LoopbackServer
  private let home: Home
  private let url: String

  init() throws {
    let site = site
    origin = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    url = origin.address("/a")
    site["/a"] = Site.Page("alpha", headers: [HeaderField("Cache-Control", "max-age=0")])
  }

  private func configure(_ policy: String = "", segments: Bool = false) throws {
    home.configure(
      """
      network: { retries: { items: 0, lookups: 0 } }
      cache: { min_free: 0\(policy) }
      \(segments ? "segments: [{ name: s, urls: [\"\(url)\"] }]" : "")
      """
    )
    #expect(try (segments ? home.run("-q") : home.run("get", "-o", "x", url)).status == 0)
    site["/a"] = Site.Page([], status: 503)
  }

  @Test(
    "An unconfirmed item is not printed with `--revalidate`, whatever its allowed age",
    arguments: [[], ["--max-stale"], ["--max-stale=1h"]],
    [("", false), (", max_stale: 1h", true)]
  )
  func revalidated(options: [String], rule: (policy: String, hasSegment: Bool)) throws {
    try configure(rule.policy, segments: rule.hasSegment)
    let run = try home.run(["get", "--revalidate"] + options + [url])
    #expect(run.status == 69 && run.output.isEmpty, "\(run)")
    #expect(run.errors.contains("answered 503"), "\(run)")
    #expect(origin.requests.count == 2)
  }

  @Test(
    "An unconfirmed item is printed with one warning where its age is allowed",
    arguments: [("", ["--max-age", "0s", "--max-stale"], false), (", max_stale: 1h", [], true)]
  )
  func stale(policy: String, options: [String], hasSegment: Bool) throws {
    try configure(policy, segments: hasSegment)
    let run = try home.run(["get"] + options + [url])
    #expect(run.status == 0 && run.output == "alpha", "\(run)")
    let lines = run.errors.split(separator: "\n")
    #expect(lines.count == 2 && lines[0].hasPrefix("warning: "), "\(run)")
    #expect(lines.last?.hasPrefix("hint: ") == true, "\(run)")
    #expect(run.errors.contains("[get.stale]") && run.errors.contains("503"), "\(run)")
    let document = try home.run(["get", "--json", "-o", "x"] + options + [url]).json()
    #expect(document.list("items").count == 1 && document.list("failures").isEmpty)
    #expect(document.list("items")[0].text("stale") == "true")
  }

  @Test("An unconfirmed item is listed as an item or as a failure, and never as both")
  func document() throws {
    try configure()
    let failing = try home.run("get", "--json", "-o", "x", url)
    #expect(failing.status == 69, "\(failing)")
    let document = try failing.json()
    #expect(document.list("items").isEmpty && document.list("failures").count == 1)
  }
}
