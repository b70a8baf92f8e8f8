import PrefetchCore
import PrefetchStore

/// Why a segment is not current, as the last run left it.
struct SegmentTrouble {
  private enum Cause {
    case neverRun
    case list(String, reason: String)
    case items(count: Int, first: String, reason: String)
    case waits(Deferral)
    case failed(reason: String)
    /// The store failed, which only the run's exit status tells.
    case ended(exit: String, at: Instant)
    case unknown
  }

  private let cause: Cause

  init(
    of key: SegmentKey,
    list: String?,
    _ record: SegmentRecord?,
    _ store: DiskStore?,
    _ state: StateStore?
  ) throws(Failure) {
    if let list, let last = try state?.history(url: list).first,
      last.outcome == .failed, let reason = last.reason
    {
      cause = .list(list, reason: reason)
    } else if record == nil {
      cause = .neverRun
    } else if let items = try store.flatMap({ store throws(Failure) in
      try Self.failedItems(of: key.name, in: store)
    }) {
      cause = items
    } else if let deferral = try state?.deferrals(of: key.identity)[key.name] {
      cause = .waits(deferral)
    } else if let reason = try state?.outcomes(of: key.identity)[key]?.reason {
      cause = .failed(reason: reason)
    } else if let end = try state?.lastEnd(of: key), end.exit != ExitStatus.ok.name {
      cause = .ended(exit: end.exit, at: end.at)
    } else {
      cause = .unknown
    }
  }

  private static func failedItems(
    of name: String,
    in store: DiskStore
  ) throws(Failure) -> Cause? {
    var numbers: [Int64] = []
    try store.forEachItem { item throws(Failure) in
      if item.segments.contains(name) { numbers.append(item.item) }
      return true
    }
    var count = 0
    var first: (url: String, reason: String)?
    for start in stride(from: 0, to: numbers.count, by: 1000) {
      for stored in try store.stored(Array(numbers[start...].prefix(1000))) {
        guard let record = stored?.record, let failure = record.failure else { continue }
        count += 1
        first = first ?? (record.shownURL, failure.message)
      }
    }
    return first.map { .items(count: count, first: $0.url, reason: $0.reason) }
  }

  func text(now: Instant) -> String {
    switch cause {
    case .neverRun:
      "it is not current; `prefetch run` fetches it"
    case .list(let name, let reason):
      "its list `\(SafeText.line(Redaction.url(name)))` failed in the last run: \(SafeText.line(reason))"
    case .items(let count, let first, let reason):
      "\(Amounts.count(Int64(count), "item")) failed in the last run, the first "
        + "`\(SafeText.line(Redaction.url(first)))`: \(SafeText.line(reason)); `prefetch explain URL` explains it"
    case .waits(let deferral):
      "it waits: \(deferral.text()); the next run after that fetches it"
    case .failed(let reason):
      "its last run failed: \(SafeText.line(reason))"
    case .ended(let exit, let end):
      "its last run ended with `\(exit)` \(Amounts.duration(now - end)) ago; the next run tries again"
    case .unknown:
      "it is not current; `prefetch run` fetches it"
    }
  }
}

extension SegmentDeclaration {
  /// The URL or path of the list; nil for items in the configuration.
  var listName: String? {
    switch source {
    case .inline: nil
    case .remote(let url): url.string
    case .file(let path, _): path
    }
  }
}
