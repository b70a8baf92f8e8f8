import PrefetchCore
import Testing

@testable import PrefetchCore

/// Requests and responses without a dispatcher: the order of sending, and the effect of responses
/// on it.
@Suite("The wire")
struct WireTests {
  private static func moment(_ seconds: Int) -> Moment {
    Moment(wall: Instant(seconds: Int64(1_000 + seconds)), uptime: .seconds(seconds))
  }

  private static let rank = Rank(itemOf: 0, priority: nil)

  private static func wire(perHost: Int = 2, gates: [HostGate] = []) -> Wire {
    var policy = RunPolicy()
    policy.concurrency = 4
    policy.perHost = perHost
    policy.retries.wait = .seconds(60)
    return Wire(policy, looksAhead: false, gates: gates, deadline: nil, now: moment(0))
  }

  private static func response(_ status: Int, _ headers: [HeaderField] = []) -> TransferResult {
    TransferResult(
      .success(TransferResponse(status: status, headers: HeaderBlock(headers), body: nil)),
      figures: TransferFigures()
    )
  }

  private static func failure(_ code: ErrorCode) -> TransferResult {
    TransferResult(.failure(Failure(code, "no", isTransient: true)), figures: TransferFigures())
  }

  @Test("Jobs start in order up to the limit of their host")
  func startOrder() {
    var wire = Self.wire()
    let host = wire.host("a.example")
    for item in 0..<3 {
      guard case .queued = wire.enqueue(.item(item), to: host, rank: Self.rank, now: Self.moment(0))
      else {
        Issue.record("it waits for nothing")
        return
      }
    }
    #expect(wire.queuedCount == 3 && wire.transferCount == 0)
    var started: [Job] = []
    var ids: [TransferID] = []
    while let (job, _) = wire.dequeue(at: .zero) {
      started.append(job)
      ids.append(wire.start(job))
    }
    #expect(started == [.item(0), .item(1)] && wire.transfers.map(\.job) == started)
    let ended = (wire.end(ids[0]), wire.end(ids[0]))
    #expect(ended == (.item(0), nil))
    wire.finished(.item(0), on: host, Self.response(200), at: Self.moment(0))
    let next = wire.dequeue(at: .zero)
    #expect(next?.job == .item(2))
  }

  @Test("A paused job returns when its time has come, and not after it was cancelled")
  func pauses() {
    var wire = Self.wire()
    wire.pause(.item(1), until: .seconds(5), rank: Self.rank)
    wire.pause(.document(0), until: .seconds(3), rank: Self.rank)
    #expect(wire.nextMoment == .seconds(3) && !wire.isBackoffEmpty)
    #expect(wire.resume(at: .seconds(2)) == nil)
    #expect(wire.resume(at: .seconds(4)) == .document(0))
    wire.endPauses(of: [.item(1)])
    #expect(wire.isBackoffEmpty)
    #expect(wire.resume(at: .seconds(9)) == nil)
  }

  @Test("A host with `Retry-After` is closed until then, in this run and the next")
  func gates() {
    var wire = Self.wire()
    let host = wire.host("a.example")
    let busy = Self.response(503, [HeaderField("Retry-After", "20")])
    let news = wire.recordResult(busy, .wait(.seconds(20)), of: host, now: Self.moment(0))
    #expect(news.isHeld && news.refusal == nil && news.broken == nil)
    #expect(wire.pause(of: host, now: Self.moment(1)) == .seconds(20) && wire.isHeld(host))
    guard
      case .behindGate(until: .seconds(20)) =
        wire.enqueue(.item(0), to: host, rank: Self.rank, now: Self.moment(1))
    else {
      Issue.record("it waits for the gate")
      return
    }
    let early = wire.dequeue(at: .seconds(1))
    #expect(early == nil && wire.nextMoment == .seconds(20))
    wire.release(at: .seconds(20))
    let late = wire.dequeue(at: .seconds(20))
    #expect(late?.job == .item(0))
    let gates = wire.openGates(at: Self.moment(1))
    #expect(gates == [HostGate(host: "a.example", until: Self.moment(20).wall)])
    // A gate of the last run that this run cannot wait for.
    let far = HostGate(host: "b.example", until: Self.moment(600).wall)
    var next = Self.wire(gates: [far])
    let other = next.host("b.example")
    guard
      case .refused(.deferred(let deferral, _)) =
        next.enqueue(.item(0), to: other, rank: Self.rank, now: Self.moment(0))
    else {
      Issue.record("it is not asked")
      return
    }
    #expect(deferral.rule == .retryAfter && next.queuedCount == 0)
  }

  @Test(
    "All queued jobs of an unreachable host are returned with its first failure"
  )
  func unreachable() {
    var wire = Self.wire()
    let (host, other) = (wire.host("a.example"), wire.host("b.example"))
    for item in 0..<3 {
      _ = wire.enqueue(.item(item), to: host, rank: Self.rank, now: Self.moment(0))
    }
    _ = wire.enqueue(.item(9), to: other, rank: Self.rank, now: Self.moment(0))
    guard let (job, _) = wire.dequeue(at: .zero) else {
      Issue.record("one may start")
      return
    }
    let result = Self.failure(.dns)
    wire.leave(job, on: host)
    let step = Exchange.Step.failed(Failure(.dns, "no"), status: nil)
    let news = wire.recordResult(result, step, of: host, now: Self.moment(0))
    #expect(news.refusedJobs == [.item(1), .item(2)] && news.refusal != nil)
    #expect(wire.refusal(of: other, now: Self.moment(0)) == nil && wire.queuedCount == 1)
  }

  @Test("A row of broken transfers is reported once, and a tier's refusal counts for no host")
  func breaker() {
    var wire = Self.wire()
    let host = wire.host("a.example")
    let step = Exchange.Step.failed(Failure(.reset, "no", isTransient: true), status: nil)
    var figures = TransferFigures()
    figures.tierTrouble = .refusal
    let failed = TransferResult(.failure(Failure(.reset, "no")), figures: figures)
    for _ in 0..<9 {
      #expect(wire.recordResult(failed, step, of: host, now: Self.moment(0)).broken == nil)
    }
    var isReported: [Bool] = []
    for _ in 0..<HostLimits.failuresInARow {
      let news = wire.recordResult(Self.failure(.reset), step, of: host, now: Self.moment(0))
      isReported.append(news.broken != nil)
    }
    #expect(isReported == [false, false, false, false, true])
  }

  @Test("Drained jobs are put back in their own order")
  func draining() {
    var wire = Self.wire()
    let host = wire.host("a.example")
    let first = Rank(itemOf: 0, priority: 1)
    _ = wire.enqueue(.item(0), to: host, rank: Self.rank, now: Self.moment(0))
    _ = wire.enqueue(.item(1), to: host, rank: Self.rank, now: Self.moment(0))
    wire.move(.item(1), on: host, from: Self.rank, to: first)
    wire.pause(.item(7), until: .seconds(1), rank: Self.rank)
    #expect(wire.drainQueue(of: host) == [.item(1), .item(0)])
    wire.putBack(.item(0), to: host, rank: Self.rank)
    #expect(wire.drain() == [.item(0), .item(7)])
    #expect(wire.queuedCount == 0 && wire.isBackoffEmpty && wire.nextMoment == nil)
  }
}
