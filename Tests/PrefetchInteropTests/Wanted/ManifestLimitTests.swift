import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Limits that a manifest sets for its items, in `run`, `get` and `explain`.
@Suite("Rules of a manifest", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ManifestLimitTests {
  private let site = Site()
  private let origin: LoopbackServer
  private let home: Home

  init() throws {
    let site = site
    origin = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    site["/a"] = Site.Page("alpha")
  }

  private var url: String { origin.address("/a") }

  /// Publishes a manifest with these rules, which a run reads without fetching items.
  private func publish(
    _ rules: String,
    item: String = "",
    options: [String] = [],
    isMet: Bool = false
  ) throws {
    site["/list.json"] = Site.Page(
      """
      { "format": "prefetch-manifest", "version": 1, \(rules)
        "items": [{ "url": "a", "id": "a", "size": 5\(item) }] }
      """
    )
    home.configure(
      """
      cache: { min_free: 0 }
      segments: [{ name: s, manifest: "\(origin.address("/list.json"))" }]
      """
    )
    let run = try home.run(["-q"] + options)
    #expect((run.status == 0) == isMet, "\(run)")
    #expect(origin.requests(of: "/a").isEmpty == !isMet, "a run obeys it")
  }

  private func explained(_ options: [String] = []) throws -> Node {
    try home.run(["explain", "--json"] + options + [url]).json()
  }

  private func verdict(of rule: String, in document: Node) -> String? {
    document.list("rules").first { $0.text("rule") == rule }?.text("verdict")
  }

  @Test("Rules of a manifest about the size of files hold for `get` and `explain`")
  func size() throws {
    try publish(#""policy": { "max_file_size": 4 },"#)
    let document = try explained()
    #expect(document.text("decision") == "fail", "\(document)")
    #expect(verdict(of: "max_file_size", in: document) == "refused")
    for name in [url, "a"] {
      let get = try home.run("get", name)
      #expect(get.status == 4 && get.errors.contains("[too_large]"), "\(get)")
    }
    #expect(origin.requests(of: "/a").isEmpty)
  }

  @Test(
    "Rules of a manifest about the network hold for `get` and `explain`",
    arguments: [
      (#""network": { "allow": ["wifi"] },"#, ""), (#""policy": { "allow": ["wifi"] },"#, ""),
      ("", #", "network": { "allow": ["wifi"] }"#),
    ]
  )
  func network(rules: String, item: String) throws {
    let cellular = ["--network", "cellular"]
    try publish(rules, item: item, options: cellular)
    let document = try explained(cellular)
    #expect(document.text("decision") == "defer", "\(document)")
    let get = try home.run(["get"] + cellular + [url])
    #expect(get.status == 75 && get.errors.contains("network_type"), "\(get)")
    #expect(origin.requests(of: "/a").isEmpty)
    #expect(try explained(["--network", "wifi"]).text("decision") == "fetch")
    #expect(try home.run("get", "--network", "wifi", url).output == "alpha")
  }

  @Test("Rules of a manifest that switch off runs do not affect `get`, and `explain` knows them")
  func switchedOff() throws {
    try publish(#""policy": { "features": { "precaching": false } },"#)
    #expect(try explained().text("decision") == "defer")
    #expect(try home.run("get", url).output == "alpha")
  }

  @Test("Rules of a manifest about bytes a day hold for transfers of `get`")
  func daily() throws {
    // The body that exceeds the limit still completes.
    try publish(#""policy": { "daily_limit": 3 },"#, isMet: true)
    let get = try home.run("get", "--revalidate", url)
    #expect(get.status == 75 && get.errors.contains("daily_limit"), "\(get)")
    #expect(try explained().list("rules").contains { $0.text("rule") == "network.daily_limit" })
  }
}

/// Rules of the configuration that `explain` left out.
@Suite("Output of `explain`", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ExplainedRuleTests {
  private let home: Home

  init() throws {
    home = try Home(isInMemory: true)
  }

  private func rules(of url: String) throws -> [String: String] {
    let document = try home.run("explain", "--json", url).json()
    let rules = document.list("rules").map { ($0.text("rule") ?? "", $0.text("reason") ?? "") }
    return Dictionary(rules) { first, _ in first }
  }

  @Test("`explain` names the headers that other hosts do not get")
  func headers() throws {
    home.write(
      #"{"format":"prefetch-manifest","version":1,"items":[{"url":"https://b.example/x"},{"url":"https://a.example/y"}]}"#,
      to: "list.json"
    )
    home.configure(
      """
      transport: { rules: [{ match: "**", headers: { X-Rule: r } }] }
      segments:
        - { name: s, manifest: list.json, base: "https://a.example/", headers: { X-Key: k } }
      """
    )
    let other = try rules(of: "https://b.example/x")
    #expect(other["headers"]?.contains("`X-Key` goes to `a.example` alone") == true, "\(other)")
    let own = try rules(of: "https://a.example/y")
    #expect(own["headers"]?.contains("sends `X-Key`") == true, "\(own)")
  }

  @Test("`explain` says whether the shared store is requested first", arguments: [false, true])
  func tier(isTrusted: Bool) throws {
    let digest = Digest.hexadecimal("x")
    home.configure(
      """
      cache: { remote: { url: "http://127.0.0.1:9/", trust: \(isTrusted) } }
      segments:
        - name: s
          urls: [{ url: "https://a.example/pinned", sha256: \(digest) }, "https://a.example/plain"]
      """
    )
    #expect(
      try rules(of: "https://a.example/pinned")["cache.remote"]
        == "`127.0.0.1:9` is asked first, for the body of the declared digest"
    )
    #expect(
      try rules(of: "https://a.example/plain")["cache.remote"]
        == (isTrusted
          ? "`127.0.0.1:9` is asked first, for what the server last said"
          : "`127.0.0.1:9` is not asked: no SHA-256 is declared, and `trust` is not set")
    )
  }
}
