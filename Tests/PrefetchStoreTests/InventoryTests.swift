import PrefetchCrypto
import PrefetchStore
import PrefetchTestSupport
import Testing

@testable import PrefetchCore

/// Bulk queries and changes of any content store.
@Suite("A flat inventory")
struct InventoryTests {
  typealias Kind = ContentStoreContract.Kind

  let temporary: TemporaryCache

  init() throws {
    temporary = try TemporaryCache()
  }

  private func open(_ kind: Kind) throws -> any ContentStore {
    switch kind {
    case .memory: MemoryStore()
    case .disk:
      try DiskStore.openForWriting(
        cache: temporary.cache,
        clockStart: Instant(seconds: 4_000_000_000)
      )
    }
  }

  private func full(_ url: String) -> ContentRecord {
    var record = ContentRecord.cached(url)
    record.validators = Validators(
      entityTag: "\"tag\"",
      lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"
    )
    record.otherDigests = [.sha512: [UInt8](repeating: 5, count: 64), .md5: [UInt8](0..<16)]
    record.description = 0xfedc_ba98_7654_3210
    record.validatedAt = Instant(milliseconds: 7)
    record.freshness = .undeclared(until: .distantFuture)
    record.headers = HeaderBlock([HeaderField("Content-Type", "text/plain")])
    return record
  }

  @Test("A first sight is kept with its record, and leaves with it", arguments: Kind.allCases)
  func sights(_ kind: Kind) throws {
    let store = try open(kind)
    let urls = ["https://a.example/1", "https://a.example/2"]
    let sight = Sight(
      mark: "tag \"x\"",
      headMark: "tag \"y\"",
      seen: Instant(seconds: 9),
      restarts: 2
    )
    _ = try store.commit(
      urls.map { .store(ContentRecord(url: $0, id: $0), body: nil, joining: [.basics]) }
        + [.sighted(urls[0], Sight(mark: "old", seen: Instant(seconds: 1)))]
        + [.sighted(urls[0], sight), .sighted(urls[1], sight)]
    )
    let inventory = try store.readInventory()
    let items = try urls.map { url in
      let position = try #require(inventory.position(of: url))
      return inventory.rows[position].item
    }
    #expect(inventory.sights == [items[0]: sight, items[1]: sight])
    #expect(try store.readInventory(of: [urls[1]]).sights == [items[1]: sight])
    _ = try store.commit([.leave(.basics, items: [items[0]])])
    #expect(try store.readInventory().sights == [items[1]: sight])
    // The URL that comes back has not been seen.
    let record = ContentRecord(url: urls[0], id: urls[0])
    _ = try store.commit([.store(record, body: nil, joining: [.basics])])
    #expect(try store.readInventory().sights == [items[1]: sight])
  }

  @Test("An inventory has all facts for planning of every record", arguments: Kind.allCases)
  func rows(_ kind: Kind) throws {
    let store = try open(kind)
    let body = try store.stage("hello")
    _ = try store.commit([
      .store(full("https://a.example/full"), body: body, joining: [.other, .basics]),
      .store(.init(url: "https://a.example/bare", id: "b"), body: nil, joining: [.basics]),
      .store(.init(url: "https://a.example/alone", id: "a"), body: nil, joining: []),
    ])
    let inventory = try store.readInventory()
    #expect(inventory.count == 3)
    #expect(inventory.segmentKeys == [.basics, .other])

    let first = try #require(inventory.position(of: "https://a.example/full"))
    var record = full("https://a.example/full")
    record.digest = body.digest
    record.size = 5
    var expected = Inventory.Row(record, item: inventory.rows[first].item)
    expected.holders = inventory.rows[first].holders
    expected.strong = 1
    #expect(inventory.rows[first] == expected)
    #expect(inventory.strongDigests(of: first) == record.otherDigests)
    #expect(inventory.holders(of: first) == [0, 1])
    #expect(inventory.rows[first].hasValidators)
    #expect(try store.stored([expected.item]).map { $0?.record } == [record])

    let second = try #require(inventory.position(of: "https://a.example/bare"))
    #expect(!inventory.rows[second].hasBody)
    #expect(!inventory.rows[second].hasValidators)
    #expect(inventory.rows[second].freshUntil == Inventory.Row.never)
    #expect(inventory.holders(of: second) == [0])
    let third = try #require(inventory.position(of: "https://a.example/alone"))
    #expect(inventory.holders(of: third) == [])
    #expect(inventory.positions(of: .basics).map(Int.init).sorted() == [first, second].sorted())
    #expect(try store.missingObjects(of: inventory) == [])
    #expect(try store.stored([-1]).map { $0?.record } == [nil])
  }

