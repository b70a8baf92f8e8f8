import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchSystem

/// Makes events of what a run tells, for a script that follows and for the hooks.
final class EventSink: RunObserver {
  let hearsOfEach = true
  private let stream: EventStream?
  private let hooks: HookLane?
  private let runID: String
  /// Knows what must not be told, also what becomes known on the way.
  private let console: Console
  private var progress = RunProgress()
  private var lastProgress: Duration?
  /// What came for each segment.
  private var brought: [String: (count: Int64, bytes: Int64)] = [:]

  /// Nil where nobody listens.
  init?(
    stream: EventStream?,
    hooks: HookLane?,
    runID: String,
    start: Instant,
    console: Console
  ) {
    guard stream != nil || hooks != nil else { return nil }
    self.stream = stream
    self.hooks = hooks
    self.runID = runID
    self.console = console
    push("run.started", at: start)
  }

  func observe(_ fact: RunFact, at now: Moment) {
    progress.note(fact)
    switch fact {
    case .itemSettled(let item): note(item)
    case .segmentSettled(let segment):
      if let sum = brought.removeValue(forKey: segment.name) {
        push(
          "items.downloaded",
          at: now.wall,
          [
            ("segment", text(segment.name)), ("count", .integer(sum.count)),
            ("bytes", .integer(sum.bytes)),
          ]
        )
      }
    default: break
    }
    if let value = EventLine.value(fact, run: runID, at: now.wall, secrets: console.needles) {
      push(value)
    }
    tellProgress(now)
  }

  private func note(_ item: ItemResult) {
    guard item.outcome == .added || item.outcome == .updated else { return }
    for segment in item.segments {
      let sum = brought[segment] ?? (0, 0)
      brought[segment] = (sum.count + 1, sum.bytes.addingSaturated(item.size ?? 0))
    }
  }

  /// Once a second is enough for whoever draws it.
  private func tellProgress(_ now: Moment) {
    let last = lastProgress ?? now.uptime
    lastProgress = last
    guard now.uptime - last >= .seconds(1) else { return }
    lastProgress = now.uptime
    push(
      "progress",
      at: now.wall,
      [
        ("items", .integer(Int64(progress.settled))),
        ("total", .integer(Int64(progress.discovered))),
        ("bytes", .integer(progress.received)),
      ]
    )
  }

  /// Waits for those who listen, not for long, and says what they missed.
  func finish(_ report: inout Report) {
    push("run.finished", at: report.finished, [("exit", .string(ExitStatus(report).name))])
    if let hooks {
      let ending = hooks.finish()
      report.diagnostics += ending.diagnostics
      report.hasFailedHook = ending.hasFailed
    }
    if let stream { report.diagnostics += stream.finish() }
  }

  private func text(_ text: String) -> JSONValue {
    .string(Redaction.masked(text, needles: console.needles))
  }

  private func push(_ name: String, at time: Instant, _ members: [(String, JSONValue)] = []) {
    push(EventLine.line(name, runID, time, members))
  }

  private func push(_ value: JSONValue) {
    guard case .object(let members) = value, case .string(let name)? = members.first?.1 else {
      return
    }
    let event = EventQueue.Event(name: name, line: JSONWriter.string(value))
    stream?.push(event)
    hooks?.push(event)
  }
}

/// How far a run is.
struct RunProgress {
  private(set) var discovered = 0
  private(set) var settled = 0
  private(set) var received: Int64 = 0

  mutating func note(_ fact: RunFact) {
    switch fact {
    case .itemsDiscovered(_, let count): discovered += count
    case .itemSettled(let item): settled += item.action == .remove ? 0 : 1
    case .itemsKept(_, let count, _, _, _), .itemsConfirmed(_, let count, _): settled += count
    case .itemsArrived(_, let arrivals): settled += arrivals.count
    case .itemShared: settled += 1
    case .bytesReceived(let bytes): received = received.addingSaturated(bytes)
    case .conditionsRead, .qualityChanged, .itemStarted, .requestFinished, .requestsAnswered,
      .requestTold, .requestWaits, .manifestSettled, .segmentSettled, .treePublished, .registration,
      .interrupted, .storeFailed, .itemEvicted:
      break
    }
  }
}
