import PrefetchTestSupport
import Testing

@Suite(
  "A run's report of a store that machines share",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct TierReportTests {
  private let ground: TierGround

  init() throws {
    ground = try TierGround()
    ground.publish(4)
  }

  private func lines(_ run: ProgramRun) -> [String] {
    run.lines.filter { $0.hasPrefix("tier ") }.map { String($0) }
  }

  @Test("A report has a line of reads and writes of the shared store, and quiet runs have none")
  func line() throws {
    let host = ground.tier.address("").dropFirst("http://".count)
    let first = try ground.machine("mode: read_write, trust: true, timeout: 30s")
    let fill = try first.run()
    #expect(fill.status == 0 && fill.errors.isEmpty, "\(fill)")
    // The bodies are the list and four items; the tier's line precedes the total.
    let took = try #require(lines(fill).first, "\(fill)")
    #expect(took.hasPrefix("tier   used        \(host) took 5 bodies, "), "\(fill)")
    #expect(lines(fill).count == 1 && fill.lines.last?.hasPrefix("total ") == true, "\(fill)")
    let second = try ground.machine("trust: true, timeout: 30s")
    let run = try second.run()
    let gave = try #require(lines(run).first, "\(run)")
    #expect(gave.contains("\(host) gave 5 bodies, ") && !gave.contains("took"), "\(run)")
    // Two items are pinned by digest, so that no record is needed for them.
    #expect(gave.contains(", and 3 answers of origins"), "\(run)")
    // The tier confirms the fresh list, and the items need no request.
    let again = try #require(lines(try second.run()).first)
    #expect(again.hasSuffix("\(host) gave 1 answer of origins"), "\(again)")
    let alone = try ground.machine(
      "mode: read, timeout: 30s, url: \"\(ground.tier.address("/none"))\""
    )
    #expect(lines(try alone.run()) == [])
    let quiet = try ground.machine("trust: true, timeout: 30s").run("-q")
    #expect(quiet.status == 0 && quiet.output.isEmpty && quiet.errors.isEmpty, "\(quiet)")
  }

  @Test("A report has a line about trouble with the shared store, beside the warning")
  func trouble() throws {
    ground.store.behave { request, _ in
      request.method == "PUT" && request.path.contains("/ac/") ? .respond(400) : nil
    }
    let run = try ground.machine("mode: read_write, timeout: 30s").run()
    #expect(run.status == 0, "\(run)")
    #expect(lines(run).first?.hasPrefix("tier   trouble ") == true, "\(run)")
    #expect(run.errors.contains("warning: `cache.remote`"), "\(run)")
  }
}
