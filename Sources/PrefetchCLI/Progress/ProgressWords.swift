import PrefetchCore

enum ProgressWords {
  /// Returns for example `0:34`, `12:05`, `1:02:03`.
  static func clock(_ rest: Duration?) -> String {
    guard let rest else { return "-:--" }
    let seconds = max(0, (rest.milliseconds + 999) / 1000)
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    let end = twoDigits(seconds % 60)
    return hours > 0 ? "\(hours):\(twoDigits(minutes)):\(end)" : "\(minutes):\(end)"
  }

  private static func twoDigits(_ number: Int64) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }

  static func rate(_ rate: Int64?) -> String {
    rate.map { "\(Amounts.bytes($0))/s" } ?? ""
  }

  /// Returns the reason of a wait, such as `503, again in 4 s`, and the host, for wide lines.
  static func wait(_ wait: RunStatus.Wait) -> [String] {
    let seconds = max(1, (wait.rest.milliseconds + 999) / 1000)
    let reason =
      wait.trouble.status.map(String.init) ?? wait.trouble.code?.rawValue ?? "told to wait"
    return ["\(reason), again in \(seconds) s", " (\(wait.trouble.host))"]
  }

  static func waiting(_ segment: ProgressState.Segment) -> [String]? {
    let status = segment.engineStatus
    if segment.result == nil, status.phase == .publishing { return ["publishing"] }
    guard segment.result == nil, status.active == 0 else { return nil }
    if let wait = status.wait { return Self.wait(wait) }
    switch status.phase {
    case .discovering: return ["queued", " for its manifest"]
    case .running where status.open > 0: return ["queued"]
    case .running, .publishing, .settled: return nil
    }
  }

  static func outcome(_ segment: ProgressState.Segment, _ result: SegmentResult) -> String {
    let items = Amounts.count(Int64(segment.discovered ?? 0), "item")
    let bytes = segment.receivedBytes > 0 ? ", \(Amounts.bytes(segment.receivedBytes))" : ""
    let counts = segment.discovered == nil ? "" : items + bytes
    if let deferral = result.deferral {
      return "deferred by \(deferral.rule.rawValue)"
    }
    guard result.state != .current else { return counts.isEmpty ? "current" : counts }
    return counts.isEmpty ? result.state.rawValue : "\(result.state.rawValue), \(counts)"
  }
}
