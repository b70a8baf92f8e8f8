import PrefetchCore
import PrefetchCrypto
import PrefetchStore
import Testing

@Suite("Room in the cache")
struct RoomTests {
  let temporary: TemporaryCache
  let store: DiskStore

  init() throws {
    temporary = try TemporaryCache()
    store = try DiskStore.openForWriting(
      cache: temporary.cache,
      clockStart: Instant(seconds: 4_000_000_000)
    )
    try store.put(["https://a.example/1": "12345"], in: nil)
    try store.put(["https://a.example/2": "1234567890"], in: .basics)
  }

  private func digest(_ text: String) -> ContentDigest {
    SHA256.digest(of: text)
  }

  @Test("Used room is counted and stays correct while content changes")
  func used() throws {
    #expect(try store.usedBytes() == 15)
    try store.put(["https://a.example/3": "123", "https://a.example/4": "12345"], in: .extras)
    #expect(try store.usedBytes() == 18)
    try store.put(["https://a.example/3": "1234"], in: nil)
    #expect(try store.usedBytes() == 19)
    _ = try store.commit([.forget(.extras)])
    #expect(try store.usedBytes() == 15)
  }

  @Test("Manifests use room, once each")
  func manifests() throws {
    let segment = SegmentRecord(key: .basics)
    _ = try store.commit([.segment(segment, manifest: try store.stage("manifest"))])
    #expect(try store.usedBytes() == 23)
    _ = try store.commit([.segment(segment, manifest: try store.stage("a longer one"))])
    #expect(try store.usedBytes() == 27)
    _ = try store.commit([.segment(segment, manifest: try store.stage("1234567890"))])
    #expect(try store.usedBytes() == 15)
    let reader = try #require(
      try DiskStore.openForReading(cache: temporary.cache, clockStart: Instant(seconds: 9))
    )
    #expect(try reader.usedBytes() == 15)
  }

  @Test("Used room is counted again after another process has written")
  func others() throws {
    #expect(try store.usedBytes() == 15)
    let other = try DiskStore.openForWriting(
      cache: temporary.cache,
      clockStart: Instant(seconds: 9)
    )
    try other.put(["https://a.example/3": "123"], in: nil)
    #expect(try store.usedBytes() == 18)
  }

  @Test("A commit keeps to the size limit, also after another process has written")
  func limit() throws {
    let other = try DiskStore.openForWriting(
      cache: temporary.cache,
      clockStart: Instant(seconds: 9)
    )
    #expect(try store.usedBytes() == 15)
    try other.put(["https://a.example/3": "123"], in: nil)
    let record = ContentRecord(url: "https://a.example/4", id: "4")
    let change = StoreChange.store(record, body: try store.stage("abc"), joining: [])
    #expect(throws: Failure.self) { try store.commit([change], within: 20) }
    #expect(try store.record(url: record.url) == nil)
    #expect(try store.usedBytes() == 18)
    // The staged body can still be committed.
    _ = try store.commit([change], within: 21)
    #expect(try store.text(of: digest("abc")) == "abc")
    // A change that takes no room is always accepted.
    _ = try store.commit([.forget(.extras)], within: 1)
  }

  @Test("Room comes from unheld items, whose records are removed")
  func unheld() throws {
    let removed = try store.commit([.evict([digest("12345")], for: "me")])
    #expect(removed.map(\.url) == ["https://a.example/1"])
    #expect(removed.map(\.wasEvicted) == [true])
    #expect(try store.record(url: "https://a.example/1") == nil)
    #expect(throws: Failure.self) { try store.text(of: digest("12345")) }
    #expect(try store.usedBytes() == 10)
  }

  @Test("Room comes from bodies that segments hold, whose records stay")
  func held() throws {
    let removed = try store.commit(
      [.evict([digest("1234567890")], for: SegmentKey.basics.identity)]
    )
    #expect(removed.map(\.segments) == [[.basics]])
    let record = try #require(try store.record(url: "https://a.example/2"))
    #expect(record.digest == nil)
    #expect(record.state == .queued)
    #expect(try store.segmentsHolding(url: record.url) == [.basics])
    #expect(try store.usedBytes() == 5)
  }

  @Test("Room does not come from locked items or those of another configuration")
  func kept() throws {
    try store.lock(["https://a.example/1"], for: DiskStore.Guardian())
    let digests = [digest("12345"), digest("1234567890")]
    #expect(try store.commit([.evict(digests, for: "another")]).isEmpty)
    #expect(try store.usedBytes() == 15)
  }

  @Test("The last use of an unheld item is known for eviction")
  func ages() throws {
    store.lastUses = { ["https://a.example/1": Instant(seconds: 4_100_000_000)] }
    let stock = try store.readStock()
    #expect(stock.used == 15)
    #expect(stock.ages.count == 1)
    let age = try #require(stock.ages.first)
    #expect(stock.inventory.rows[age.key].digest == digest("12345"))
    #expect(age.value.lastUse == Instant(seconds: 4_100_000_000))
  }

  @Test("The consumption of an item since its storage is known for eviction")
  func consumed() throws {
    store.consumptions = { ["https://a.example/1": Instant(seconds: 4_100_000_000)] }
    let age = try #require(try store.readStock().ages.values.first)
    #expect(age.consumedAt == Instant(seconds: 4_100_000_000))
    store.consumptions = { ["https://a.example/1": Instant(milliseconds: -1)] }
    #expect(try store.readStock().ages.values.first?.consumedAt == nil)
  }

  @Test("Room comes from expired and unheld items")
  func expired() throws {
    var record = try #require(try store.record(url: "https://a.example/1"))
    record.expiresAt = Instant(seconds: 5)
    _ = try store.commit([.store(record, body: nil, joining: [])])
    #expect(try store.removeExpired().map(\.url) == ["https://a.example/1"])
    #expect(try store.removeExpired().isEmpty)
  }
}
