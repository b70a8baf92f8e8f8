import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchSystem

final class EventSink: RunObserver {
  let needsEachFact: Bool
  private let stream: EventStream?
  private let hooks: HookLane?
  private let runID: String
  /// Console that masks secrets, also ones learnt during the run.
  private let console: Console
  private var progress = RunProgress()
  private var lastLook: TransferLook?
  private var brought: [String: (count: Int64, bytes: Int64)] = [:]
  private var changed: Set<String> = []

  private let reportsChanges: Bool
  private var hasBegun = false
  private var isFinished = false

  init?(
    stream: EventStream?,
    hooks: HookLane?,
    runID: String,
    console: Console,
    reportsChanges: Bool = true
  ) {
    guard stream != nil || hooks != nil else { return nil }
    self.stream = stream
    self.hooks = hooks
    self.runID = runID
    self.console = console
    self.reportsChanges = reportsChanges
    needsEachFact = stream != nil || hooks?.needsEachFact == true
  }

  func begin(at start: Instant) {
    guard !hasBegun else { return }
    hasBegun = true
    push("run.started", at: start)
  }

  func observe(_ fact: RunFact, at now: Moment) {
    progress.apply(fact)
    switch fact {
    case .itemSettled(let item):
      if item.departure != nil || item.outcome == .removed { changed.formUnion(item.segments) }
      recordChange(item)
    case .itemEvicted(let item, _): changed.formUnion(item.segments)
    case .itemShared(let item, let segment):
      if item.outcome == .added || item.outcome == .updated { changed.insert(segment) }
    case .itemsArrived(let segment, let arrivals):
      changed.insert(segment)
      for arrival in arrivals { bring(arrival.body.size, to: segment) }
    case .segmentSettled(let segment):
      if let sum = brought.removeValue(forKey: segment.name) {
        push(
          "items.downloaded",
          at: now.wall,
          [
            ("segment", line(at: now.wall).text(segment.name)), ("count", .integer(sum.count)),
            ("bytes", .integer(sum.bytes)),
          ]
        )
      }
    default: break
    }
    for value in line(at: now.wall).values(fact) { push(value) }
  }

  private func recordChange(_ item: ItemResult) {
    guard item.outcome == .added || item.outcome == .updated else { return }
    changed.formUnion(item.segments)
    for segment in item.segments { bring(item.size ?? 0, to: segment) }
  }

  private func bring(_ bytes: Int64, to segment: String) {
    let sum = brought[segment] ?? (0, 0)
    brought[segment] = (sum.count + 1, sum.bytes.addingSaturated(bytes))
  }

  /// Pause between progress events; one a second is enough.
  var pauseBetweenLooks: Duration? {
    stream != nil || hooks?.hears("progress") == true ? .seconds(1) : nil
  }

  func show(_ status: RunStatus, _ now: Moment) {
    defer { lastLook = TransferLook(status, at: now.uptime) }
    guard let last = lastLook else { return }
    let line = line(at: now.wall)
    let transfers = status.transfers.map { transfer in
      JSONValue.object([
        ("url", line.text(transfer.url.redacted)),
        ("segment", line.text(status.segments[transfer.segment].name)),
        ("bytes", .integer(transfer.advance.position)),
        ("total", .optional(transfer.advance.size)),
        ("rate", .optional(last.rate(of: transfer, at: now.uptime))),
      ])
    }
    push(
      "progress",
      at: now.wall,
      [
        ("items", .integer(Int64(progress.settled))),
        ("total", .integer(Int64(progress.discovered))),
        ("bytes", .integer(progress.received)), ("transfers", .array(transfers)),
      ]
    )
  }

  /// Waits briefly for the listeners, and adds lost events and failed hooks to the report.
  func finish(_ report: inout Report) {
    guard !isFinished else { return }
    begin(at: report.started)
    let result = finish(ExitStatus(report), at: report.finished)
    report.diagnostics += result.diagnostics
    report.hasFailedHook = result.hasFailed
  }

  func finish(
    _ exit: ExitStatus,
    at end: Instant
  ) -> (diagnostics: [Diagnostic], hasFailed: Bool) {
    guard !isFinished else { return ([], false) }
    isFinished = true
    push("run.finished", at: end, [("exit", .string(exit.name))])
    let result = hooks?.finish()
    let missed = stream?.finish() ?? []
    return ((result?.diagnostics ?? []) + missed, result?.hasFailed ?? false)
  }

  private func line(at time: Instant) -> EventLine {
    EventLine(run: runID, time: time, secrets: console.needles, changed: changed)
  }

  private func push(_ name: String, at time: Instant, _ members: [(String, JSONValue)] = []) {
    push(line(at: time).line(name, members))
  }

  private static let changes: Set<String> = [
    "items.downloaded", "items.evicted", "cache.added", "cache.updated", "cache.removed",
    "published",
  ]

  private func push(_ value: JSONValue) {
    guard case .object(let members) = value, case .string(let name)? = members.first?.1,
      reportsChanges || !Self.changes.contains(name)
    else { return }
    let event = EventQueue.Event(name: name, line: JSONWriter.string(value))
    stream?.push(event)
    hooks?.push(event)
  }
}

struct RunProgress {
  private(set) var discovered = 0
  private(set) var settled = 0
  private(set) var received: Int64 = 0

  mutating func apply(_ fact: RunFact) {
    switch fact {
    case .itemsDiscovered(_, let count): discovered += count
    case .itemSettled(let item): settled += item.action == .remove ? 0 : 1
    case .itemsKept(_, let count, _, _, _), .itemsConfirmed(_, let count, _): settled += count
    case .itemsArrived(_, let arrivals): settled += arrivals.count
    case .itemShared: settled += 1
    case .bytesReceived(let bytes): received = received.addingSaturated(bytes)
    case .conditionsRead, .qualityChanged, .itemsRetained, .itemRetained, .itemsStarted,
      .requestFinished, .requestsCounted,
      .requestTraced, .requestWaits, .manifestSettled, .listRead, .segmentSettled, .treePublished,
      .registration,
      .interrupted, .storeFailed, .warned, .itemEvicted:
      break
    }
  }
}
