/// The transfers under way, by the numbers that the dispatcher gave them.
///
/// These only ever rise and mostly end in the order in which they began, so that places in a row do.
struct InFlight: Sendable {
  /// Numbers of jobs, from the oldest transfer that is under way.
  private var jobs: [Int32] = []
  /// Of the first of them.
  private var first = 1
  /// How many of the first have ended.
  private var endedCount = 0
  private(set) var count = 0

  private static let ended = Int32.min

  var isEmpty: Bool {
    count == 0
  }

  /// Those under way, the oldest first.
  var ids: [TransferID] {
    jobs.indices[endedCount...].filter { jobs[$0] != Self.ended }.map { TransferID(first + $0) }
  }

  var values: [Job] {
    ids.compactMap { self[$0] }
  }

  subscript(id: TransferID) -> Job? {
    let place = id.number - first
    guard jobs.indices.contains(place), jobs[place] != Self.ended else { return nil }
    return Job(number: Int(jobs[place]))
  }

  mutating func start(_ job: Job) -> TransferID {
    jobs.append(Int32(job.number))
    count += 1
    return TransferID(first + jobs.count - 1)
  }

  mutating func end(_ id: TransferID) -> Job? {
    guard let job = self[id] else { return nil }
    jobs[id.number - first] = Self.ended
    count -= 1
    while endedCount < jobs.count, jobs[endedCount] == Self.ended { endedCount += 1 }
    if endedCount > Self.mostEnded, 2 * endedCount > jobs.count {
      jobs.removeFirst(endedCount)
      first += endedCount
      endedCount = 0
    }
    return job
  }

  private static let mostEnded = 1024
}
