internal import PrefetchCore

enum WorkerOrder: Sendable {
  case start(QueuedRequest)
  case order(TransferID, Order, HostShares.Assignment)
  case cancel(TransferID)
  /// Cancels a transfer and keeps its part.
  case interrupt(TransferID)
  case stop
}

struct WorkerReport: Sendable {
  static let usualSize = 32

  let worker: Int
  private(set) var events: [TransferEvent] = []
  private(set) var ends: [End] = []
  private(set) var windows: [Window] = []

  struct End: Sendable {
    var origin: Int
    var isTrouble: Bool
  }

  /// Number of connections that a host gets from now on.
  struct Window: Sendable {
    var origin: Int
    var limit: Int
  }

  var isEmpty: Bool { events.isEmpty && windows.isEmpty }
  var count: Int { events.count }

  mutating func progressed(_ id: TransferID, _ advance: TransferAdvance) {
    reserve()
    events.append(.progressed(id, advance))
  }

  mutating func finished(_ id: TransferID, _ result: TransferResult, _ end: End) {
    reserve()
    events.append(.finished(id, result))
    ends.append(end)
  }

  mutating func judged(_ id: TransferID, _ outcome: Outcome, origin: Int) {
    reserve()
    events.append(.judged(id, outcome))
    ends.append(End(origin: origin, isTrouble: false))
  }

  mutating func found(_ limit: Int, of origin: Int) {
    windows.append(Window(origin: origin, limit: limit))
  }

  private mutating func reserve() {
    guard events.isEmpty else { return }
    events.reserveCapacity(Self.usualSize)
    ends.reserveCapacity(Self.usualSize)
  }
}
