import PrefetchCore
import PrefetchServe
import PrefetchTransfer
import Synchronization

/// Fetches missing items for clients, each URL once for all who wait.
///
/// Waiting wishes of equal terms form a batch of one lane, which is a thread opened on demand.
final class PullLanes: CachePuller {
  typealias Outcomes = [(wish: Int, PullOutcome)]
  typealias Work = @Sendable ([PullWish], @escaping (Outcomes) -> Void) -> Outcomes
  private typealias Completion = @Sendable (PullOutcome) -> Void

  private enum LaneState {
    case unopened
    case resting(Bell)
    case woken
    case working(since: ContinuousClock.Instant)
  }

  private struct Queue {
    var isClosed = false
    var waiting: [PullWish] = []
    var completions: [PullWish: [Completion]] = [:]
    var lanes: [LaneState] = []
    var bells: [Bell] = []
    var threads: [WorkerThread] = []
  }

  private let queue = Mutex(Queue())
  private let limit: Int
  private let together: Int
  private let work: Work

  init(limit: Int, together: Int, _ work: @escaping Work) {
    self.limit = limit
    self.together = together
    self.work = work
  }

  func pull(_ wish: PullWish, then end: @escaping @Sendable (PullOutcome) -> Void) {
    let newLane = queue.withLock { queue -> Int? in
      guard !queue.isClosed else { return nil }
      queue.completions[wish, default: []].append(end)
      // A later client shares the request in flight.
      guard queue.completions[wish]?.count == 1 else { return nil }
      queue.waiting.append(wish)
      return wake(&queue)
    }
    if let newLane { open(newLane) }
  }

  /// Wakes a lane for the waiting wishes unless one is awake; returns a lane to open.
  private func wake(_ queue: inout Queue) -> Int? {
    guard !queue.waiting.isEmpty else { return nil }
    var resting: (lane: Int, bell: Bell)?
    var unopened: Int?
    for (lane, state) in queue.lanes.enumerated() {
      switch state {
      case .woken: return nil
      case .resting(let bell): resting = resting ?? (lane, bell)
      case .unopened: unopened = lane
      case .working: break
      }
    }
    if let resting {
      queue.lanes[resting.lane] = .woken
      resting.bell.ring()
      return nil
    }
    if unopened == nil, queue.lanes.count < limit {
      unopened = queue.lanes.count
      queue.lanes.append(.woken)
    }
    if let unopened { queue.lanes[unopened] = .woken }
    return unopened
  }

  private func open(_ lane: Int) {
    guard let bell = try? Bell(), let thread = WorkerThread({ [self] in work(in: lane, bell) })
    else {
      // Without a new thread this one does the work.
      return work(in: lane, nil)
    }
    let isClosed = queue.withLock { queue in
      queue.bells.append(bell)
      queue.threads.append(thread)
      return queue.isClosed
    }
    if isClosed { bell.ring() }
  }

  private enum Step {
    case work([PullWish])
    /// Pause until the youngest batch has run for ``batchingDelay``.
    case wait(Duration)
    case rest
    case end
  }

  /// Runs a lane until the end; without a bell it takes one batch.
  private func work(in lane: Int, _ bell: Bell?) {
    while true {
      let (step, newLane) = queue.withLock { queue -> (Step, Int?) in
        queue.lanes[lane] = .woken
        let step = nextStep(&queue, waits: bell != nil)
        switch step {
        case .work:
          queue.lanes[lane] = .working(since: .now)
          return (step, wake(&queue))
        case .rest:
          queue.lanes[lane] = bell.map { .resting($0) } ?? .unopened
          return (step, nil)
        case .wait, .end: return (step, nil)
        }
      }
      if let newLane { open(newLane) }
      switch step {
      case .work(let wishes):
        let outcomes = work(wishes) { [self] in deliver(wishes, $0) }
        // The clients' next requests come to this lane.
        queue.withLock { $0.lanes[lane] = .woken }
        deliver(wishes, outcomes)
      case .wait(let time): bell?.sleep(atMost: time)
      case .rest:
        guard let bell else { return }
        bell.sleep(atMost: Self.longestRest)
      case .end: return
      }
    }
  }

  private func nextStep(_ queue: inout Queue, waits: Bool) -> Step {
    guard !queue.isClosed else { return .end }
    guard let first = queue.waiting.first else { return .rest }
    let starts = queue.lanes.compactMap { if case .working(let start) = $0 { start } else { nil } }
    if waits, let youngest = starts.max() {
      let rest = Self.batchingDelay - youngest.duration(to: .now)
      if rest > .zero { return .wait(rest) }
    }
    guard let terms = first.terms else { return .work([queue.waiting.removeFirst()]) }
    var batch: [PullWish] = []
    var others: [PullWish] = []
    for wish in queue.waiting {
      if batch.count < together, wish.terms == terms {
        batch.append(wish)
      } else {
        others.append(wish)
      }
    }
    queue.waiting = others
    return .work(batch)
  }

  private func deliver(_ wishes: [PullWish], _ outcomes: Outcomes) {
    for (number, outcome) in outcomes {
      let completions = queue.withLock { $0.completions.removeValue(forKey: wishes[number]) ?? [] }
      for (index, end) in completions.enumerated() {
        var outcome = outcome
        outcome.isShared = index > 0
        end(outcome)
      }
    }
  }

  /// Stops new work and joins the threads; the caller has to stop the transfers.
  func close() {
    let (threads, bells) = queue.withLock { queue in
      queue.isClosed = true
      queue.waiting = []
      return (queue.threads, queue.bells)
    }
    for bell in bells { bell.ring() }
    for thread in threads { thread.join() }
  }

  private static let longestRest = Duration.seconds(60)
  /// Wait of new wishes after a batch has started, to share the next; short beside a request.
  private static let batchingDelay = Duration.milliseconds(2)
}

extension PullWish {
  struct Terms: Hashable {
    var isStored: Bool
    var fields: ClientFields
  }

  /// Terms for sharing; nil for a wish that needs its own batch.
  var terms: Terms? {
    name == nil && damaged == nil ? Terms(isStored: url != nil, fields: fields) : nil
  }
}
