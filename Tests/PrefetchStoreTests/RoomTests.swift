import PrefetchCore
import PrefetchCrypto
import PrefetchStore
import Testing

@Suite("Room in the cache")
struct RoomTests {
  let place: TemporaryPlace
  let store: DiskStore

  init() throws {
    place = try TemporaryPlace()
    store = try DiskStore.openForWriting(
      cache: place.cache,
      clockStart: Instant(seconds: 4_000_000_000)
    )
    try store.put(["https://a.example/1": "12345"], in: nil)
    try store.put(["https://a.example/2": "1234567890"], in: .basics)
  }

  private func rules(limit: Int64) -> Eviction.Rules {
    var rules = Eviction.Rules()
    rules.limit = limit
    return rules
  }

  @Test("is counted, and stays counted while content comes and goes")
  func usage() throws {
    #expect(try store.usage() == 15)
    try store.put(["https://a.example/3": "123", "https://a.example/4": "12345"], in: .extras)
    #expect(try store.usage() == 18)
    try store.put(["https://a.example/3": "1234"], in: nil)
    #expect(try store.usage() == 19)
    _ = try store.commit([.forget(.extras)])
    #expect(try store.usage() == 15)
    let segment = SegmentRecord(key: .basics)
    _ = try store.commit([.segment(segment, manifest: try store.stage("manifest"))])
    _ = try store.commit([.segment(segment, manifest: nil)])
    #expect(try store.usage() == store.totals().bytes)
  }

  @Test("is there while the limit is not met")
  func enough() throws {
    let room = try store.makeRoom(for: 5, of: .segment(priority: 1), rules: rules(limit: 20))
    #expect(room.standing == .enough && room.removed.isEmpty && room.remaining == 5)
  }

  @Test("is made by dropping what nobody holds, records and all")
  func unheld() throws {
    let room = try store.makeRoom(for: 6, of: .segment(priority: nil), rules: rules(limit: 20))
    #expect(room.standing == .enough)
    #expect(room.removed.map(\.url) == ["https://a.example/1"])
    #expect(try store.record(url: "https://a.example/1") == nil)
    #expect(throws: Failure.self) { try store.text(of: SHA256.digest(of: "12345")) }
    #expect(try store.usage() == 10)
  }

  @Test("is made of less important segments, whose records stay")
  func held() throws {
    let room = try store.makeRoom(for: 20, of: .segment(priority: 1), rules: rules(limit: 20))
    #expect(room.standing == .enough)
    #expect(room.removed.map(\.segments) == [[], [.basics]])
    let record = try #require(try store.record(url: "https://a.example/2"))
    #expect(record.digest == nil)
    #expect(record.state == .pending)
    #expect(try store.segmentsHolding(url: record.url) == [.basics])
    #expect(try store.usage() == 0)
  }

  @Test("is not made in vain, and not without leave")
  func impossible() throws {
    let limit = rules(limit: 20)
    let equal = try store.makeRoom(for: 20, of: .segment(priority: nil), rules: limit)
    #expect(equal.standing == .cacheFull)
    #expect(equal.removed.isEmpty)
    var manual = limit
    manual.isAutomatic = false
    let asked = try store.makeRoom(for: 6, of: .segment(priority: 1), rules: manual)
    #expect(asked.standing == .cacheFull)
    var disk = Eviction.Rules()
    disk.minimumFree = .max / 2
    let room = try store.makeRoom(for: 1, of: .segment(priority: 1), rules: disk)
    #expect(room.standing == .diskTooFull)
    #expect(try store.usage() == 15)
  }

  @Test("is not made of locked items, and of recently used ones last")
  func order() throws {
    try store.put(["https://a.example/3": "abcde", "https://a.example/4": "fghij"], in: nil)
    try store.setLock(ItemLock(), urls: ["https://a.example/3"])
    store.lastUses = { ["https://a.example/1": Instant(seconds: 9)] }
    let room = try store.applyLimits(rules(limit: 11))
    #expect(
      room.removed.map(\.url) == [
        "https://a.example/4", "https://a.example/1", "https://a.example/2",
      ]
    )
    #expect(try store.usage() == 5)
    #expect(try store.applyLimits(rules(limit: 1)).standing == .cacheFull)
  }

  @Test("on the disk is made of nothing that a segment holds")
  func fullDisk() throws {
    var rules = Eviction.Rules()
    rules.minimumFree = .max / 2
    let room = try store.applyLimits(rules)
    #expect(room.standing == .diskTooFull)
    #expect(room.removed.map(\.url) == ["https://a.example/1"])
  }

  @Test("is taken back from what has expired and nobody holds")
  func expired() throws {
    var record = try #require(try store.record(url: "https://a.example/1"))
    record.expiresAt = Instant(seconds: 5)
    _ = try store.commit([.store(record, body: nil, joining: [])])
    #expect(try store.removeExpired().map(\.url) == ["https://a.example/1"])
    #expect(try store.removeExpired().isEmpty)
  }
}
