import PrefetchCore

/// Messages of `-v`: manifests, items, failed requests and waits; `-vv` adds all requests.
final class TraceLog: RunObserver {
  let needsEachFact = true
  private let console: Console

  init?(_ context: CommandContext) {
    guard context.shared.verbosity > 0 else { return nil }
    console = context.console
  }

  func observe(_ fact: RunFact, at now: Moment) {
    switch fact {
    case .manifestSettled(let segment, let manifest):
      let status = manifest.httpStatus.map { " (\($0))" } ?? ""
      let subject = LogSubject(url: manifest.url.map(Redaction.url), segment: segment)
      console.detail("\(segment): manifest \(manifest.status.rawValue)\(status)", about: subject)
    case .itemSettled(let item), .itemEvicted(let item, _):
      log(item)
    case .segmentSettled(let segment):
      console.detail(
        "\(segment.name): \(segment.state.rawValue)",
        about: LogSubject(segment: segment.name)
      )
    case .treePublished(let segment, let tree):
      // A dry run finds obstacles and publishes nothing.
      guard tree.hasChanged else { break }
      console.detail(
        "\(segment): published, \(tree.created) made, \(tree.removed) removed",
        about: LogSubject(segment: segment)
      )
    case .requestTraced(let story):
      log(story)
    case .requestWaits(let wait):
      log(wait)
    case .registration(let news):
      console.detail(news.text)
    case .conditionsRead(let conditions):
      let type = conditions.type?.rawValue ?? "unknown"
      console.detail("network: \(type) (\(conditions.typeReason))")
    case .qualityChanged(let quality):
      console.detail("network quality: \(quality.rawValue)")
    case .itemsDiscovered, .itemsKept, .itemsRetained, .itemRetained, .itemsConfirmed,
      .itemsArrived, .itemsStarted, .itemShared,
      .bytesReceived, .requestFinished, .requestsCounted, .interrupted, .storeFailed,
      .listRead, .warned:
      break
    }
  }

  private static func reason(_ item: ItemResult) -> String {
    switch item.outcome {
    case .added, .updated, .headers, .redirected: return ""
    case .unchanged where item.status == 304 || item.status == 200: return ""
    case .failed: return item.failure.map { ", \($0.message)" } ?? ""
    case .unchanged, .stale, .removed, .deferred, .empty, nil:
      return item.reason.isEmpty ? "" : ", \(item.reason)"
    }
  }

  private func log(_ item: ItemResult) {
    let url = Redaction.url(item.url)
    let status = item.status.map { " (\($0))" } ?? ""
    let subject = LogSubject(url: url, segment: item.segments.first)
    console.detail(
      "\(item.outcome?.rawValue ?? item.action.rawValue): \(url)\(status)\(Self.reason(item))",
      about: subject
    )
    for source in item.sources {
      let word = source.failure.map { "\($0.code.rawValue): \($0.message)" } ?? "served it"
      console.detail("  tried \(Redaction.url(source.url.string)): \(word)", about: subject)
    }
  }

  private func log(_ story: RequestStory) {
    let hasFailed = story.failure != nil || story.status.map { $0 >= 400 } ?? true
    let showsAll = console.shared.verbosity > 1
    guard showsAll || hasFailed else { return }
    let lines = RequestLines(story: story)
    let subject = LogSubject(url: story.url.redacted, segment: story.segments.first)
    let all = [lines.summary] + lines.circumstances + (showsAll ? lines.heads : [])
    for line in all { console.detail(line, about: subject) }
  }

  private func log(_ wait: RequestWait) {
    let url = wait.url.redacted
    let reason =
      wait.trouble.status.map { "answered \($0)" }
      ?? wait.trouble.code.map { "failed with \($0.rawValue)" } ?? "wants a pause"
    console.detail(
      "waits \(Amounts.duration(wait.length)): `\(wait.trouble.host)` \(reason); then \(url) again",
      about: LogSubject(url: url, segment: wait.segments.first)
    )
  }
}
