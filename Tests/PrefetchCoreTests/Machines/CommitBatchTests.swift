import PrefetchCore
import Testing

@testable import PrefetchCore

/// The changes that become durable together, by themselves.
@Suite("Commit batch")
struct CommitBatchTests {
  private static let key = SegmentKey(identity: "me", name: "s")

  private static func digest(_ number: Int) -> ContentDigest {
    ContentDigest(first: UInt64(number + 1), second: 1, third: 1, fourth: 1)
  }

  private static func confirmation(_ item: Int64) -> PrefetchCore.Confirmation {
    Confirmation(
      item: item,
      validatedAt: Instant(milliseconds: 0),
      freshness: .undeclared(until: .distantFuture)
    )
  }

  private static func store(_ url: String) -> StoreChange {
    .store(ContentRecord(url: url, id: url), body: nil, joining: [key])
  }

  private static func words(_ changes: [StoreChange]) -> [String] {
    changes.map { change in
      switch change {
      case .store(let record, _, _, _): "store \(record.url)"
      case .confirm(let all): "confirm \(all.map(\.item))"
      case .join(let key, let items): "join \(key.name) \(items)"
      case .evict(let digests, _, _): "evict \(digests.count)"
      case .leave(let key, let items): "leave \(key.name) \(items)"
      case .arrived, .joinNew, .segment, .documents, .forget, .dated, .sighted: "else"
      }
    }
  }

  @Test("Evictions are written after new bodies, and memberships after their records")
  func order() {
    var batch = CommitBatch()
    batch.add(.evict([Self.digest(1)], for: "me"), now: .zero)
    batch.join(Self.key, items: [4], now: .zero)
    batch.add(item: 1, Self.store("a"), now: .zero)
    batch.confirm(item: 2, Self.confirmation(7), now: .zero)
    batch.join(Self.key, items: [5], now: .zero)
    let changes = Self.words(batch.beginCommit())
    #expect(changes == ["store a", "confirm [7]", "join s [4, 5]", "evict 1"])
    #expect(batch.isEmpty && batch.isWriting)
    #expect(batch.endCommit() == [1, 2])
    #expect(!batch.isWriting)
  }

  struct Due: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var isWriting = false
    var count = 1
    var isHurried = false
    var after: Duration = .zero
    var isIdle = false
    var isDue: Bool
  }

  @Test(
    "A batch is due by its size, its age, or other waiters",
    arguments: [
      Due(testDescription: "not at once", isDue: false),
      Due(testDescription: "where nothing else is in flight", isIdle: true, isDue: true),
      Due(testDescription: "after its patience", after: .seconds(1), isDue: true),
      Due(testDescription: "not before that", after: .milliseconds(999), isDue: false),
      Due(
        testDescription: "sooner where others wait",
        isHurried: true,
        after: .milliseconds(100),
        isDue: true
      ),
      Due(testDescription: "when it is full of items", count: CommitBatch.limit, isDue: true),
      Due(testDescription: "not while one is written", isWriting: true, isIdle: true, isDue: false),
      Due(testDescription: "not when it is empty", count: 0, isIdle: true, isDue: false),
    ]
  )
  func due(_ row: Due) {
    var batch = CommitBatch()
    if row.isWriting {
      batch.add(Self.store("before"), now: .zero)
      _ = batch.beginCommit()
    }
    for item in 0..<row.count {
      batch.confirm(item: item, Self.confirmation(Int64(item)), now: .zero)
    }
    if row.isHurried { batch.commitSoon() }
    #expect(batch.isDue(now: row.after, isIdle: row.isIdle) == row.isDue)
  }

  @Test("A refused batch precedes all later changes, and its evictions are withdrawn")
  func refused() {
    var batch = CommitBatch()
    batch.add(item: 1, Self.store("a"), now: .zero)
    batch.add(.evict([Self.digest(1)], for: "me"), now: .zero)
    _ = batch.beginCommit()
    batch.add(item: 2, Self.store("b"), now: .zero)
    let kept = batch.rollBack()
    #expect(kept == [Self.digest(1)])
    #expect(Self.words(batch.beginCommit()) == ["store a", "store b"])
    #expect(batch.endCommit() == [1, 2])
  }

  @Test("Entries without room are removed by their positions, and the rest stays in order")
  func removal() {
    var batch = CommitBatch()
    for (item, url) in ["a", "b", "c"].enumerated() {
      batch.add(item: item, Self.store(url), now: .zero)
    }
    let removed = batch.remove(at: [2, 0])
    #expect(removed.compactMap(\.item) == [2, 0])
    #expect(Self.words(batch.beginCommit()) == ["store b"])
  }

  @Test("A dropped batch returns its items")
  func dropping() {
    var batch = CommitBatch()
    batch.add(item: 3, Self.store("a"), now: .zero)
    batch.confirm(item: 4, Self.confirmation(1), now: .zero)
    #expect(batch.removeAll().items == [3, 4])
    #expect(batch.isEmpty && batch.due == nil)
  }

  @Test("A full batch does not wait")
  func full() {
    var bodies = CommitBatch()
    for item in 0..<CommitBatch.changeLimit {
      #expect(!bodies.isDue(now: .zero, isIdle: false))
      bodies.add(item: item, Self.store("\(item)"), now: .zero)
    }
    #expect(bodies.isDue(now: .zero, isIdle: false))

    var times = CommitBatch()
    let confirmation = Confirmation(
      item: 5,
      validatedAt: Instant(seconds: 1),
      freshness: .alwaysRevalidate
    )
    for item in 0..<CommitBatch.limit {
      #expect(!times.isDue(now: .zero, isIdle: false))
      times.confirm(item: item, confirmation, now: .zero)
    }
    #expect(times.isDue(now: .zero, isIdle: false))
  }
}
