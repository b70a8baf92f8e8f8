import PrefetchCore

/// Prints a dry run in the run's order, each line once no earlier one can follow.
final class PlanPrinter: RunObserver {
  let needsEachFact = true
  private let format: PlanLine
  private let segments: [String]
  private let listsKept: Bool
  private let mayEvict: Bool
  private let isClosed: () -> Bool
  private let print: ([UInt8]) -> Void
  private var priorities: [String: Int] = [:]
  private var manifests: [String: ManifestResult] = [:]
  private var segmentsWithDeferredItem: Set<String> = []
  /// Lines for deferred segments, dropped if their items have lines.
  private var deferredManifestLines: [String: ItemResult] = [:]
  /// Lines of a single segment that came before earlier ones.
  private var held = HeldLines()
  /// Removals, and lines of several segments.
  private var ranked = RankedLines()
  private var buffer: [UInt8] = []

  private static let capacity = 64 * 1024

  init(
    segments: [String],
    listsKept: Bool,
    mayEvict: Bool = false,
    secrets: SecretNeedles,
    isClosed: @escaping () -> Bool = { false },
    print: @escaping ([UInt8]) -> Void
  ) {
    self.segments = segments
    self.listsKept = listsKept
    self.mayEvict = mayEvict
    self.isClosed = isClosed
    self.print = print
    format = PlanLine(secrets: secrets)
  }

  func observe(_ fact: RunFact, at now: Moment) {
    switch fact {
    case .itemEvicted(_, was: .fail):
      // The item has a line already.
      break
    case .itemEvicted(let item, was: .keep), .itemSettled(let item):
      settled(item)
    case .itemEvicted(let item, _):
      ranked.replace(item, format)
    case .itemRetained(let item):
      ranked.add(item, format)
    case .itemShared(let item, let segment):
      ranked.share(item, with: segment)
    case .manifestSettled(let name, let manifest):
      manifests[name] = manifest
    case .segmentSettled(let segment):
      priorities[segment.name] = segment.priority
      settled(segment)
    case .conditionsRead, .qualityChanged, .itemsDiscovered, .itemsKept, .itemsConfirmed,
      .itemsRetained,
      .itemsArrived,
      .itemsStarted, .bytesReceived, .requestFinished, .requestsCounted, .requestTraced,
      .requestWaits, .listRead, .treePublished, .registration, .interrupted, .storeFailed, .warned:
      break
    }
  }

  func finish() {
    held.writeAll(to: &buffer)
    let segmentsWithDeferredItem = ranked.segmentsWithDeferredItem
    for (name, line) in deferredManifestLines where !segmentsWithDeferredItem.contains(name) {
      ranked.add(line, format)
    }
    if !ranked.isEmpty {
      ranked.write(ranks: ranks, format) { line in
        append(line)
        line.removeAll(keepingCapacity: true)
      }
    }
    flush()
  }

  private var isStreaming: Bool {
    segments.count == 1 && !mayEvict
  }

  private func settled(_ item: ItemResult) {
    guard !isClosed() else { return }
    let isListed = listsKept || item.action != .keep
    if item.action == .defer { segmentsWithDeferredItem.formUnion(item.segments) }
    guard isStreaming, item.action != .remove else {
      if isListed { ranked.add(item, format) }
      return
    }
    // A refused entry has no position in its list.
    guard let position = item.position, position != held.next else {
      if isListed { format.append(item, to: &buffer) }
      if item.position != nil {
        held.pass()
        held.writeNext(to: &buffer)
      }
      return flushIfFull()
    }
    var line: [UInt8] = []
    if isListed { format.append(item, to: &line) }
    held.hold(line, at: position)
  }

  /// Adds a line for a manifest that failed or is deferred, in place of its unknown items.
  private func settled(_ segment: SegmentResult) {
    guard let manifest = manifests.removeValue(forKey: segment.name), let url = manifest.url,
      !isClosed()
    else { return }
    var line = ItemResult(
      url: url,
      id: "",
      segments: [segment.name],
      state: .failed,
      action: .fail,
      reason: ""
    )
    if let failure = manifest.failure {
      line.reason = "manifest: \(failure.message)"
    } else if manifest.status == .skipped, let deferral = segment.deferral {
      line.action = .defer
      line.reason = deferral.rule.rawValue
      guard isStreaming else {
        deferredManifestLines[segment.name] = line
        return
      }
      guard !segmentsWithDeferredItem.contains(segment.name) else { return }
    } else {
      return
    }
    guard isStreaming else { return ranked.add(line, format) }
    format.append(line, to: &buffer)
  }

  private var ranks: [String: Int] {
    let ordered = segments.enumerated().sorted { a, b in
      (priorities[a.element] ?? Int.max, a.offset) < (priorities[b.element] ?? Int.max, b.offset)
    }
    return Dictionary(ordered.enumerated().map { ($1.element, $0) }) { first, _ in first }
  }

  private func append(_ line: [UInt8]) {
    buffer += line
    flushIfFull()
  }

  private func flushIfFull() {
    if buffer.count >= Self.capacity { flush() }
  }

  private func flush() {
    guard !buffer.isEmpty else { return }
    print(buffer)
    buffer.removeAll(keepingCapacity: true)
  }
}