  @Test("An inventory has the facts of a confirmation", arguments: Kind.allCases)
  func confirmations(_ kind: Kind) throws {
    let store = try open(kind)
    try store.put(["https://a.example/1": "one", "https://a.example/2": "two"], in: .basics)
    let before = try store.readInventory()
    let item = before.rows[0].item
    let confirmation = Confirmation(
      item: item,
      validatedAt: Instant(milliseconds: 40),
      freshness: .declared(until: Instant(milliseconds: 50))
    )
    _ = try store.commit([
      .confirm([
        confirmation,
        Confirmation(
          item: 1 << 40,
          validatedAt: Instant(milliseconds: 1),
          freshness: .alwaysRevalidate
        ),
      ])
    ])
    let after = try store.readInventory()
    #expect(after.rows[0].validatedAt == 40)
    #expect(after.rows[0].freshUntil == 50)
    #expect(after.rows[1] == before.rows[1])
    #expect(
      try store.stored([item])[0]?.record?.freshness == .declared(until: Instant(milliseconds: 50))
    )
  }

  @Test("Items join and leave segments by their numbers", arguments: Kind.allCases)
  func membership(_ kind: Kind) throws {
    let store = try open(kind)
    try store.put(["https://a.example/1": "one", "https://a.example/2": "two"], in: .basics)
    let items = try store.readInventory().rows.map(\.item)
    _ = try store.commit([.join(.extras, items: items + [99])])
    #expect(try store.readInventory().holderSets.contains([0, 1]))
    #expect(try store.commit([.leave(.basics, items: items)]).isEmpty)

    let removed = try store.commit([.leave(.extras, items: [items[1], 99])])
    #expect(removed.map(\.url) == ["https://a.example/2"])
    #expect(removed.map(\.segments) == [[.extras]])
    #expect(removed.map(\.hadBody) == [true])
    #expect(try store.readInventory().rows.map(\.item) == [items[0]])
    #expect(throws: Failure.self) { try store.text(of: SHA256.digest(of: "two")) }
  }

  @Test("The number of a removed record is not used again", arguments: Kind.allCases)
  func numbers(_ kind: Kind) throws {
    let store = try open(kind)
    try store.put(["https://a.example/1": "one"], in: .basics)
    let first = try store.readInventory().rows.map(\.item)
    _ = try store.commit([.leave(.basics, items: first)])
    try store.put(["https://a.example/2": "two"], in: .basics)
    #expect(try store.readInventory().rows.map(\.item) != first)
  }

  @Test("An item without an id gets one made from its URL")
  func identifier() throws {
    let store = try DiskStore.openForWriting(
      cache: temporary.cache,
      clockStart: Instant(seconds: 4_000_000_000)
    )
    let url = "https://a.example/"
    let id = String(SHA256.digest(of: url).hexadecimal.prefix(12))
    _ = try store.commit([
      .store(ContentRecord(url: url, id: ""), body: nil, joining: []),
      .store(ContentRecord(url: "https://b.example/", id: id), body: nil, joining: []),
      .store(ContentRecord(url: "https://c.example/", id: "name"), body: nil, joining: []),
    ])
    let item = try store.readInventory().rows[0].item
    // Records read by number omit ids that are derived from the URL.
    #expect(try store.stored([item])[0]?.record?.id == "")
    #expect(try store.records(named: id).map(\.url) == [url, "https://b.example/"])
    #expect(try store.records(named: id).map(\.id) == [id, id])
    #expect(try store.records(named: "name").map(\.url) == ["https://c.example/"])
    #expect(try store.records(named: url).map(\.id) == [id])
    #expect(try store.remove(urls: [url]).map(\.id) == [id])
  }

  @Test("Lost objects are found in an inventory, and searched only where something changed")
  func lostObjects() throws {
    try temporary.run { (store: DiskStore) throws in
      try store.put(["https://a.example/1": "one", "https://a.example/2": "two"], in: .basics)
    }
    try temporary.run { (store: DiskStore) throws in
      _ = try store.missingObjects(of: try store.readInventory())
    }
    try temporary.run { (store: DiskStore) throws in
      #expect(try !store.hasUnseenChanges())
      FileTree.remove(store.objectPath(SHA256.digest(of: "two")))
      #expect(try store.hasUnseenChanges())
      let lost = try store.missingObjects(of: try store.readInventory())
      #expect(lost == [SHA256.digest(of: "two")])
    }
  }
}
