/// Kinds of open work: each ends by an event, and the run ends when none is open.
struct Obligations: OptionSet, Sendable {
  let rawValue: UInt16

  static let transfers = Obligations(rawValue: 1 << 0)
  static let queue = Obligations(rawValue: 1 << 1)
  static let preparations = Obligations(rawValue: 1 << 2)
  static let planning = Obligations(rawValue: 1 << 3)
  static let backoff = Obligations(rawValue: 1 << 4)
  static let room = Obligations(rawValue: 1 << 5)
  static let documents = Obligations(rawValue: 1 << 6)
  static let commits = Obligations(rawValue: 1 << 7)
  static let roomReading = Obligations(rawValue: 1 << 8)
  static let conditions = Obligations(rawValue: 1 << 9)

  /// Kinds that can add to the commit batch at any moment.
  static let wire: Self = [.transfers, .queue, .preparations, .planning]
  /// Kinds that a halt, a rule or a deadline can stop.
  static let work: Self = [.wire, .backoff, .room]
  static let all: Self = [.work, .documents, .commits, .roomReading, .conditions]

  /// Counts of the kinds that no other value counts.
  struct Begun: Sendable {
    private var counts = [Int](repeating: 0, count: UInt16.bitWidth)

    mutating func begin(_ kind: Obligations) {
      counts[kind.rawValue.trailingZeroBitCount] += 1
    }

    mutating func end(_ kind: Obligations) {
      let index = kind.rawValue.trailingZeroBitCount
      assert(counts[index] > 0, "it ends more often than it begins")
      counts[index] -= 1
    }

    func count(of kind: Obligations) -> Int {
      counts[kind.rawValue.trailingZeroBitCount]
    }
  }
}

extension Dispatcher {
  func isQuiescent(_ kinds: Obligations = .all, except others: Obligations = []) -> Bool {
    // A closure would copy the whole dispatcher in debug builds.
    let kinds = kinds.subtracting(others)
    if kinds.contains(.transfers), wire.transferCount > 0 { return false }
    if kinds.contains(.queue), wire.queuedCount > 0 { return false }
    if kinds.contains(.preparations), begun.count(of: .preparations) > 0 { return false }
    if kinds.contains(.documents), begun.count(of: .documents) > 0 { return false }
    if kinds.contains(.backoff), !wire.isBackoffEmpty { return false }
    if kinds.contains(.room), !space.queue.isEmpty { return false }
    if kinds.contains(.commits), !batch.isEmpty || batch.isWriting { return false }
    if kinds.contains(.roomReading), space.isMeasuring { return false }
    if kinds.contains(.conditions), network?.isReading == true { return false }
    return !kinds.contains(.planning) || !isPlanning
  }

  private var isPlanning: Bool {
    begun.count(of: .planning) > 0 || !inventoryRequests.isEmpty
      || !awaitingConditions.isEmpty
  }
}
