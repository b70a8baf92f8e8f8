import PrefetchCore
import PrefetchTestSupport
import Testing

/// Requests of `serve --pull` to servers, and its responses to clients.
@Suite("A cache server that pulls", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct PullTests {
  private let site = Site()
  private let origin: LoopbackServer
  private let home: Home

  init() throws {
    let site = site
    origin = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    configure("")
  }

  private func configure(_ more: String) {
    home.configure(
      "network: { retries: { items: 0, lookups: 0 } }\ncache: { min_free: 0 }\n\(more)"
    )
  }

  @Test(
    "A pulling server sends no request for a stored item that its digest pins"
  )
  func pinned() throws {
    site["/a"] = Site.Page("alpha", headers: [HeaderField("Cache-Control", "no-cache")])
    configure(
      """
      segments:
        - { name: s, urls: [{ url: "\(origin.address("/a"))", sha256: \(Digest.hexadecimal("alpha")) }] }
      """
    )
    #expect(try home.run("-q").status == 0)
    site["/a"] = Site.Page("other")
    let serving = try Serving(home, "--pull")
    for fields in [[], ["Cache-Control: no-cache"]] {
      let response = try serving.client.get(origin.servedPath("/a"), fields)
      #expect(response.status == 200 && response.body == "alpha", "\(response)")
    }
    #expect(origin.requests.count == 1)
  }

  @Test("A pulling server passes on the status of a refusal, and answers 502 without a response")
  func refusals() throws {
    let serving = try Serving(home, "--pull")
    for status in [403, 405, 429, 451, 500, 503] {
      site["/\(status)"] = Site.Page([], status: status)
      #expect(try serving.client.get(origin.servedPath("/\(status)")).status == status)
    }
    #expect(try serving.client.get("/127.0.0.1:\(LoopbackPort.free())/x").status == 502)
  }

  @Test("A pulling server requests an absent item again for a client that sends `no-cache`")
  func insistentClient() throws {
    let serving = try Serving(home, "--pull")
    let target = origin.servedPath("/late")
    #expect(try serving.client.get(target).status == 404)
    site["/late"] = Site.Page("here")
    #expect(try serving.client.get(target).status == 404)
    let response = try serving.client.get(target, ["Cache-Control: no-cache"])
    #expect(response.status == 200 && response.body == "here", "\(response)")
  }

  @Test(
    "A pulling server gives a stale copy for a deferred request only within `max_stale`"
  )
  func deferred() throws {
    for (path, control) in [
      ("/a", "max-age=0"), ("/b", "max-age=0, must-revalidate"), ("/c", "no-cache"),
    ] {
      site[path] = Site.Page("old", headers: [HeaderField("Cache-Control", control)])
      #expect(try home.run("get", "-o", "x", origin.address(path)).status == 0)
    }
    home.configure("network: { allow: [wifi] }\ncache: { min_free: 0 }")
    let strict = try Serving(home, "--pull", "--network", "cellular")
    #expect(try strict.client.get(origin.servedPath("/a")).status == 503)
    let wish = try strict.client.get(origin.servedPath("/a"), ["Cache-Control: max-stale=60"])
    #expect(wish.status == 200 && wish.headers["age"] != nil, "\(wish)")
    let lenient = try Serving(home, "--pull", "--network", "cellular", "--max-stale=1h")
    let stale = try lenient.client.get(origin.servedPath("/a"))
    #expect(stale.status == 200 && stale.body == "old", "\(stale)")
    for path in ["/b", "/c"] {
      #expect(try lenient.client.get(origin.servedPath(path)).status == 503, "\(path)")
    }
    #expect(origin.requests.count == 3)
  }

  @Test("A pulling server uses https for an item that is declared so, although http is allowed")
  func declaredAsSecure() throws {
    site["/a"] = Site.Page("in the clear")
    configure(
      "segments: [{ name: s, urls: [\"https://127.0.0.1:\(origin.port)/a\"] }]"
    )
    let serving = try Serving(home, "--pull")
    let response = try serving.client.get(origin.servedPath("/a"))
    #expect(response.status == 502 && response.body != "in the clear", "\(response)")
    #expect(origin.requests.isEmpty)
    site["/b"] = Site.Page("in the clear")
    #expect(try serving.client.get(origin.servedPath("/b")).status == 200)
  }
}
