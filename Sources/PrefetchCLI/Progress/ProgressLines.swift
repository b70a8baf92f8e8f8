import PrefetchCore

/// Progress as plain lines, few of them, for logs that cannot be drawn in.
struct ProgressLines {
  private var dueAt: Duration?
  private var pause = Self.shortPause

  private static let shortPause: Duration = .seconds(10)
  private static let longPause: Duration = .seconds(60)
  /// Where more segments than this go by, only the total is told.
  private static let mostSegments = 20

  /// What there is to say of a fact, once it is counted in.
  func line(for fact: RunFact, _ state: ProgressState) -> String? {
    guard state.segments.count <= Self.mostSegments else { return nil }
    switch fact {
    case .itemsDiscovered(let name, let count):
      return "progress: \(label(name)): \(Amounts.count(Int64(count), "item"))"
    case .segmentSettled(let result):
      guard let segment = state.segments.first(where: { $0.name == result.name }) else {
        return nil
      }
      return "progress: \(label(result.name)): \(result.state.rawValue), "
        + "\(segment.settled) of \(Amounts.count(Int64(segment.discovered ?? 0), "item")), "
        + Amounts.bytes(segment.receivedBytes)
    default:
      return nil
    }
  }

  private func label(_ name: String) -> String {
    name.isEmpty ? "get" : name
  }

  /// What there is to say now and then, and more seldom the longer it takes.
  mutating func line(for state: ProgressState, _ now: Moment) -> String? {
    guard let due = dueAt else {
      dueAt = now.uptime + pause
      return nil
    }
    guard due <= now.uptime else { return nil }
    pause = min(pause * 2, Self.longPause)
    dueAt = now.uptime + pause
    let rate = ProgressWords.rate(state.pace.rate)
    let rest = state.remaining.map { ", \(ProgressWords.clock($0)) left" } ?? ""
    return "progress: \(state.settled) of \(Amounts.count(Int64(state.discovered), "item")), "
      + "\(Amounts.bytes(state.receivedBytes)), \(rate)\(rest)"
  }
}
