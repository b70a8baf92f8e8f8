import PrefetchCore

struct ProgressLines {
  private var dueAt: Duration?
  private var pause = Self.shortPause

  private static let shortPause: Duration = .seconds(10)
  private static let longPause: Duration = .seconds(60)
  /// Most segments with own lines; beyond, only totals are shown.
  private static let mostSegments = 20

  func line(for fact: RunFact, _ state: ProgressState) -> String? {
    guard state.segments.count <= Self.mostSegments else { return nil }
    switch fact {
    case .itemsDiscovered(let name, let count):
      return "progress: \(label(name, state)): \(Amounts.count(Int64(count), "item"))"
    case .segmentSettled(let result):
      guard let segment = state.segments.first(where: { $0.name == result.name }) else {
        return nil
      }
      return "progress: \(label(result.name, state)): \(result.state.rawValue), "
        + "\(segment.settled) of \(Amounts.count(Int64(segment.discovered ?? 0), "item")), "
        + Amounts.bytes(segment.receivedBytes)
    default:
      return nil
    }
  }

  private func label(_ name: String, _ state: ProgressState) -> String {
    name.isEmpty ? "get" : state.titles[name] ?? name
  }

  /// Returns a line of totals from time to time, at growing intervals.
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
