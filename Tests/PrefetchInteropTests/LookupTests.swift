import PrefetchTestSupport
import Testing

/// Numbers of attempts for manifests and for items.
@Suite("Attempts for a manifest", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct LookupTests {
  private let home: Home

  init() throws {
    home = try Home()
  }

  /// Returns a server that responds 503 to the first requests of each path.
  private func server(failing: Int) throws -> LoopbackServer {
    let counts = Guarded([String: Int]())
    return try LoopbackServer { request in
      let count = counts.withLock { counts in
        counts[request.path, default: 0] += 1
        return counts[request.path] ?? 0
      }
      guard count > failing else { return .respond(503) }
      let list = Manifest.text(["item"])
      return .respond(200, text: request.path == "/list.json" ? list : "the item")
    }
  }

  private func declare(_ server: LoopbackServer, _ retries: String) {
    home.configure(
      """
      segments: [{ name: s, manifest: "\(server.address("/list.json"))" }]
      cache: { min_free: 0 }
      network: { retries: { delay: 1ms, max_delay: 2s, \(retries) } }
      """
    )
  }

  @Test(
    "Attempts for a manifest are counted apart from those for an item",
    arguments: [
      (retries: "lookups: 2, items: 2", status: 0, list: 3, item: 3),
      (retries: "lookups: 2, items: 1", status: 4, list: 3, item: 2),
      (retries: "lookups: 2, items: 0", status: 4, list: 3, item: 1),
      (retries: "lookups: 1, items: 2", status: 69, list: 2, item: 0),
      (retries: "lookups: 0, items: 2", status: 69, list: 1, item: 0),
      (retries: "lookups: 2, lookup_delay: 2ms, items: 2", status: 0, list: 3, item: 3),
    ]
  )
  func counts(retries: String, status: Int, list: Int, item: Int) throws {
    let server = try server(failing: 2)
    declare(server, retries)
    let run = try home.run("--json")
    #expect(Int(run.status) == status, "\(run)")
    #expect(server.requests.filter { $0.path == "/list.json" }.count == list)
    #expect(server.requests.filter { $0.path == "/item" }.count == item)
    #expect(try run.totals()["requests"] == list + item)
    #expect(try run.totals()["retries"] == max(0, list - 1) + max(0, item - 1))
  }

  @Test("Attempts for a manifest wait for `lookup_delay`, up to `max_delay`")
  func ownDelay() throws {
    let server = try server(failing: 1)
    declare(server, "lookups: 1, lookup_delay: 1m")
    let long = try home.run("check")
    #expect(long.status == 78, "\(long)")
    #expect(long.errors.contains("`lookup_delay` is longer than `max_delay`"), "\(long)")
    // A pause that ends after the run ends the run at once.
    home.configure(
      """
      segments: [{ name: s, manifest: "\(server.address("/list.json"))" }]
      cache: { min_free: 0 }
      network:
        retries: { delay: 1ms, lookups: 40, lookup_delay: 1h, max_delay: 1h }
        timeouts: { run: 1s }
      """
    )
    let run = try home.run("--json")
    #expect(run.status == 75, "\(run)")
    #expect(try run.json().text("segments.0.deferred.rule") == "deadline", "\(run)")
  }
}
