import PrefetchTestSupport
import Testing

@testable import PrefetchCore

/// Random event logs, which the report must add up like real ones.
@Suite("Totals of random event logs")
struct ReportTotalsTests {
  private static let segments = ["s", "t", "u"]

  /// Counts of the log, independent of the report.
  private struct Tally {
    var ends: [ItemAction: Int64] = [:]
    var saved: Int64 = 0
    var confirmed: Int64 = 0
    var pinned: Int64 = 0

    mutating func add(_ action: ItemAction, _ size: Int64, isPinned: Bool, by step: Int64) {
      ends[action, default: 0] += step
      if action == .keep || action == .revalidate { saved += size * step }
      if action == .revalidate { confirmed += size * step }
      if action == .keep, isPinned { pinned += size * step }
    }

    func expect(_ totals: Totals, _ message: String) {
      let reported: [ItemAction: Int64] = [
        .keep: totals.kept, .revalidate: totals.revalidated, .fetch: totals.fetched,
        .update: totals.updated, .defer: totals.deferred, .fail: totals.failed,
        .remove: totals.removed,
      ]
      #expect(reported.filter { $0.value != 0 } == ends.filter { $0.value != 0 }, "\(message)")
      #expect(totals.items == ends.filter { $0.key != .remove }.values.reduce(0, +), "\(message)")
      #expect(totals.bytesSaved == saved, "\(message)")
      #expect(totals.bytesConfirmed == confirmed && totals.bytesPinned == pinned, "\(message)")
      #expect(totals.bytesConfirmed + totals.bytesPinned <= totals.bytesSaved, "\(message)")
    }
  }

  @Test("Totals are the counts of items, of the run and of each segment", arguments: 0..<300)
  func totals(seed: UInt64) {
    var generator = SeededRandom(seed: seed)
    var builder = ReportBuilder(
      mode: .run,
      identity: "me",
      segments: Self.segments.map { SegmentDeclaration(name: $0, source: .inline([])) },
      listsKept: generator.happens(50),
      keepsItems: generator.happens(80),
      at: ReportBuilderTests.start
    )
    var run = Tally()
    var bySegment: [String: Tally] = [:]
    var settled: [ItemResult] = []
    for number in 0..<Int.random(in: 0...60, using: &generator) {
      switch Int.random(in: 0..<6, using: &generator) {
      case 0, 1, 2:
        let item = Self.item(number, &generator)
        builder.fold(.itemSettled(item))
        let size = item.size ?? 0
        run.add(item.action, size, isPinned: item.isPinned, by: 1)
        for name in item.segments {
          bySegment[name, default: Tally()]
            .add(item.action, size, isPinned: item.isPinned, by: 1)
        }
        settled.append(item)
      case 3:
        let (name, count) = (Self.segment(&generator), Int.random(in: 0...9, using: &generator))
        let bytes = SavedBytes(all: Int64(10 * count), pinned: Int64(4 * count))
        builder.fold(
          .itemsKept(
            segment: name,
            count: count,
            bytes: bytes,
            freshCount: count,
            freshBytes: bytes
          )
        )
        Self.keep(count, bytes, in: &run)
        Self.keep(count, bytes, in: &bySegment[name, default: Tally()])
      case 4:
        let (name, count) = (Self.segment(&generator), Int.random(in: 0...9, using: &generator))
        builder.fold(.itemsConfirmed(segment: name, count: count, bytes: Int64(7 * count)))
        run.ends[.revalidate, default: 0] += Int64(count)
        run.saved += Int64(7 * count)
        run.confirmed += Int64(7 * count)
        var tally = bySegment[name] ?? Tally()
        tally.ends[.revalidate, default: 0] += Int64(count)
        tally.saved += Int64(7 * count)
        tally.confirmed += Int64(7 * count)
        bySegment[name] = tally
      default:
        // A previously successful item is evicted, at most once.
        guard
          let index = settled.indices.filter({ settled[$0].action != .remove }).randomElement(
            using: &generator
          )
        else { continue }
        let was = settled.remove(at: index)
        guard was.action != .fail else { continue }
        var item = was
        item.action = .fail
        item.outcome = .failed
        item.failure = Failure(.cacheFull, "it went to make room")
        builder.fold(.itemEvicted(item, was: was.action))
        run.add(was.action, was.size ?? 0, isPinned: was.isPinned, by: -1)
        run.ends[.fail, default: 0] += 1
        for name in was.segments {
          bySegment[name, default: Tally()]
            .add(was.action, was.size ?? 0, isPinned: was.isPinned, by: -1)
          bySegment[name, default: Tally()].ends[.fail, default: 0] += 1
        }
      }
    }
    let report = builder.finished(at: ReportBuilderTests.start)
    run.expect(report.totals, "seed \(seed)")
    for segment in report.segments {
      (bySegment[segment.name] ?? Tally()).expect(segment.totals, "seed \(seed), \(segment.name)")
    }
  }

  private static func keep(_ count: Int, _ bytes: SavedBytes, in tally: inout Tally) {
    tally.ends[.keep, default: 0] += Int64(count)
    tally.saved += bytes.all
    tally.pinned += bytes.pinned
  }

  private static func segment(_ generator: inout SeededRandom) -> String {
    segments.randomElement(using: &generator) ?? ""
  }

  private static func item(_ number: Int, _ generator: inout SeededRandom) -> ItemResult {
    let action = ItemAction.allCases.randomElement(using: &generator) ?? .keep
    let names = segments.filter { _ in generator.happens(40) }
    var item = ReportBuilderTests.item("\(number)", action, segments: names)
    item.size = generator.happens(80) ? Int64.random(in: 0...1000, using: &generator) : nil
    item.isPinned = generator.happens(50)
    item.outcome =
      switch action {
      case .fetch: .added
      case .update: .updated
      case .revalidate, .keep: .unchanged
      case .remove: .removed
      case .defer: .deferred
      case .fail: .failed
      }
    return item
  }
}
