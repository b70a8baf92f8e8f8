import PrefetchCore
import PrefetchTestSupport
import Testing

/// Stores and connections that `serve --pull` keeps open, and a `get` beside a run.
@Suite("A lasting session for items", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct LastingSessionTests {
  private let site = Site()
  private let home: Home

  init() throws {
    home = try Home(isInMemory: true)
    site["/a"] = Site.Page("alpha", headers: [HeaderField("Cache-Control", "no-cache")])
    site["/b"] = Site.Page("beta", headers: [HeaderField("Cache-Control", "no-cache")])
  }

  @Test("A session of items keeps its connection between clients and sees the writes of others")
  func connection() throws {
    let site = site
    let origin = try LoopbackServer { site.respond(to: $0) }
    home.configure("cache: { min_free: 0 }")
    let serving = try Serving(home, "--pull")
    for _ in 0..<5 {
      for (path, body) in [("/a", "alpha"), ("/b", "beta")] {
        #expect(try serving.client.get(origin.servedPath(path)).body == body)
      }
    }
    #expect(origin.requests.count == 10 && origin.connectionCount == 1)
    #expect(origin.requests.count { $0.headers["if-none-match"] != nil } == 8)
    // Another process removes the item, and a third stores another body.
    #expect(try home.run("rm", origin.address("/a")).status == 0)
    #expect(try serving.client.get(origin.servedPath("/a")).body == "alpha")
    site["/b"] = Site.Page("new", headers: [HeaderField("Cache-Control", "max-age=600")])
    #expect(try home.run("get", origin.address("/b")).output == "new")
    #expect(try serving.client.get(origin.servedPath("/b")).body == "new")
    #expect(origin.requests.count == 12)
    #expect(serving.stop().status == 143)
    #expect(try home.run("verify").status == 0)
  }

  @Test("A session of items without requests leaves the cache to others")
  func rest() throws {
    let site = site
    let origin = try LoopbackServer { site.respond(to: $0) }
    home.configure("cache: { min_free: 0 }")
    let serving = try Serving(home, "--pull")
    #expect(try serving.client.get(origin.servedPath("/a")).status == 200)
    #expect(try home.run("gc").status == 0)
    #expect(try home.run("verify", "--repair").status == 0)
    #expect(try home.run("-q", "--set", "segments=[]").status != 74)
    // A lost index is noticed and created again, and bodies are fetched again.
    try home.removeCache()
    try #require(home.tool("rm", "-rf", home.state).status == 0)
    #expect(try serving.client.get(origin.servedPath("/a")).body == "alpha")
    #expect(try serving.client.get(origin.servedPath("/b")).body == "beta")
    #expect(serving.stop().status == 143)
    #expect(try home.run("get", "--offline", origin.address("/b")).output == "beta")
  }

  @Test("A session of items counts the bytes of each client against the daily limits")
  func daily() throws {
    let site = site
    let origin = try LoopbackServer { site.respond(to: $0) }
    for number in 0..<8 { site["/\(number)"] = Site.Page(String(repeating: "x", count: 600)) }
    home.configure("cache: { min_free: 0 }\nnetwork: { daily_limit: 1000B }")
    let serving = try Serving(home, "--pull")
    let statuses = try (0..<8).map { try serving.client.get(origin.servedPath("/\($0)")).status }
    let served = statuses.prefix { $0 == 200 }.count
    #expect(served == 2 && statuses.dropFirst(2).allSatisfy { $0 == 503 }, "\(statuses)")
    #expect(origin.requests.count == served)
    #expect(serving.stop().status == 143)
    let get = try home.run("get", origin.address("/7"))
    #expect(get.status == 75 && get.errors.contains("daily_limit"), "\(get)")
  }

  @Test("A session of items does not wait for the connections of a run to the same server")
  func duringRun() throws {
    let (site, gate) = (site, Gate())
    let arrived = Gate()
    let origin = try LoopbackServer { request in
      let response = site.respond(to: request)
      guard request.path == "/slow" else { return response }
      arrived.open()
      return Script([.pause(gate)] + response.steps)
    }
    site["/slow"] = Site.Page("slow")
    home.configure(
      """
      cache: { min_free: 0 }
      network: { per_host: 1, concurrency: 1 }
      segments: [{ name: s, urls: ["\(origin.address("/slow"))"] }]
      """
    )
    let run = try home.start(["-q"])
    #expect(!arrived.staysShut(for: .seconds(60)))
    #expect(try home.run("get", origin.address("/a")).output == "alpha")
    gate.open()
    #expect(run.finish().status == 0)
  }
}
