import PrefetchCrypto
import PrefetchStore
import PrefetchTestSupport
import Testing

@testable import PrefetchCore

/// A mark lets runs skip a segment, and must be removed with anything it depends on.
@Suite("A quiet segment")
struct QuietTests {
  let temporary: TemporaryCache
  let store: DiskStore
  let mark = QuietMark(
    until: Instant(milliseconds: 9),
    rules: .max - 1,
    itemCount: 2,
    bytes: 6
  )

  init() throws {
    temporary = try TemporaryCache()
    store = try DiskStore.openForWriting(
      cache: temporary.cache,
      clockStart: Instant(seconds: 4_000_000_000)
    )
    try store.put(["https://a.example/1": "one", "https://a.example/2": "two"], in: .basics)
    try store.put(["https://a.example/3": "three"], in: .extras)
    for key in [SegmentKey.basics, .extras] {
      var record = SegmentRecord(key: key)
      record.state = .current
      record.quiet = mark
      _ = try store.commit([.segment(record, manifest: nil)])
    }
  }

  private var quiet: [SegmentKey] {
    get throws { try store.segments().filter { $0.quiet == mark }.map(\.key) }
  }

  @Test("A segment stays quiet while nothing happens to its items")
  func stays() throws {
    let item = try store.readInventory().rows[0].item
    _ = try store.commit([
      .confirm([
        Confirmation(
          item: item,
          validatedAt: Instant(milliseconds: 1),
          freshness: .alwaysRevalidate
        )
      ])
    ])
    var record = try #require(try store.record(url: "https://a.example/1"))
    record.mime = "text/html"
    _ = try store.commit([.store(record, body: nil, joining: [])])
    #expect(try quiet == [.basics, .extras])
  }

  enum Event: CaseIterable {
    case newBody
    case failure
    case pause
    case removal
    case departure
    case repair
  }

  @Test("A segment is no longer quiet after a change", arguments: Event.allCases)
  func ends(_ event: Event) throws {
    let url = "https://a.example/1"
    var record = try #require(try store.record(url: url))
    switch event {
    case .newBody: _ = try store.commit([.store(record, body: try store.stage("new"), joining: [])])
    case .failure:
      record.state = .failed
      _ = try store.commit([.store(record, body: nil, joining: [])])
    case .pause:
      record.state = .paused
      _ = try store.commit([.store(record, body: nil, joining: [.basics])])
    case .removal: _ = try store.remove(urls: [url])
    case .departure: _ = try store.leave(.basics, [url])
    case .repair:
      FileTree.remove(store.objectPath(SHA256.digest(of: "one")))
      try store.dropDamaged(store.verify().bad.map(\.digest))
    }
    #expect(try quiet == [.extras])
  }

  @Test("A segment is quiet when its mark follows the changes of a commit")
  func order() throws {
    var record = try #require(try store.segments().first)
    record.quiet = mark
    let body = try store.stage("new")
    _ = try store.commit([
      .store(.cached("https://a.example/1"), body: body, joining: [.basics]),
      .segment(record, manifest: nil),
    ])
    #expect(try quiet == [.basics, .extras])
    _ = try store.commit([
      .segment(record, manifest: nil),
      .store(.cached("https://a.example/1"), body: try store.stage("newer"), joining: [.basics]),
    ])
    #expect(try quiet == [.extras])
  }
}
