import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("Titles and data of items", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ItemTitleTests {
  private let site = Site()
  private let server: LoopbackServer
  private let home: Home

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    for name in ["/a", "/b", "/c"] { site[name] = Site.Page("the body of \(name)") }
  }

  private func putManifest(title: String, info: String) {
    let text = """
      { "format": "prefetch-manifest", "version": 1, "items": [
        { "url": "a", "id": "first", "title": "\(title)", "info": \(info) },
        { "url": "b", "id": "second" } ] }
      """
    let type = HeaderField("Content-Type", "application/json")
    site["/list.json"] = Site.Page(text, headers: [type])
  }

  private func declareManifest() {
    home.configure(
      """
      cache: { min_free: 0 }
      segments: [{ name: shows, manifest: "\(server.address("/list.json"))", ttl: 1d }]
      """
    )
  }

  private func item(_ id: String) throws -> Node {
    let items = try home.run("list", "--json").json().list("items")
    return try #require(items.first { $0.text("id") == id })
  }

  private func found(_ text: String) throws -> [String] {
    try home.run("list", "--search", text, "--json").json().list("items")
      .compactMap { $0.text("id") }
  }

  @Test("Title and info of a manifest are listed, explained, reported and searchable")
  func manifest() throws {
    putManifest(
      title: "Der Kometenschweif",
      info: #"{ "actors": ["Ada Lovelace"], "stars": 4.5, "new": true, "of": null }"#
    )
    declareManifest()
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    let reported = try run.json().list("items").first { $0.text("id") == "first" }
    #expect(reported?.text("title") == "Der Kometenschweif", "\(run)")
    let first = try item("first")
    #expect(first.text("title") == "Der Kometenschweif")
    #expect(first.text("info.actors.0") == "Ada Lovelace" && first.text("info.stars") == "4.5")
    #expect(first.text("info.new") == "true")
    #expect(try item("second").text("title") == nil && item("second").text("info") == nil)
    #expect(try found("kometen") == ["first"] && found("LOVELACE") == ["first"])
    #expect(try found("actors") == [], "names of keys are no texts")
    let explained = try home.run("explain", "first")
    #expect(explained.output.contains("title      Der Kometenschweif"), "\(explained)")
    #expect(try home.run("explain", "first", "--json").json().text("item.info.stars") == "4.5")
  }

  @Test("A new title is stored without a request for the body, and a removed one is deleted")
  func changes() throws {
    putManifest(title: "old", info: #""words""#)
    declareManifest()
    #expect(try home.run("-q").status == 0)
    #expect(try item("first").text("info") == "words")
    let requestCount = server.requests.count
    putManifest(title: "new", info: "null")
    #expect(try home.run("-q").status == 0)
    #expect(server.requests.dropFirst(requestCount).map(\.path) == ["/list.json"])
    #expect(try item("first").text("title") == "new" && item("first").text("info") == nil)
    #expect(try found("new") == ["first"] && found("words") == [])
    #expect(try home.run("verify").status == 0)
  }

  @Test("Inline and pending items have a title and info too")
  func inline() throws {
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - name: shows
          urls:
            - { url: "\(server.address("/a"))", id: first, title: "A \\e[31mred\\e[0m one", info: { kind: [x, 7] } }
            - { url: "\(server.address("/c"))", id: third, title: Missing }
      """
    )
    let pending = try home.run("list", "--state", "pending", "--search", "missing", "--json").json()
    #expect(pending.list("items").compactMap { $0.text("id") } == ["third"])
    #expect(try home.run("-q").status == 0)
    #expect(try item("first").text("info.kind.1") == "7")
    #expect(try item("first").text("title") == "A \u{1B}[31mred\u{1B}[0m one")
    let explained = try home.run("explain", "first").output
    #expect(explained.contains("title") && !explained.contains("\u{1B}"), "\(explained)")
    let effective = try home.run("config", "--json").json()
    #expect(effective.text("config.segments.0.urls.0.info.kind.0") == "x")
    let copy = home.path("copy")
    #expect(try home.run("export", copy).status == 0)
    let listed = try home.run("list", "--cache-dir", copy, "--json").json().list("items")
    #expect(listed.compactMap { $0.text("title") }.contains("Missing"))
  }

  @Test("The titles of a feed are stored")
  func feed() throws {
    site["/feed.xml"] = Site.Page(
      """
      <rss version="2.0"><channel><title>c</title><item><title>Folge 41</title>
      <enclosure url="\(server.address("/a"))" length="14" type="audio/mpeg"/></item></channel></rss>
      """,
      headers: [HeaderField("Content-Type", "application/rss+xml")]
    )
    home.configure(
      """
      cache: { min_free: 0 }
      segments: [{ name: pod, manifest: "\(server.address("/feed.xml"))" }]
      """
    )
    let run = try home.run("-q")
    #expect(run.status == 0, "\(run)")
    let listed = try home.run("list", "--search", "folge", "--json").json().list("items")
    #expect(listed.first?.text("title") == "Folge 41")
  }

  @Test("Data of more than 64 KiB is left out, and its item is still fetched")
  func long() throws {
    putManifest(title: "t", info: "\"\(String(repeating: "x", count: 70_000))\"")
    declareManifest()
    #expect(try home.run("-q").status == 0)
    #expect(try item("first").text("title") == "t" && item("first").text("info") == nil)
  }
}
