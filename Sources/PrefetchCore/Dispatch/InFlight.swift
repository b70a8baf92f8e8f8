/// Jobs in flight, in an array: transfer numbers rise, and transfers mostly end in order.
struct InFlight: Sendable {
  private var jobs: [Int32] = []
  /// Transfer number of `jobs[0]`.
  private var first = 1
  private var endedCount = 0
  private(set) var count = 0

  private static let ended = Int32.min

  var isEmpty: Bool {
    count == 0
  }

  var ids: [TransferID] {
    jobs.indices[endedCount...].filter { jobs[$0] != Self.ended }.map { TransferID(first + $0) }
  }

  var values: [Job] {
    ids.compactMap { self[$0] }
  }

  subscript(id: TransferID) -> Job? {
    let index = id.number - first
    guard jobs.indices.contains(index), jobs[index] != Self.ended else { return nil }
    return Job(number: Int(jobs[index]))
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
