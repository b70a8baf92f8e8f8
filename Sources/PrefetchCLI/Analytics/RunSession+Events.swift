import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

extension RunSession {
  /// Sends queued events; a failure fails the run only if another server poses as the collector.
  func sendEvents(
    _ state: StateStore,
    _ selected: [Segment],
    _ builder: RequestBuilder,
    _ license: LicenseStatus,
    telling report: inout Report
  ) {
    guard mayContactOthers, report.signal == nil,
      let sending = EventSending(
        context: context,
        loaded: loaded,
        builder: builder,
        locations: locations,
        license: license
      )
    else { return }
    let left = builder.policy.deadline.map { $0 - report.elapsed } ?? Self.sendingTimeout
    guard left > .zero else { return }
    do throws(Failure) {
      guard try !isDeferred(selected, state) else { return }
      let outcome = try sending.send(from: state, within: min(left, Self.sendingTimeout))
      report.totals.requests += outcome.requests
      report.totals.bytesWire += outcome.wireBytes
      reportSending(outcome, sending.collector, in: &report)
    } catch {
      report.diagnostics.append(
        "analytics.\(error.code.rawValue)",
        "no events were sent: \(error.message)",
        severity: .warning
      )
    }
  }

  /// Time that a run spends on sending; short, since a run is not for sending.
  private static let sendingTimeout: Duration = .seconds(30)

  private func reportSending(
    _ outcome: EventSending.Outcome,
    _ collector: WebURL,
    in report: inout Report
  ) {
    let count = Amounts.count(Int64(outcome.sent), "event")
    if outcome.sent > 0 { context.console.detail("\(count) sent to `\(collector.authority)`") }
    switch outcome.end {
    case .done, .interrupted: break
    case .outOfTime: context.console.detail("the other events are sent by the next run")
    case .busy: context.console.detail("another process is sending events")
    case .paused(let until):
      context.console.detail("no events are sent before \(Timestamp.format(until))")
    case .withheld:
      context.console.detail("no events are sent to `\(collector.authority)` without its license")
    case .failed(let failure, let until):
      let isDistrusted = failure.code.category == .trust
      if isDistrusted { report.distrustedCollector = failure }
      report.diagnostics.append(
        "analytics.\(failure.code.rawValue)",
        "events were not sent to `\(collector.authority)`: \(failure.message)",
        severity: isDistrusted ? .error : .warning,
        hint: until.map { "they are kept, and sent by the first run after \(Timestamp.format($0))" }
      )
    }
  }
}
