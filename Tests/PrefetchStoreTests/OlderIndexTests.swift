import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import Testing

@testable import PrefetchStore

@Suite("An index of an earlier version")
struct OlderIndexTests {
  let temporary: TemporaryCache

  init() throws {
    temporary = try TemporaryCache()
    try temporary.run { (store: DiskStore) throws in
      try store.put(["https://a.example/1": "one"], in: .basics)
    }
    for name in ["index.sqlite", "index.backup.sqlite"] {
      let database = try Database(
        path: temporary.cache + "/" + name,
        named: name,
        access: .writing
      )
      try database.execute("PRAGMA user_version=\(Schema.index.version - 1)")
      _ = try database.checkpoint()
      try database.setKeepsLogOnClose(false)
    }
  }

  @Test("An index of an earlier version is read as empty and not changed by readers")
  func reading() throws {
    let before = FileTree.listing(temporary.cache)
    let reader = try #require(try temporary.reader())
    #expect(reader.diagnostics.map(\.code) == ["store.older"])
    #expect(try reader.readInventory().count == 0)
    // A plan still sees that nothing pinned would be transferred.
    #expect(try reader.intactObject(SHA256.digest(of: "one")) == 3)
    #expect(FileTree.listing(temporary.cache) == before)
  }

  @Test(
    "An index of an earlier version is set aside with its copy, and its objects are found again"
  )
  func writing() throws {
    try temporary.run { (store: DiskStore) throws in
      #expect(store.diagnostics.map(\.code) == ["store.set-aside"])
      #expect(store.diagnostics.first?.message.contains("earlier version") == true)
      #expect(try store.readInventory().count == 0)
      #expect(try store.intactObject(SHA256.digest(of: "one")) == 3)
    }
    #expect(FileTree.exists(temporary.cache + "/index.sqlite.damaged-1"))
    try temporary.run { (store: DiskStore) throws in #expect(store.diagnostics.isEmpty) }
    #expect(try temporary.reader()?.intactObject(SHA256.digest(of: "one")) == 3)
  }
}
