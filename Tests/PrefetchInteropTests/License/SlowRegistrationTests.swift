import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Synchronization
import Testing

@Suite("A registration server that is slow", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct SlowRegistrationTests {
  private let home: Home

  init() throws {
    var home = try Home()
    home.variables["KEY"] = "key-of-the-test-1"
    self.home = home
  }

  private func configure(_ server: LoopbackServer, more: String = "") {
    home.configure(
      """
      license: ${env:KEY}
      registration: { url: "\(server.address("/0"))" }
      segments: [{ name: known, urls: ["\(server.address("/a"))"] }]
      \(more)
      """
    )
  }

  @Test("A slow registration server with endless redirects delays no run beyond its deadline")
  func hops() throws {
    let server = try LoopbackServer { request in
      guard request.method == "POST", let number = Int(request.path.dropFirst()) else {
        return .respond(200, text: "a")
      }
      let reply = Script.respond(308, [("Location", "/\(number + 1)")])
      return Script([.wait(.milliseconds(400))] + reply.steps)
    }
    configure(server, more: "redirects: { max: 20 }")
    let run = try home.run("--deadline", "1s", "--json")
    #expect(run.status == 75, "\(run)")
    // At most three requests fit into a second, while all of them took eight.
    #expect((1...3).contains(server.requests.count), "\(server.requests.map(\.path))")
  }

  @Test("A slow registration server leaves the run the rest of its time")
  func rest() throws {
    let server = try LoopbackServer { request in
      switch request.method {
      case "POST": Script([.wait(.milliseconds(1_500))] + LicenseServer.granting().steps)
      default: Script([.wait(.milliseconds(1_500))] + Script.respond(200, text: "a").steps)
      }
    }
    configure(server)
    let (run, status) = (
      try home.run("--deadline", "2500ms", "--json", "--items", "all"),
      try home.run("status", "--json").json().text("registration")
    )
    #expect(status == "registered")
    #expect(run.status == 75, "\(run)")
    #expect(try run.json().text("items.0.outcome") == "deferred", "\(run)")
  }

  @Test("A registration server that redirects in a circle is abandoned at once")
  func circle() throws {
    let server = try LoopbackServer { request in
      request.method == "POST"
        ? .respond(308, [("Location", request.path == "/0" ? "/1" : "/0")])
        : .respond(200, text: "a")
    }
    configure(server)
    let run = try home.run("--json")
    #expect(run.status == 75, "\(run)")
    #expect(
      try run.json().list("diagnostics").map { $0.text("code") } == ["registration.redirect_limit"]
    )
    #expect(server.requests.map(\.path) == ["/0", "/1"])
  }

  @Test("A slow registration that fails keeps what `register` got in the meantime")
  func together() throws {
    let requestCount = Mutex(0)
    let registered = Mutex<Int32?>(nil)
    let server = try LoopbackServer { [home] request in
      guard request.method == "POST" else { return .respond(200, text: "a") }
      let number = requestCount.withLock {
        $0 += 1
        return $0
      }
      guard number == 1 else { return LicenseServer.granting() }
      let status = (try? home.run("register"))?.status
      registered.withLock { $0 = status }
      return .respond(503)
    }
    configure(server)
    let first = try home.run("--json")
    #expect(registered.withLock { $0 } == 0)
    #expect(first.status == 0, "\(first)")
    #expect(try home.run("status", "--json").json().text("registration") == "registered")
    #expect(try home.run("--json").status == 0)
    #expect(server.requests.count { $0.method == "POST" } == 2)
  }
}
