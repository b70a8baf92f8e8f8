extension Dispatcher {
  /// Warns if the last run lies in the future: the clock was ahead then, or is behind now.
  mutating func warnOfClock() {
    let latest = segments.compactMap { $0.recorded?.lastChecked }.max()
    guard let latest, Freshness.isFuture(latest, at: now.wall) else { return }
    warnOfClock(
      "the last run was at \(Timestamp.format(latest)): items confirmed in the future are revalidated"
    )
  }

  private mutating func warnOfClock(_ contradiction: String) {
    announce(
      .warned(
        Diagnostic(
          "run.clock",
          "the clock says \(Timestamp.format(now.wall)), and \(contradiction)",
          severity: .warning,
          hint: "if the clock is wrong now, set it"
        )
      )
    )
  }

  /// Records the `Date` of answers until one shows that the clock is right.
  mutating func recordDate(of result: TransferResult) {
    guard !serverTime.isCertain(at: now.wall), case .success(let response) = result.outcome,
      let date = response.headers[.date].flatMap({ HTTPDate.parse($0) })
    else { return }
    let isFirst = serverTime.received == nil
    let isNews = serverTime.record(date)
    facts.isClockAhead = serverTime.showsClockAhead(at: now.wall)
    if isFirst, facts.isClockAhead {
      warnOfClock("servers say \(Timestamp.format(date)): nothing expires by time in this run")
    }
    if isNews, request.mode.writes { batch.add(.dated(date), now: now.uptime) }
  }

  /// Whether the clock is so far ahead that no item expires by it.
  var isClockAhead: Bool {
    serverTime.showsClockAhead(at: now.wall)
  }
}
