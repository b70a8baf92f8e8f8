import PrefetchTestSupport
import Testing

@testable import PrefetchCore
@testable import PrefetchStore

@Suite("The facts of an item")
struct ItemFactsTests {
  private static let full = {
    var record = ContentRecord(url: "https://a.example/", id: "one")
    record.provider = "shop"
    record.type = "image"
    record.state = .failed
    record.digest = ContentDigest(first: 1, second: 2, third: .max, fourth: 4)
    record.otherDigests = [.md5: [UInt8](0..<16), .sha512: [UInt8](repeating: 5, count: 64)]
    record.description = .max - 1
    record.size = 1 << 40
    record.mime = "text/plain"
    record.status = 200
    record.headers = HeaderBlock([
      HeaderField("Content-Type", "text/html"), HeaderField("X-Odd", ""),
      HeaderField("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ])
    record.validators = Validators(
      entityTag: "W/\"1\"",
      lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"
    )
    record.finalURL = "https://b.example/"
    record.fetchedAt = Instant(milliseconds: -1)
    record.validatedAt = Instant(milliseconds: 2)
    record.freshness = .declared(until: Instant(milliseconds: 3))
    record.hops = [
      HopTerms(url: "https://c.example/", freshness: .alwaysRevalidate, mustRevalidate: true)
    ]
    record.lifetime = .atMost(.seconds(5))
    record.failure = Failure(.stalled, "too slow", isTransient: true)
    return record
  }()

  private static let bare = ContentRecord(url: "https://a.example/", id: "one")

  private func facts(of record: ContentRecord) -> [UInt8] {
    var facts: [UInt8] = []
    RecordRow.append(record, to: &facts)
    return facts
  }

  private func read(_ facts: [UInt8]) -> ContentRecord? {
    var record = Self.bare
    let span = facts.span
    return RecordRow.read(unsafe span.bytes, into: &record) ? record : nil
  }

  @Test("The facts of an item are read as they were written", arguments: [full, bare])
  func roundTrip(_ record: ContentRecord) {
    #expect(read(facts(of: record)) == record)
  }

  @Test(
    "The facts of an item equal those of the whole record for a request",
    arguments: [full, bare]
  )
  func factQueries(_ record: ContentRecord) throws {
    var unfailed = record
    unfailed.failure = nil
    var direct = unfailed
    (direct.finalURL, direct.hops) = (nil, [])
    for record in [record, unfailed, direct] {
      let facts = facts(of: record)
      let span = facts.span
      #expect(unsafe RecordRow.suitsSimpleItem(span.bytes) == Shared(record).suitsSimpleItem)
      let read = unsafe RecordRow.confirmable(span.bytes, validatedAt: record.validatedAt)
      let known = try #require(read)
      #expect(known.headers == record.headers)
      #expect(known.validators == record.validators)
      #expect(known.receivedAt == record.validatedAt ?? record.fetchedAt)
    }
  }

  @Test("The facts of an item are read with an empty tag and in every state")
  func corners() {
    for state in ItemState.allCases {
      for tag in ["", nil] {
        for freshness: Freshness in [.alwaysRevalidate, .undeclared(until: .distantFuture)] {
          var record = Self.bare
          record.state = state
          record.validators.entityTag = tag
          record.freshness = freshness
          #expect(read(facts(of: record)) == record)
        }
      }
    }
  }

  @Test("Facts that end too early are recognised wherever they end before the headers")
  func truncated() {
    var record = Self.full
    record.headers = HeaderBlock()
    record.mime = nil
    record.validators.lastModified = nil
    let whole = facts(of: record)
    for count in whole.indices { #expect(read(Array(whole[..<count])) == nil, "\(count)") }
  }

  @Test("Damaged facts are refused, or read as facts of at most the same size")
  func damaged() {
    let samples = [facts(of: Self.full), facts(of: Self.bare)]
    for seed in 0..<Campaign.documents(usually: 2_000) {
      var mutator = Mutator(seed: UInt64(seed), samples: samples)
      let bytes = mutator.next()
      let span = bytes.span
      guard let head = unsafe ItemHead(span.bytes) else { continue }
      #expect(head.end <= bytes.count && head.otherDigests.upperBound == head.end, "\(seed)")
      if let tag = head.tag { #expect(tag.upperBound <= head.end, "\(seed)") }
      let isReadable = unsafe RecordRow.isReadable(span.bytes, after: head)
      #expect((read(bytes) != nil) == isReadable, "\(seed)")
    }
  }

  @Test("Damaged details of an item that no run decodes are found and repaired all the same")
  func damagedDetails() throws {
    let temporary = try TemporaryCache()
    try temporary.run { try $0.put(["https://a.example/1": "one"], in: .basics) }
    FileTree.remove(temporary.cache + "/index.backup.sqlite")
    let index = temporary.cache + "/index.sqlite"
    func damage() throws {
      let database = try Database(path: index, named: "index", access: .writing)
      try database.execute("UPDATE items SET facts=substr(facts, 1, length(facts) - 1)")
      try database.checkpoint()
      try database.setKeepsLogOnClose(false)
    }
    for count: (DiskStore) throws -> Int in [
      { try $0.readInventory().count }, { Int(try $0.verify().checked) },
    ] {
      try damage()
      let reader = try #require(try temporary.reader())
      for query: (DiskStore) throws -> Void in [
        { _ = try $0.readInventory() }, { _ = try $0.verify() }, { _ = try $0.record(item: 1) },
      ] {
        let failure = #expect(throws: Failure.self) { try query(reader) }
        #expect(failure?.code == .storeDamaged)
      }
      try temporary.run { (store: DiskStore) throws in
        #expect(try count(store) == 0)
        #expect(store.diagnostics.map(\.code) == ["store.set-aside"])
        try store.put(["https://a.example/1": "one"], in: .basics)
      }
      FileTree.remove(temporary.cache + "/index.backup.sqlite")
    }
  }

  @Test(
    "Invalid facts of a row are damage of the index",
    arguments: [
      "x''", "substr(facts, 1, 79)",
      "cast(substr(facts, 1, 78) || x'ff' || substr(facts, 80) AS BLOB)",
    ]
  )
  func damagedRow(_ facts: String) throws {
    let temporary = try TemporaryCache()
    try temporary.run { try $0.put(["https://a.example/1": "one"], in: .basics) }
    FileTree.remove(temporary.cache + "/index.backup.sqlite")
    let index = temporary.cache + "/index.sqlite"
    do {
      let database = try Database(path: index, named: "index", access: .writing)
      try database.execute("UPDATE items SET facts=\(facts)")
      _ = try database.checkpoint()
      try database.setKeepsLogOnClose(false)
    }
    let reader = try #require(try temporary.reader())
    for query: (DiskStore) throws -> Void in [
      { _ = try $0.readInventory() }, { _ = try $0.record(item: 1) }, { _ = try $0.summary() },
      { _ = try $0.record(url: "https://a.example/1") }, { try $0.forEachItem { _ in true } },
    ] {
      let failure = #expect(throws: Failure.self) { try query(reader) }
      #expect(failure?.code == .storeDamaged)
    }
    #expect(try reader.stored([1]).map { $0?.record } == [nil])
    #expect(try reader.stored([1]).map { $0?.confirmable == nil } == [true])
  }

  @Test("The times of a removed item stay only until the index is copied")
  func timesOfNothing() throws {
    let temporary = try TemporaryCache()
    let missing = Confirmation(
      item: 1 << 40,
      validatedAt: Instant(milliseconds: 1),
      freshness: .alwaysRevalidate
    )
    try temporary.run { (store: DiskStore) throws in
      try store.put(["https://a.example/1": "one"], in: .basics)
      let item = try store.readInventory().rows[0].item
      let kept = Confirmation(
        item: item,
        validatedAt: missing.validatedAt,
        freshness: .alwaysRevalidate
      )
      _ = try store.commit([.confirm([missing, kept])])
      #expect(try store.readInventory().rows.map(\.validatedAt) == [1])
    }
    let reader = try #require(try temporary.reader())
    #expect(try reader.readInventory().rows.map(\.validatedAt) == [1])
    #expect(try reader.database().number("SELECT count(*) FROM item_times") == 1)
  }
}
