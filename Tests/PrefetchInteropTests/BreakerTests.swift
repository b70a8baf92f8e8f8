import PrefetchTestSupport
import Testing

@Suite(
  "A server that breaks transfer after transfer",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct BreakerTests {
  private let home: Home

  init() throws {
    home = try Home(isInMemory: true)
  }

  private func configure(_ urls: [String], retries: String) {
    home.configure(
      """
      segments: [{ name: s, urls: [\(urls.map { "\"\($0)\"" }.joined(separator: ", "))] }]
      cache: { min_free: 0 }
      network: { concurrency: 1, retries: { \(retries) } }
      """
    )
  }

  @Test(
    "A server that breaks each transfer is left alone and reported in one line"
  )
  func line() throws {
    let server = try LoopbackServer { _ in Script([.reset]) }
    configure((0..<12).map { server.address("/\($0)") }, retries: "items: 0, wait: 1s")
    let run = try home.run("--json", "--items", "all")
    #expect(run.status == 69, "\(run)")
    let lines = run.errors.split(separator: "\n").filter { $0.contains("[run.breaker]") }
    #expect(lines.count == 1, "\(run)")
    #expect(lines.first?.contains("`127.0.0.1:\(server.port)` until ") == true)
    let report = try run.json()
    #expect(report.number("totals.failed") == 5, "\(report)")
    let rest = report.list("items").filter { $0.text("deferred.rule") == "breaker" }
    #expect(rest.count == 7)
    #expect(report.list("diagnostics").count { $0.text("code") == "run.breaker" } == 1)
    #expect(server.requests.count == 5)
  }

  @Test("A server is still asked for other items when only one item fails all its attempts")
  func oneBadItem() throws {
    let server = try LoopbackServer { request in
      request.path == "/bad" ? Script([.reset]) : .respond(200, text: request.path)
    }
    let paths = ["/bad"] + (0..<4).map { "/\($0)" }
    configure(paths.map { server.address($0) }, retries: "items: 8, delay: 1ms, max_delay: 1ms")
    let run = try home.run("--json")
    #expect(run.status == 3, "\(run)")
    #expect(try run.totals()["fetched"] == 4)
    #expect(!run.errors.contains("run.breaker"), "\(run)")
  }
}
