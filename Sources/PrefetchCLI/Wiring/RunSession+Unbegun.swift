import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// Reports of runs that could not begin.
extension RunSession {
  /// Nothing could be begun; what is stored stays as it is.
  func unbegunReport(_ failure: Failure) -> Report {
    let known = (try? context.readingStore(places)?.segments()) ?? nil
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

  /// Another process is at work on this cache: nothing was asked, nothing is wrong.
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
