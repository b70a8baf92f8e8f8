import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import Testing

@testable import PrefetchStore

@Suite("An index of version 1")
struct MigrationTests {
  let place: TemporaryPlace

  init() throws {
    place = try TemporaryPlace()
    FileTree.makeFolder(place.cache)
    let old = Schema(applicationID: Schema.index.applicationID, steps: [Schema.index.steps[0]])
    let database = try Database(
      path: place.cache + "/index.sqlite",
      named: "index",
      access: .creating
    )
    try database.execute("PRAGMA journal_mode=WAL")
    try old.migrate(database, from: 0)
    try database.execute(
      """
      INSERT INTO items (url, id, state, size, headers, etag, last_modified, validated_at, \
      fresh_until, provider, origin, failure_code, failure_message) VALUES \
      ('https://a.example/1', 'one', 'pending', 0, x'', '"1"', NULL, 5, 6, 'shop', 'segment', \
      'stalled', 'too slow'), \
      ('https://a.example/2', 'two', 'pending', 0, x'', NULL, 'today', NULL, NULL, NULL, \
      'segment', NULL, NULL), \
      ('https://a.example/3', 'three', 'pending', 0, x'', NULL, NULL, NULL, NULL, NULL, \
      'on_demand', NULL, NULL);
      INSERT INTO segments (identity, name, item_count, state) VALUES \
      ('home', 'basics', 2, 'current'), ('work', 'basics', 1, 'current');
      INSERT INTO members (segment, item, position) VALUES (1, 1, 0), (2, 1, 0), (1, 2, 1);
      """
    )
    _ = try database.checkpoint()
    try database.setKeepsLogOnClose(false)
  }

  @Test("is brought up to date with everything in it")
  func everything() throws {
    let store = try DiskStore.openForWriting(
      cache: place.cache,
      clockStart: Instant(seconds: 4_000_000_000)
    )
    #expect(store.diagnostics.isEmpty)
    let inventory = try store.takeInventory()
    #expect(inventory.rows.map(\.item) == [1, 2, 3])
    #expect(inventory.segmentKeys == [.basics, .other])
    #expect((0..<3).map { inventory.holders(of: $0) } == [[0, 1], [0], []])
    #expect(inventory.rows.map(\.hasValidators) == [true, true, false])
    #expect(inventory.rows[0].freshUntil == 6)

    let record = try #require(try store.records([1])[0])
    #expect(record.id == "one")
    #expect(record.provider == "shop")
    #expect(record.validators == Validators(entityTag: "\"1\""))
    #expect(record.failure == Failure(.stalled, "too slow", isTransient: false))
    #expect(try store.records([2])[0]?.validators.lastModified == "today")

    let removed = try store.commit([.forget(.basics)])
    #expect(removed.map(\.url) == ["https://a.example/2"])
    let body = try store.stage("four")
    _ = try store.commit([.store(.cached("https://a.example/4"), body: body, joining: [])])
    #expect(try store.takeInventory().rows.map(\.item) == [1, 3, 4])
  }
}
