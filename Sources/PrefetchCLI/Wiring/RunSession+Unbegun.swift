import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

extension RunSession {
  /// Returns the report of a run that could not begin; stored content stays.
  func unbegunReport(_ failure: Failure) -> Report {
    let known = (try? context.readingStore(locations)?.segments()) ?? nil
    var report = unbegunReport(
      of: loaded.configuration.segments.filter { isSelected($0.name) }
    ) { name in
      let key = SegmentKey(identity: loaded.identity, name: name)
      let record = known?.first { $0.key == key }
      return record?.lastSuccess == nil ? .failed : .incomplete
    }
    report.storeFailure = failure
    return report
  }

  private func unbegunReport(
    of segments: [Segment],
    state: (String) -> SegmentState
  ) -> Report {
    var report = Report(
      mode: .run,
      identity: loaded.identity,
      started: context.clock.now().wall
    )
    report.segments = segments.map { segment in
      var entry = Report.Segment(
        name: segment.name,
        state: state(segment.name),
        manifest: ManifestResult(url: nil, status: .skipped)
      )
      entry.priority = segment.declaration.priority
      entry.isRequired = segment.declaration.isRequired
      return entry
    }
    return report
  }

  /// Returns the report of a run that found the cache locked: deferred, no error.
  func lockedReport(because reason: String) -> Report {
    var report = unbegunReport(
      of: loaded.configuration.segments.filter { isSelected($0.name) }
    ) { _ in .deferred }
    report.deferral = Deferral(rule: .lock)
    report.signal = StopSignals.pending
    for index in report.segments.indices { report.segments[index].deferral = report.deferral }
    console.note(reason)
    return report
  }
}
