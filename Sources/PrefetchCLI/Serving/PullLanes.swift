import PrefetchCore
import PrefetchServe
import PrefetchTransfer
import Synchronization

/// Fetches missing items for clients, each URL once for all who wait.
///
/// Waiting wishes of equal terms form a batch of one lane; a lane is a thread, opened on demand up
/// to a limit.
final class PullLanes: CachePuller {
  typealias Outcomes = [(wish: Int, PullOutcome)]
  /// Fetches the wishes of a lane; the closure takes outcomes while others are in flight.
  typealias Work = @Sendable ([PullWish], @escaping (Outcomes) -> Void) -> Outcomes
  private typealias Ending = @Sendable (PullOutcome) -> Void

  private enum LaneState {
    case unopened
    case resting(Bell)
    /// Lane about to take waiting wishes.
    case woken
    case working(since: ContinuousClock.Instant)
  }

  private struct Queue {
    var isClosed = false
    var waiting: [PullWish] = []
    var endings: [PullWish: [Ending]] = [:]
    var lanes: [LaneState] = []
    var bells: [Bell] = []
    var threads: [WorkerThread] = []
  }

  private let line = Mutex(Queue())
  private let limit: Int
  private let together: Int
  private let work: Work

  /// Makes lanes, `limit` at most, which take batches of `together` wishes at most.
  init(limit: Int, together: Int, _ work: @escaping Work) {
    self.limit = limit
    self.together = together
    self.work = work
  }

  func pull(_ wish: PullWish, then end: @escaping @Sendable (PullOutcome) -> Void) {
    let newLane = line.withLock { line -> Int? in
      guard !line.isClosed else { return nil }
      line.endings[wish, default: []].append(end)
      // A later client shares the request in flight.
      guard line.endings[wish]?.count == 1 else { return nil }
      line.waiting.append(wish)
      return wake(&line)
    }
    if let newLane { open(newLane) }
  }

  /// Wakes a lane for the waiting wishes unless one is awake; returns a lane to open.
  private func wake(_ line: inout Queue) -> Int? {
    guard !line.waiting.isEmpty else { return nil }
    var resting: (lane: Int, bell: Bell)?
    var unopened: Int?
    for (lane, state) in line.lanes.enumerated() {
      switch state {
      case .woken: return nil
      case .resting(let bell): resting = resting ?? (lane, bell)
      case .unopened: unopened = lane
      case .working: break
      }
    }
    if let resting {
      line.lanes[resting.lane] = .woken
      resting.bell.ring()
      return nil
    }
    if unopened == nil, line.lanes.count < limit {
      unopened = line.lanes.count
      line.lanes.append(.woken)
    }
    if let unopened { line.lanes[unopened] = .woken }
    return unopened
  }

  private func open(_ lane: Int) {
    guard let bell = try? Bell(), let thread = WorkerThread({ [self] in work(in: lane, bell) })
    else {
      // Without a new thread this one does the work.
      return work(in: lane, nil)
    }
    let isClosed = line.withLock { line in
      line.bells.append(bell)
      line.threads.append(thread)
      return line.isClosed
    }
    if isClosed { bell.ring() }
  }

  private enum Turn {
    case work([PullWish])
    /// Pause until the youngest batch has run for ``youth``.
    case wait(Duration)
    case rest
    case end
  }

  /// Runs a lane until the end; without a bell it takes one batch.
  private func work(in lane: Int, _ bell: Bell?) {
    while true {
      let (turn, newLane) = line.withLock { line -> (Turn, Int?) in
        line.lanes[lane] = .woken
        let turn = self.turn(&line, waits: bell != nil)
        switch turn {
        case .work:
          line.lanes[lane] = .working(since: .now)
          return (turn, wake(&line))
        case .rest:
          line.lanes[lane] = bell.map { .resting($0) } ?? .unopened
          return (turn, nil)
        case .wait, .end: return (turn, nil)
        }
      }
      if let newLane { open(newLane) }
      switch turn {
      case .work(let wishes):
        let outcomes = work(wishes) { [self] in answer(wishes, $0) }
        // The clients' next requests come to this lane.
        line.withLock { $0.lanes[lane] = .woken }
        answer(wishes, outcomes)
      case .wait(let time): bell?.sleep(atMost: time)
      case .rest:
        guard let bell else { return }
        bell.sleep(atMost: Self.longestRest)
      case .end: return
      }
    }
  }

  private func turn(_ line: inout Queue, waits: Bool) -> Turn {
    guard !line.isClosed else { return .end }
    guard let first = line.waiting.first else { return .rest }
    let starts = line.lanes.compactMap { if case .working(let start) = $0 { start } else { nil } }
    if waits, let youngest = starts.max() {
      let rest = Self.youth - youngest.duration(to: .now)
      if rest > .zero { return .wait(rest) }
    }
    guard let terms = first.terms else { return .work([line.waiting.removeFirst()]) }
    var taken: [PullWish] = []
    var others: [PullWish] = []
    for wish in line.waiting {
      if taken.count < together, wish.terms == terms {
        taken.append(wish)
      } else {
        others.append(wish)
      }
    }
    line.waiting = others
    return .work(taken)
  }

  private func answer(_ wishes: [PullWish], _ outcomes: Outcomes) {
    for (number, outcome) in outcomes {
      let endings = line.withLock { $0.endings.removeValue(forKey: wishes[number]) ?? [] }
      for (place, end) in endings.enumerated() {
        var outcome = outcome
        outcome.isShared = place > 0
        end(outcome)
      }
    }
  }

  /// Stops new work and joins the threads; the caller has to stop the transfers.
  func close() {
    let (threads, bells) = line.withLock { line in
      line.isClosed = true
      line.waiting = []
      return (line.threads, line.bells)
    }
    for bell in bells { bell.ring() }
    for thread in threads { thread.join() }
  }

  private static let longestRest = Duration.seconds(60)
  /// Wait of new wishes after a batch has started, to share the next; short beside a request.
  private static let youth = Duration.milliseconds(2)
}

extension PullWish {
  /// Terms that wishes in a batch have in common.
  struct Terms: Hashable {
    var isStored: Bool
    var fields: ClientFields
  }

  /// Terms for sharing; nil for a wish that needs its own batch.
  var terms: Terms? {
    name == nil && damaged == nil ? Terms(isStored: url != nil, fields: fields) : nil
  }
}
