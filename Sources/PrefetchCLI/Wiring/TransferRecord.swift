import PrefetchCore

/// Notes what the requests of a run were like, for a report that shows it.
final class TransferRecord: RunObserver {
  let hearsOfEach = true
  private(set) var log = TransferLog()
  private let start: Instant

  init(startingAt start: Instant) {
    self.start = start
  }

  func observe(_ fact: RunFact, at now: Moment) {
    if case .requestFinished(let request) = fact { log.note(request, in: start) }
  }
}
