import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite(
  "Items that are named, shared, or left out",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct ItemChoiceTests {
  private let site = Site()
  private let server: LoopbackServer
  private let home: Home

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    for name in ["1", "2", "3"] {
      site["/v/\(name).mp4"] = Site.Page("film \(name)")
      site["/p/\(name).jpg"] = Site.Page("picture \(name)")
    }
  }

  /// Publishes a manifest of these items and configures further lines.
  private func configure(_ items: String..., adding lines: String = "") {
    site["/list.json"] = Site.Page(
      "{ \"format\": \"prefetch-manifest\", \"version\": 1, \"items\": ["
        + items.joined(separator: ", ") + "] }"
    )
    home.configure(
      """
      cache: { min_free: 0 }
      segments: [{ name: s, manifest: "\(server.address("/list.json"))" }]
      \(lines)
      """
    )
  }

  private static let first = #"{ "id": "1", "provider": "tv", "url": "v/1.mp4" }"#

  private func requestCount(_ path: String) -> Int {
    server.requests(of: path).count
  }

  // MARK: Names

  @Test("An item that is paused by its name before it is stored is resumed by that name")
  func pausedByName() throws {
    configure(Self.first, adding: "download: { behavior: none }")
    #expect(try home.run("-q").status == 0)
    configure(Self.first)
    #expect(try home.run("pause", "tv/1").status == 0)
    #expect(try home.run("explain", "--json", "tv/1").json().text("state") == "paused")
    #expect(try home.run("list", "--provider", "tv").output.contains("paused"))
    #expect(try home.run("-q").status == 0)
    #expect(requestCount("/v/1.mp4") == 0)
    #expect(try home.run("resume", "tv/1").status == 0)
    #expect(try home.run("-q").status == 0)
    #expect(requestCount("/v/1.mp4") == 1)
  }

  @Test("A body that was stored by its URL is found by the item's name")
  func storedUnnamed() throws {
    configure(Self.first, adding: "download: { behavior: none }")
    #expect(try home.run("-q").status == 0)
    home.write("film 1", to: "one.mp4")
    let url = server.address("/v/1.mp4")
    #expect(try home.run("import", "one.mp4", "--url", url).status == 0)
    #expect(try home.run("lock", "tv/1").status == 0)
    #expect(try home.run("unlock", "tv/1").status == 0)
    #expect(try home.run("pause", "tv/1").status == 0)
    #expect(try home.run("path", url).status == 0)
    #expect(try home.run("verify").output.contains("0 orphans") || home.run("verify").status == 0)
    #expect(try home.run("rm", "tv/1").status == 0)
  }

  @Test("An item that runs leave out is fetched by `get` as declared, or not at all")
  func leftOut() throws {
    // A digest of zeros is a digest like any other.
    let wrong = String(repeating: "0", count: 64)
    configure(
      #"{ "id": "1", "provider": "q", "url": "v/1.mp4", "digests": { "sha256": "\#(wrong)" } }"#,
      #"{ "id": "2", "provider": "q", "url": "v/2.mp4", "thumbnail": "p/2.jpg" }"#,
      Self.first.replacing("v/1", with: "v/3"),
      adding: "download: { sources: { q: no } }"
    )
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("get", "q/1").status == 5)
    #expect(try home.run("get", "q/2").output == "film 2")
    #expect(try home.run("list", "--provider", "q").output.contains("/v/2.mp4"))
    #expect(try home.run("get", "--behavior", "thumbnails", "q/2").output == "picture 2")
    let explained = try home.run("explain", "--json", "q/1").json()
    #expect(explained.text("reason")?.contains("source `q` is switched off") == true)
    #expect(try home.run("-q").status == 0)
  }

  // MARK: Thumbnails

  @Test("A shared thumbnail is fetched if any of its items needs it")
  func shared() throws {
    configure(
      #"{ "url": "v/1.mp4", "thumbnail": "p/1.jpg", "behavior": "none" }"#,
      #"{ "url": "v/2.mp4", "thumbnail": "p/1.jpg" }"#,
      #"{ "url": "v/3.mp4", "thumbnail": "p/3.jpg", "expires": "2001-01-01" }"#,
      #"{ "url": "p/2.jpg", "provider": "off" }"#,
      #"{ "url": "x", "id": "x", "thumbnail": "p/2.jpg" }"#,
      #"{ "url": "y", "id": "y", "thumbnail": "p/3.jpg" }"#,
      adding: "download: { sources: { off: no } }"
    )
    site["/x"] = Site.Page("x")
    site["/y"] = Site.Page("y")
    #expect(try home.run("-q").status == 0)
    #expect(
      requestCount("/p/1.jpg") == 1 && requestCount("/p/2.jpg") == 1
        && requestCount("/p/3.jpg") == 1
    )
    #expect(requestCount("/v/1.mp4") == 0 && requestCount("/v/2.mp4") == 1)
    let removed = try home.run("rm", "x")
    #expect(removed.output.contains("/p/2.jpg"), "what goes along is named: \(removed)")
    #expect(try home.run("get", "--behavior", "all", server.address("/v/1.mp4")).status == 0)
    #expect(try home.run("rm", server.address("/v/1.mp4")).output.contains("p/1.jpg") == false)
    #expect(try home.run("path", server.address("/p/1.jpg")).status == 0)
  }

  @Test("A failed thumbnail does not fail its item")
  func missingThumbnail() throws {
    configure(#"{ "id": "1", "provider": "tv", "url": "v/1.mp4", "thumbnail": "p/none.jpg" }"#)
    let run = try home.run("get", server.address("/v/1.mp4"))
    #expect(run.status == 0 && run.output == "film 1")
    #expect(try home.run("-q", "--set", "download.behavior=none").status == 0)
    #expect(try home.run("get", "tv/1").status == 0)
  }

  @Test("Headers of an item go to its thumbnail on the same server only")
  func headers() throws {
    let other = Site(["/t.jpg": Site.Page("t")])
    let elsewhere = try LoopbackServer { other.respond(to: $0) }
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - name: s
          urls:
            - { url: "\(server.address("/v/1.mp4"))", headers: { Authorization: "Bearer secret" },
                thumbnail: "\(elsewhere.address("/t.jpg"))" }
            - { url: "\(server.address("/v/2.mp4"))", headers: { X-Own: "secret" },
                thumbnail: "\(server.address("/p/2.jpg"))" }
      """
    )
    #expect(try home.run("-q").status == 0)
    #expect(try #require(other.requests.first).headers["Authorization"] == nil)
    #expect(try #require(server.requests(of: "/p/2.jpg").first).headers["X-Own"] == "secret")
  }

  // MARK: Pauses

  @Test("A pause outlives its body when `rm` or `gc` removes it")
  func pausedWithoutBody() throws {
    configure(Self.first, Self.first.replacing("1", with: "2"))
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("pause", "tv/1", "tv/2").status == 0)
    #expect(try home.run("rm", "tv/1").status == 0)
    #expect(try home.run("gc", "--set", "cache.size=1").status == 0)
    #expect(try home.run("--json", "-q").status == 0)
    let list = try home.run("list").output
    #expect(list.split(separator: "\n").allSatisfy { $0.hasPrefix("paused") }, "\(list)")
    #expect(requestCount("/v/1.mp4") == 1 && requestCount("/v/2.mp4") == 1)
  }

  @Test("A list whose items are all withheld is not an empty list")
  func withheldList() throws {
    let url = server.address("/v/1.mp4")
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - { name: s, behavior: none, fail_on_empty: true, urls: ["\(url)"] }
      """
    )
    for _ in 1...2 {
      let run = try home.run("run")
      #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    }
    #expect(try home.run("get", "--behavior", "all", url).output == "film 1")
    // A filter that leaves no item counts as an empty list.
    let empty = try home.run("run", "--set", "segments.s.exclude=*")
    #expect(empty.status == 3 || empty.status == 4, "\(empty)")
  }

  // MARK: Several who tell

  @Test("A URL of two segments is one item, and the segment that fetches it decides")
  func twoSegments() throws {
    let url = server.address("/v/1.mp4")
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - { name: lazy, behavior: none, urls: ["\(url)"] }
        - { name: eager, urls: ["\(url)"] }
      """
    )
    let explained = try home.run("explain", "--json", url).json()
    #expect(explained.text("decision") == "fetch")
    let states = ItemState.allCases.map(\.rawValue).joined(separator: ",")
    let listed = try home.run("list", "--state", states).output.split(separator: "\n")
    #expect(listed.count == 1 && listed[0].contains("lazy,eager"), "\(listed)")
    #expect(try home.run("-q").status == 0)
    #expect(requestCount("/v/1.mp4") == 1)
  }

  @Test("A tree is complete without items that a behaviour withholds")
  func published() throws {
    site["/list.json"] = Site.Page(
      #"{ "format": "prefetch-manifest", "version": 1, "items": ["#
        + #"{ "url": "v/1.mp4", "thumbnail": "p/1.jpg" }] }"#
    )
    home.configure(
      """
      cache: { min_free: 0 }
      download: { behavior: thumbnails }
      segments:
        - { name: s, manifest: "\(server.address("/list.json"))", publish: { dir: out, atomic: true } }
      """
    )
    #expect(try home.run("-q").status == 0)
    let publish = try home.run("publish")
    #expect(publish.status == 0, "\(publish)")
  }

  @Test("An item that is given up keeps the reason of its failure")
  func givenUp() throws {
    configure(Self.first, adding: "download: { retry_failed: no }")
    site["/v/1.mp4"] = nil
    #expect(try home.run("-q").status == 4)
    #expect(try home.run("-q").status != 0)
    #expect(requestCount("/v/1.mp4") == 1)
    let error = try home.run("list", "--json").json().text("items.0.error.code")
    #expect(error == "gone")
  }
}
