import PrefetchCore
import PrefetchServe
import PrefetchTransfer
import Synchronization

/// Brings what clients of a server wait for, each URL once however many wait.
///
/// There are as many threads as there is work, up to a limit.
final class PullLanes: CachePuller {
  private typealias Ending = @Sendable (PullOutcome) -> Void

  private struct Queue {
    var isClosed = false
    var waiting: [PullWish] = []
    var endings: [PullWish: [Ending]] = [:]
    var active = 0
    /// The threads that were started, some of which have ended.
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
    let needsThread = line.withLock { line in
      guard !line.isClosed else { return false }
      line.endings[wish, default: []].append(end)
      // A client that comes later waits for what was asked already.
      guard line.endings[wish]?.count == 1 else { return false }
      line.waiting.append(wish)
      guard line.active < limit else { return false }
      line.active += 1
      return true
    }
    if needsThread { startThread() }
  }

  private func startThread() {
    guard let thread = WorkerThread({ [self] in workThrough() }) else {
      // Without a thread there is only this one.
      return workThrough()
    }
    line.withLock { $0.threads.append(thread) }
  }

  private func workThrough() {
    while let wish = next() {
      let outcome = work(wish)
      let endings = line.withLock { $0.endings.removeValue(forKey: wish) ?? [] }
      for (number, end) in endings.enumerated() {
        var outcome = outcome
        outcome.isShared = number > 0
        end(outcome)
      }
    }
  }

  private func next() -> PullWish? {
    line.withLock { line in
      guard !line.isClosed, !line.waiting.isEmpty else {
        line.active -= 1
        return nil
      }
      return line.waiting.removeFirst()
    }
  }

  /// Begins nothing more, and waits for what is under way, which the caller has to stop.
  func close() {
    let threads = line.withLock { line in
      line.isClosed = true
      line.waiting = []
      return line.threads
    }
    for thread in threads { thread.join() }
  }
}
