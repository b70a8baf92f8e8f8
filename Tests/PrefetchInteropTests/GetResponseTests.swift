import PrefetchCore
import PrefetchTestSupport
import Testing

/// Responses that `get` receives: a refusal is final, and a missing item costs one request.
@Suite("Responses to `get`", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct GetResponseTests {
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

  private func page(_ text: String, _ control: String, status: Int = 200) -> Site.Page {
    var page = Site.Page(text, headers: [HeaderField("Cache-Control", control)])
    page.status = status
    return page
  }

  @Test(
    "An unstored item costs `get` one request, and nothing is stored",
    arguments: ["store: false", "head: true"]
  )
  func unstored(rule: String) throws {
    site["/a"] = Site.Page("alpha")
    configure("segments: [{ name: warm, \(rule), urls: [\"\(origin.address("/a"))\"] }]")
    let run = try home.run("get", origin.address("/a"))
    #expect(run.status == 0 && run.output == "alpha", "\(run)")
    #expect(origin.requests.map(\.method) == ["GET"])
    #expect(try home.run("list", "--json").json().list("items").isEmpty)
    let path = try home.run("get", "--path", origin.address("/a"))
    #expect(path.status == 4 && path.errors.contains("[item.not-kept]"), "\(path)")
    let serving = try Serving(home, "--pull")
    #expect(try serving.client.get(origin.servedPath("/a")).body == "alpha")
    #expect(serving.stop().status == 143)
    #expect(try home.run("list", "--json").json().list("items").isEmpty)
  }

  @Test(
    "A 404 is remembered for as long as it says, and for `cache.negative_ttl` where it is silent",
    arguments: [
      ("no-store", 2), ("no-cache", 2), ("max-age=0", 2), ("max-age=1, must-revalidate", 2),
      ("public", 1), ("max-age=3600", 1),
    ]
  )
  func absent(control: String, requests: Int) throws {
    site["/none"] = page("none", control, status: 404)
    #expect(try home.run("get", origin.address("/none")).status == 4)
    let later = try home.shell("exec faketime -f +5s $prefetch get \(origin.address("/none"))")
    #expect(later.status == 4, "\(later)")
    #expect(origin.requests.count == requests)
  }

  @Test("A 404 or 410 is delivered in place of a stale copy", arguments: [404, 410])
  func gone(status: Int) throws {
    let url = origin.address("/a")
    site["/a"] = page("alpha", "max-age=0")
    #expect(try home.run("get", url).output == "alpha")
    #expect(try home.run("get", "--max-stale", url).output == "alpha")
    site["/a"] = page("gone", "public", status: status)
    let revalidated = try home.run("get", "--revalidate", "--max-stale", url)
    #expect(revalidated.status == 4 && revalidated.output.isEmpty, "\(revalidated)")
    let remembered = try home.run("get", "--max-stale", url)
    #expect(remembered.status == 4 && remembered.output.isEmpty, "\(remembered)")
    let serving = try Serving(home, "--pull", "--max-stale=1h")
    let served = try serving.client.get(origin.servedPath("/a"))
    #expect(served.status == status, "\(served)")
    #expect(try home.run("get", "--offline", url).output == "alpha")
  }

  @Test("`get` offline after a failed run delivers the older copy with a warning")
  func older() throws {
    let url = origin.address("/a")
    func publish(_ digest: String) {
      site["/list"] = Site.Page(
        #"{"format":"prefetch-manifest","version":1,"items":[{"url":"\#(url)","id":"one","digests":{"sha256":"\#(digest)"}}]}"#,
        headers: [HeaderField("Content-Type", "application/json")]
      )
    }
    site["/a"] = Site.Page("old")
    publish(Digest.hexadecimal("old"))
    configure("segments: [{ name: s, manifest: \"\(origin.address("/list"))\" }]")
    #expect(try home.run("-q").status == 0)
    publish(Digest.hexadecimal("new"))
    site["/a"] = page("trouble", "public", status: 500)
    #expect(try home.run("-q").status == 3)
    for name in [url, "one"] {
      let run = try home.run("get", "--offline", name)
      #expect(run.status == 0 && run.output == "old", "\(run)")
      #expect(run.errors.contains("[get.older]"), "\(run)")
    }
    let typed = try home.run("get", "--offline", "--sha256", Digest.hexadecimal("new"), url)
    #expect(typed.status == 4 && typed.output.isEmpty, "\(typed)")
    configure(
      "segments: [{ name: s, manifest: \"\(origin.address("/list"))\", require_digest: true }]"
    )
    let required = try home.run("get", "--offline", url)
    #expect(required.status == 4 && required.output.isEmpty, "\(required)")
  }
}
