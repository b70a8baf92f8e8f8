import PrefetchCore
import PrefetchCrypto
import PrefetchStore
import Testing

@Suite("A listing")
struct ListingTests {
  let temporary: TemporaryCache
  let store: DiskStore

  init() throws {
    temporary = try TemporaryCache()
    store = try DiskStore.openForWriting(
      cache: temporary.cache,
      clockStart: Instant(seconds: 4_000_000_000)
    )
    var second = ContentRecord.cached("https://a.example/dir/a.txt?x=/z")
    second.provider = "shop"
    second.type = "video"
    second.fetchedAt = Instant(milliseconds: 5)
    second.validatedAt = Instant(milliseconds: 1)
    second.freshness = .declared(until: Instant(milliseconds: 9))
    second.id = "0"
    var third = ContentRecord(url: "https://c.example/c", id: "")
    third.state = .failed
    _ = try store.commit([
      .store(
        .cached("https://b.example/b.txt"),
        body: try store.stage("longest"),
        joining: [.extras]
      ),
      .store(second, body: try store.stage("mid"), joining: [.extras, .basics]),
      .store(third, body: nil, joining: []),
    ])
  }

  private func hosts(_ sorting: [ItemSorting], uses: [String: Instant] = [:]) throws -> String {
    var hosts = ""
    try store.forEachItem(sorted: sorting, uses: uses) { item in
      hosts += String(item.url.dropFirst(8).prefix(1))
      return true
    }
    return hosts
  }

  @Test("A listing is ordered by the bytes of the URLs and has the segments of each item")
  func plain() throws {
    var items: [StoredItem] = []
    try store.forEachItem { item in
      items.append(item)
      return items.count < 2
    }
    #expect(items.map(\.url) == ["https://a.example/dir/a.txt?x=/z", "https://b.example/b.txt"])
    #expect(items.map(\.segments) == [["basics", "extras"], ["extras"]])
    #expect(items.map(\.size) == [3, 7])
    #expect(items.map(\.isLocked) == [false, false])
  }

  @Test(
    "A listing has the requested order",
    arguments: [
      (ItemOrder.name, "abc", "cba"), (.url, "abc", "cba"), (.provider, "bca", "abc"),
      (.segment, "cab", "bac"), (.state, "abc", "cab"), (.type, "bca", "abc"),
      (.size, "cab", "bac"), (.fetched, "bca", "abc"), (.validated, "bca", "abc"),
      (.expires, "bca", "abc"), (.used, "abc", "cab"), (.id, "acb", "bca"),
    ]
  )
  func sorted(_ order: ItemOrder, _ ascending: String, _ descending: String) throws {
    let uses = ["https://c.example/c": Instant(milliseconds: 3)]
    // The derived id of the third item is digits, which sort between `0` and `id-…`.
    #expect(try hosts([ItemSorting(order)], uses: uses) == ascending)
    #expect(try hosts([ItemSorting(order, isDescending: true)], uses: uses) == descending)
  }

  @Test("A listing applies a second order where the first is equal")
  func twice() throws {
    let sorting = [ItemSorting(.provider), ItemSorting(.url, isDescending: true)]
    #expect(try hosts(sorting) == "cba")
  }

  @Test("A listing can read whole records", arguments: [[], [ItemSorting(.size)]])
  func records(_ sorting: [ItemSorting]) throws {
    var urls: [String?] = []
    try store.forEachItem(sorted: sorting) { item throws(Failure) in
      urls.append(try store.record(item: item.item)?.url)
      #expect(urls.last == item.url)
      return true
    }
    #expect(urls.count == 3)
  }

  @Test("A listing counts each body once in its total and once in each segment")
  func totals() throws {
    try store.put(["https://d.example/": "mid"], in: .basics)
    let summary = try store.summary()
    #expect(summary.totals == StoreTotals(items: 4, objects: 2, bytes: 10))
    #expect(summary.segments[.basics]?.items == 2)
    #expect(summary.segments[.basics]?.bytes == 6)
    #expect(summary.segments[.extras]?.bytes == 10)
  }

  @Test("A listing works for a reader too")
  func reader() throws {
    try store.close()
    let reader = try #require(try temporary.reader())
    var count = 0
    for order in ItemOrder.allCases {
      try reader.forEachItem(sorted: [ItemSorting(order)]) { _ in
        count += 1
        return true
      }
    }
    #expect(count == 3 * ItemOrder.allCases.count)
  }
}
