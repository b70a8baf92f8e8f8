import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import Synchronization
import Testing

/// A URL that two segments request with different headers, or that is stored under another name.
@Suite("Variants of one URL", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct VariantTests {
  private final class Page: Sendable {
    /// Whether the page depends on the language.
    let varies = Mutex(false)
  }

  private let home: Home
  private let page = Page()
  private let server: LoopbackServer

  init() throws {
    let page = page
    server = try LoopbackServer { request in
      guard page.varies.withLock({ $0 }) else { return .respond(200, [], text: "for all") }
      return .respond(
        200,
        [("Vary", "accept-language")],
        text: "in \(request.headers["Accept-Language"] ?? "none")"
      )
    }
    home = try Home()
  }

  private func configure(english: String = "", german: String = "") {
    let url = server.address("/page")
    home.configure(
      """
      segments:
        - { name: german, ttl: 1d, headers: { Accept-Language: de }, urls: [{ url: \(url)\(german) }] }
        - { name: english, headers: { Accept-Language: en }, urls: [{ url: \(url)\(english) }] }
      """
    )
  }

  private func sha256(_ text: String) -> String {
    ", sha256: \(SHA256.digest(of: text).hexadecimal)"
  }

  @Test("The first segment keeps its response when another segment's request reveals `Vary`")
  func later() throws {
    configure()
    #expect(try home.run("run").status == 0)
    #expect(server.requests.count == 1)
    page.varies.withLock { $0 = true }
    for (arguments, status) in [(["run"], 3), (["run", "english"], 4), (["run", "german"], 0)] {
      let run = try home.start(arguments + ["--json"]).finish()
      #expect(run.status == Int32(status), "\(run)")
      #expect(try home.run("get", "--offline", server.address("/page")).output == "for all")
    }
    let plan = try home.run("plan")
    #expect(plan.output.contains("for which segment `german` has another value"), "\(plan)")
  }

  @Test(
    "The first segment's response replaces the one of a later segment",
    arguments: [true, false]
  )
  func order(hasVaried: Bool) throws {
    configure()
    page.varies.withLock { $0 = hasVaried }
    #expect(try home.run("run", "english").status == 0)
    page.varies.withLock { $0 = true }
    for (arguments, status) in [
      (["german", "--revalidate"], 0), (["english"], 4), (["german"], 0), ([], 3),
    ] {
      let run = try home.start(["run"] + arguments).finish()
      #expect(run.status == Int32(status), "\(run)")
      #expect(try home.run("get", "--offline", server.address("/page")).output == "in de")
    }
  }

  @Test("A lost body is not replaced by a response for another segment")
  func lost() throws {
    page.varies.withLock { $0 = true }
    configure()
    #expect(try home.run("run", "german").status == 0)
    let path = try #require(try home.run("path", server.address("/page")).lines.first)
    #expect(try home.tool("rm", "-f", String(path)).status == 0)
    let run = try home.run("run", "english")
    #expect(run.status == 4, "\(run)")
    #expect(try home.run("get", "--offline", server.address("/page")).output == "")
    #expect(try home.run("run", "german").status == 0)
    #expect(try home.run("get", "--offline", server.address("/page")).output == "in de")
  }

  @Test("A digest binds the segment that declares it, and no other one with other headers")
  func pinned() throws {
    page.varies.withLock { $0 = true }
    configure(english: sha256("in en"))
    let run = try home.run("run")
    #expect(run.status == 3, "\(run)")
    #expect(try home.run("get", "--offline", server.address("/page")).output == "in de")
    home.configure(
      "segments: [{ name: german, headers: { Accept-Language: de }, urls: [\(server.address("/page"))] }]"
    )
    #expect(try home.run("get", "--offline", server.address("/page")).output == "in de")
    configure(english: sha256("in de"))
    let both = try home.run("run")
    #expect(both.status == 0, "\(both)")
    #expect(server.requests.count == 1)
  }

  @Test("A body stored under another name is adopted by an offline run and by `get`")
  func adopted() throws {
    let one = server.address("/page")
    let digest = sha256("for all")
    home.configure("segments: [{ name: a, urls: [{ url: \(one)\(digest) }] }]")
    #expect(try home.run("run").status == 0)
    home.configure(
      "segments: [{ name: a, urls: [{ url: \(one)\(digest) }, { url: \(one)/2\(digest) }] }]"
    )
    #expect(try home.run("run", "--dry-run", "--offline").status == 0)
    let run = try home.run("run", "--offline")
    #expect(run.status == 0, "\(run)")
    #expect(try home.run("get", "--offline", "\(one)/2").output == "for all")
    home.configure("segments: [{ name: a, urls: [{ url: \(one)/3\(digest) }] }]")
    let got = try home.run("get", "\(one)/3")
    #expect(got.status == 0, "\(got)")
    #expect(got.output == "for all")
    #expect(server.requests.count == 1)
  }

  @Test("An absence is the result of one request and does not apply to other headers")
  func absence() throws {
    let server = try LoopbackServer { request in
      request.headers["Authorization"] == nil
        ? .respond(404, text: "no") : .respond(200, text: "for you")
    }
    let url = server.address("/one")
    home.configure("segments: []")
    for _ in 0..<2 { #expect(try home.run("get", url).status == 4) }
    #expect(server.requests.count == 1)
    home.configure(
      "segments: [{ name: a, headers: { Authorization: Bearer x }, urls: [\(url)] }]"
    )
    #expect(try home.run("get", url).output == "for you")
  }

  @Test("An absence has precedence over an older copy for as long as the caller allows")
  func absenceOfOlder() throws {
    let isGone = Mutex(false)
    let server = try LoopbackServer { _ in
      isGone.withLock({ $0 }) ? .respond(404, text: "no") : .respond(200, text: "for all")
    }
    let url = server.address("/one")
    home.configure("segments: [{ name: a, urls: [\(url)] }]")
    #expect(try home.run("run").status == 0)
    isGone.withLock { $0 = true }
    for _ in 0..<3 { #expect(try home.run("get", url).status == 4) }
    #expect(server.requests.count == 2)
    #expect(try home.run("get", "--max-age", "0", url).status == 4)
    #expect(server.requests.count == 3)
    #expect(try home.run("get", "--offline", url).output == "for all")
  }
}
