import PrefetchTestSupport
import Synchronization
import Testing

@Suite(
  "A run finds the number of its connections",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct FoundConnectionsTests {
  private let home: Home

  init() throws {
    home = try Home(isInMemory: true)
  }

  private func configure(_ server: LoopbackServer, items: Int, _ more: String = "") {
    let urls = (0..<items).map { "\"\(server.address("/\($0)"))\"" }.joined(separator: ", ")
    home.configure("segments: [{ name: s, urls: [\(urls)] }]\ncache: { min_free: 0 }\n\(more)")
  }

  @Test("A host nearby gets at most six connections, unless a number is set")
  func near() throws {
    let server = try LoopbackServer { _ in .respond(200, text: "x") }
    configure(server, items: 200)
    #expect(try home.run().status == 0)
    #expect(server.peakConnectionCount <= 6)
    let gate = Gate()
    let waiting = Atomic(0)
    let busy = try LoopbackServer { _ in
      if waiting.add(1, ordering: .relaxed).newValue == 12 { gate.open() }
      return Script([.pause(gate)] + Script.respond(200, text: "x").steps)
    }
    configure(busy, items: 30)
    // Twelve requests have to be there at once.
    #expect(try home.run("run", "--jobs-per-host", "12").status == 0)
    #expect(busy.peakConnectionCount == 12)
  }

  @Test("A far host gets more than six connections, and never more than the ceiling")
  func far() throws {
    func peak(_ words: String...) throws -> Int {
      let server = try LoopbackServer { _ in
        Script([.wait(.milliseconds(100))] + Script.respond(200, text: "x").steps)
      }
      configure(server, items: 300)
      let run = try home.run(["run"] + words)
      #expect(run.status == 0, "\(run)")
      #expect(server.requests.count == 300)
      return server.peakConnectionCount
    }
    #expect(try (7...16).contains(peak()))
    #expect(try peak("-j", "9") <= 9)
  }

  /// A server that allows eight requests a second, and then none for a second.
  private final class Limiter: Sendable {
    private struct State {
      var since = ContinuousClock.now
      var count = 0
      var shutUntil: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    let refused = Atomic(0)
    /// Requests well after a refusal and before its time has passed.
    let early = Atomic(0)

    func mayPass() -> Bool {
      state.withLock { state in
        let now = ContinuousClock.now
        if let end = state.shutUntil {
          guard now < end else {
            state = State(since: now, count: 1)
            return true
          }
          // Others may have been sent before the refusal arrived.
          if end - now < .milliseconds(600) { early.add(1, ordering: .relaxed) }
          return false
        }
        if now - state.since >= .seconds(1) { state = State(since: now) }
        state.count += 1
        guard state.count > 8 else { return true }
        state.shutUntil = now + .milliseconds(950)
        return false
      }
    }
  }

  @Test("A host that allows eight requests a second gets every item there, and waits are kept")
  func limited() throws {
    let limiter = Limiter()
    let server = try LoopbackServer { _ in
      guard !limiter.mayPass() else { return .respond(200, text: "x") }
      limiter.refused.add(1, ordering: .relaxed)
      return .respond(429, [("Retry-After", "1")])
    }
    configure(server, items: 40)
    let run = try home.run()
    #expect(run.status == 0, "\(run)")
    #expect(limiter.refused.load(ordering: .relaxed) > 0)
    #expect(limiter.early.load(ordering: .relaxed) == 0)
    #expect(server.peakConnectionCount <= 6)
  }
}
