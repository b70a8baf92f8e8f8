import PrefetchCore

/// Phases of a transfer, without gaps.
struct TransferPhases {
  enum Phase: String, CaseIterable {
    case lookup
    case connecting
    case securing
    case queueing
    case waiting
    case receiving

    var name: String {
      switch self {
      case .lookup: "looking up the name"
      case .connecting: "connecting"
      case .securing: "agreeing on TLS"
      case .queueing: "waiting for a connection"
      case .waiting: "waiting for the answer"
      case .receiving: "receiving"
      }
    }
  }

  struct Interval {
    var phase: Phase
    var from: Duration
    var to: Duration

    var length: Duration { to - from }
  }

  private(set) var intervals: [Interval] = []

  init(_ request: RequestResult) {
    let figures = request.figures
    let total = figures.total ?? .zero
    var reached = Duration.zero
    let lengths: [(Phase, Duration?)] = [
      (.lookup, figures.dns), (.connecting, figures.connect), (.securing, figures.tls),
    ]
    for (phase, length) in lengths {
      guard let length else { continue }
      add(phase, until: reached + length, of: total, &reached)
    }
    if figures.wasSent, let requested = figures.requested {
      add(.queueing, until: requested, of: total, &reached)
    }
    add(Self.last(request), until: figures.firstByte ?? total, of: total, &reached)
    add(.receiving, until: total, of: total, &reached)
  }

  private static func last(_ request: RequestResult) -> Phase {
    guard !request.figures.wasSent else { return .waiting }
    switch request.failure?.code {
    case .dns: return .lookup
    case .tls, .certificate, .pinMismatch: return .securing
    default: return request.figures.connect == nil ? .connecting : .securing
    }
  }

  private mutating func add(
    _ phase: Phase,
    until end: Duration,
    of total: Duration,
    _ reached: inout Duration
  ) {
    let end = min(end, total)
    guard end > reached else { return }
    intervals.append(Interval(phase: phase, from: reached, to: end))
    reached = end
  }

  var text: String {
    intervals.map { "\($0.phase.name) \(HTMLText.span($0.length))" }.joined(separator: ", ")
  }
}
