import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Runs on networks of measured quality; `NetworkRulesTests` covers a poor one.
@Suite("The quality of the network", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct QualityTests {
  private static let itemCount = 8

  @Test(
    "A good network gets two transfers at once, and an excellent one the full number",
    arguments: [("good", 2), ("excellent", 4)]
  )
  func reaction(quality: String, count: Int) throws {
    let home = try Home(isInMemory: true)
    let gate = Gate()
    let waiting = Guarded(0)
    let body = [UInt8](repeating: 7, count: 100_000)
    let server = try LoopbackServer { request in
      let reply = Script.respond(200, body: body)
      guard request.path != "/first" else { return reply }
      let isEnough = waiting.withLock { waiting in
        waiting += 1
        return waiting >= count
      }
      if isEnough { gate.open() }
      // Long enough for an excessive request to arrive.
      return Script([.pause(gate), .wait(.milliseconds(60))] + reply.steps)
    }
    func configure(_ paths: [String]) {
      let urls = paths.map { "\"\(server.address($0))\"" }.joined(separator: ", ")
      let excellent = quality == "excellent" ? "1B/s" : "900GB/s"
      home.configure(
        """
        segments: [{ name: s, ttl: 1d, urls: [\(urls)] }]
        cache: { min_free: 0 }
        network:
          type: wifi
          per_host: 4
          retries: { items: 0, lookups: 0 }
          quality:
            good: 1B/s
            excellent: \(excellent)
            on: { poor: stop, good: throttle, excellent: go, unknown: go }
        """
      )
    }
    configure(["/first"])
    #expect(try home.run("network", "--json").json().text("quality") == "unknown")
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("network", "--json").json().text("quality") == quality)
    configure(["/first"] + (0..<Self.itemCount).map { "/\($0)" })
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.json().text("network.quality") == quality)
    #expect(try run.totals()["fetched"] == Self.itemCount)
    #expect(server.peakRequestCount == count)
  }
}
