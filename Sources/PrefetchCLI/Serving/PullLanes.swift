import PrefetchCore
import PrefetchServe
import PrefetchTransfer
import Synchronization

/// Brings what clients of a server wait for, each URL once however many wait.
///
/// There are as many lanes as there ever was work for, up to a limit; each is a thread, which rests when
/// there is nothing to do.
final class PullLanes: CachePuller {
  private typealias Ending = @Sendable (PullOutcome) -> Void

  private struct Queue {
    var isClosed = false
    var waiting: [PullWish] = []
    var endings: [PullWish: [Ending]] = [:]
    /// Bells of the lanes that rest; the one that worked last is woken first.
    var resting: [Bell] = []
    var bells: [Bell] = []
    var laneCount = 0
    var threads: [WorkerThread] = []
  }

  private let line = Mutex(Queue())
  private let limit: Int
  private let work: @Sendable (PullWish) -> PullOutcome

  init(limit: Int, _ work: @escaping @Sendable (PullWish) -> PullOutcome) {
    self.limit = limit
    self.work = work
  }

  func pull(_ wish: PullWish, then end: @escaping @Sendable (PullOutcome) -> Void) {
    let needsLane = line.withLock { line in
      guard !line.isClosed else { return false }
      line.endings[wish, default: []].append(end)
      // A client that comes later waits for what was asked already.
      guard line.endings[wish]?.count == 1 else { return false }
      line.waiting.append(wish)
      if let bell = line.resting.popLast() {
        bell.ring()
        return false
      }
      guard line.laneCount < limit else { return false }
      line.laneCount += 1
      return true
    }
    if needsLane { openLane() }
  }

  private func openLane() {
    guard let bell = try? Bell(), let thread = WorkerThread({ [self] in workThrough(bell) }) else {
      // Without a thread there is only this one.
      workThrough(nil)
      return line.withLock { $0.laneCount -= 1 }
    }
    let isClosed = line.withLock { line in
      line.bells.append(bell)
      line.threads.append(thread)
      return line.isClosed
    }
    if isClosed { bell.ring() }
  }

  private enum Turn {
    case work(PullWish)
    case rest
    case end
  }

  /// Works until the end; without a bell until there is nothing to do.
  private func workThrough(_ bell: Bell?) {
    while true {
      switch next(bell) {
      case .work(let wish): bring(wish)
      case .rest: bell?.sleep(atMost: Self.longestRest)
      case .end: return
      }
    }
  }

  private func next(_ bell: Bell?) -> Turn {
    line.withLock { line in
      guard !line.isClosed else { return .end }
      if !line.waiting.isEmpty {
        line.resting.removeAll { $0 === bell }
        return .work(line.waiting.removeFirst())
      }
      guard let bell else { return .end }
      if !line.resting.contains(where: { $0 === bell }) { line.resting.append(bell) }
      return .rest
    }
  }

  private func bring(_ wish: PullWish) {
    let outcome = work(wish)
    let endings = line.withLock { $0.endings.removeValue(forKey: wish) ?? [] }
    for (number, end) in endings.enumerated() {
      var outcome = outcome
      outcome.isShared = number > 0
      end(outcome)
    }
  }

  /// Begins nothing more, and waits for what is under way, which the caller has to stop.
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
}
