import PrefetchTestSupport

@testable import PrefetchCore

/// Nights of a whole fleet on one clock.
///
/// In the first night a single machine fetches everything and fills the tier. Then all machines
/// have its cache, and some items change.
final class FleetNight {
  static let epoch = Instant(seconds: 1_700_000_000)

  /// Whether each machine is played separately.
  ///
  /// Otherwise machines with equal start times are played once and counted together; once the tier
  /// is complete, one more machine stands for all later ones.
  let isPlayedInFull: Bool
  let servers: FleetServers
  /// In milliseconds since the epoch, as the times below are since then.
  private(set) var begin: Int64 = 0
  private(set) var segment: SegmentRecord?
  private(set) var stored: [Shared<ContentRecord>] = []
  private(set) var inventory = FleetCache.inventory(of: [])
  private(set) var manifest = Manifest()
  private(set) var playedCount = 0
  /// Errors in the machines' reports.
  private(set) var problems: [String] = []

  private enum TimedEvent {
    case start(count: Int)
    case response(FleetMachine, TransferRequest, TransferResponse)
    case alarm(FleetMachine)
  }

  private struct Slot: Comparable {
    var time: Int64
    var number: Int

    static func < (a: Self, b: Self) -> Bool { (a.time, a.number) < (b.time, b.number) }
  }

  private var slots = Heap<Slot>()
  private var events: [Int: TimedEvent] = [:]
  private var lastNumber = 0
  private var now: Int64 = 0
  private var isSettled = false
  /// Machine that stands for all later ones once the tier is complete, and the starts of those.
  private var reference: FleetMachine?
  private var likened: [(time: Int64, count: Int)] = []

  init(_ plan: FleetPlan, isPlayedInFull: Bool = false) {
    servers = FleetServers(plan)
    self.isPlayedInFull = isPlayedInFull
  }

  func play() {
    manifest = servers.manifest
    let first = FleetMachine(self, start: 0, count: 1, keepsChanges: true)
    begin(first)
    proceed()
    var cache = FleetCache()
    cache.apply(first.changes)
    (segment, stored) = (cache.segment, cache.stored)
    inventory = FleetCache.inventory(of: stored)
    begin = 86_400_000
    servers.advance(to: 1)
    manifest = servers.manifest
    playedCount = 0
    settle()
    for (time, count) in servers.plan.starts {
      guard isPlayedInFull else {
        add(.start(count: count), at: time)
        continue
      }
      for _ in 0..<count { add(.start(count: 1), at: time) }
    }
    proceed()
    for (point, number) in reference?.trace.counts ?? [:] {
      for (time, count) in likened {
        servers.count(point.share, of: point.host, at: time + point.time, times: count * number)
      }
    }
  }

  private func add(_ event: TimedEvent, at time: Int64) {
    lastNumber += 1
    events[lastNumber] = event
    slots.insert(Slot(time: time, number: lastNumber))
  }

  private func proceed() {
    while let slot = slots.removeFirst() {
      guard let event = events.removeValue(forKey: slot.number) else { continue }
      now = slot.time
      switch event {
      case .start(let count): start(count)
      case .response(let machine, let request, let response):
        servers.finish(request)
        machine.wire.receive(response, to: request)
        move(machine)
      case .alarm(let machine):
        if machine.alarm == now { move(machine) }
      }
    }
    now = 0
  }

  private func start(_ count: Int) {
    if isSettled, !isPlayedInFull, reference != nil {
      likened.append((time: now, count: count))
      return
    }
    let machine = FleetMachine(self, start: now, count: count, keepsChanges: false)
    if isSettled, !isPlayedInFull { reference = machine }
    begin(machine)
  }

  private func begin(_ machine: FleetMachine) {
    playedCount += 1
    machine.wire.send = { [unowned self, unowned machine] in send($0, of: machine) }
    move(machine)
  }

  private func send(_ request: TransferRequest, of machine: FleetMachine) {
    let served = servers.response(request)
    let host = FleetServers.host(of: request)
    servers.count(served.share, of: host, at: now, times: machine.count)
    if machine === reference { machine.trace.add(served.share, of: host, at: now - machine.start) }
    add(.response(machine, request, served.response), at: now + served.delay)
  }

  private func move(_ machine: FleetMachine) {
    machine.act(at: now)
    if let alarm = machine.alarm { add(.alarm(machine), at: alarm) }
    guard machine.isDone, let report = machine.report else { return }
    let totals = report.totals
    if totals.failed + totals.deferred > 0 || totals.items != servers.plan.itemCount {
      problems.append("\(totals)")
    }
    if !isSettled { settle() }
  }

  private func settle() {
    isSettled = servers.isSettled(since: Self.epoch + .milliseconds(begin))
  }
}
