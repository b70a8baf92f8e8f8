import Glibc
import PrefetchCore
import PrefetchCrypto
import PrefetchStore
import Testing

@Suite("A reader")
struct ReaderTests {
  let temporary: TemporaryCache

  init() throws {
    temporary = try TemporaryCache()
  }

  @Test("A reader finds nothing where there is no cache, and creates none")
  func noCache() throws {
    #expect(try temporary.reader() == nil)
    FileTree.makeFolder(temporary.cache)
    #expect(try temporary.reader() == nil)
    #expect(FileTree.names(temporary.cache).isEmpty)
  }

  @Test("A reader changes nothing after a finished run, also in a read-only folder")
  func afterRun() throws {
    try temporary.run { try $0.put(["https://a.example/": "a"], in: .basics) }
    FileTree.setWritable(false, temporary.cache)
    let before = FileTree.listing(temporary.cache)
    do {
      let reader = try #require(try temporary.reader())
      #expect(try reader.records().map(\.digest) == [SHA256.digest(of: "a")])
      #expect(try reader.text(of: SHA256.digest(of: "a")) == "a")
      #expect(try reader.missing().isEmpty)
      #expect(try reader.verify().checked == 1)
      #expect(try reader.segmentsHolding(url: "https://a.example/") == [.basics])
      #expect(try reader.readInventory().positions(of: .basics) == [0])
      #expect(try reader.records(named: "id-https://a.example/").count == 1)
      #expect(FileTree.listing(temporary.cache) == before)
    }
    #expect(FileTree.listing(temporary.cache) == before)
  }

  @Test("A reader beside a writer sees committed rows and leaves no file")
  func duringWrite() throws {
    let store = try DiskStore.openForWriting(
      cache: temporary.cache,
      clockStart: Instant(seconds: 4_000_000_000)
    )
    try store.put(["https://a.example/1": "one"], in: .basics)
    let before = FileTree.listing(temporary.cache)
    #expect(before[temporary.cache + "/index.sqlite-wal"] != nil)
    do {
      let reader = try #require(try temporary.reader())
      #expect(try reader.records().map(\.url) == ["https://a.example/1"])
      try store.put(["https://a.example/2": "two"], in: .basics)
      #expect(try reader.readInventory().count == 2)
    }
    #expect(
      Set(FileTree.listing(temporary.cache).keys).subtracting(before.keys).allSatisfy {
        $0.contains("/objects/")
      }
    )
  }

  @Test("A reader delays the writer's checkpoint and sees its own snapshot")
  func delaysCheckpoint() throws {
    try temporary.run { try $0.put(["https://a.example/1": "one"], in: .basics) }
    let index = temporary.cache + "/index.sqlite"
    do {
      let reader = try #require(try temporary.reader())
      #expect(try reader.readInventory().count == 1)
      let before = FileTree.read(index)
      try temporary.run { try $0.put(["https://a.example/2": "two"], in: .basics) }
      #expect(FileTree.read(index) == before)
      #expect(FileTree.exists(index + "-wal"))
      #expect(try reader.readInventory().count == 1)
    }
    #expect(try temporary.reader()?.readInventory().count == 2)
    try temporary.run { _ in }
    #expect(!FileTree.exists(index + "-wal"))
    #expect(!FileTree.exists(index + "-shm"))
    #expect(try temporary.reader()?.readInventory().count == 2)
  }

  @Test(
    "A reader sees the rows of a killed writer, with and without shared memory",
    arguments: [true, false]
  )
  func afterKill(_ keepsSharedMemory: Bool) throws {
    let store = try DiskStore.openForWriting(
      cache: temporary.cache,
      clockStart: Instant(seconds: 4_000_000_000)
    )
    try store.put(["https://a.example/1": "one"], in: .basics)
    let copy = try TemporaryCache()
    FileTree.copy(temporary.cache, to: copy.cache)
    if !keepsSharedMemory {
      unsafe unlink(copy.cache + "/index.sqlite-shm")
    }
    FileTree.setWritable(false, copy.cache)
    let before = FileTree.listing(copy.cache)
    do {
      let reader = try #require(try copy.reader())
      #expect(try reader.records().map(\.url) == ["https://a.example/1"])
      #expect(FileTree.listing(copy.cache) == before)
    }
    #expect(FileTree.listing(copy.cache) == before)

    FileTree.setWritable(true, copy.cache)
    try copy.run { (store: DiskStore) throws in #expect(try store.readInventory().count == 1) }
    #expect(!FileTree.exists(copy.cache + "/index.sqlite-wal"))
    #expect(try copy.reader()?.readInventory().count == 1)
  }

  @Test("A reader refuses to commit and keeps bodies in memory")
  func refusesCommit() throws {
    try temporary.run { _ in }
    let before = FileTree.listing(temporary.cache)
    let reader = try #require(try temporary.reader())
    let body = try reader.stage(String(repeating: "manifest ", count: 20_000))
    #expect(try reader.withBytes(of: body) { $0.byteCount } == 180_000)
    let failure = #expect(throws: Failure.self) {
      try reader.commit([.store(.cached("https://a.example/"), body: body, joining: [])])
    }
    #expect(failure?.code == .permission)
    reader.discard(body)
    #expect(FileTree.listing(temporary.cache) == before)
  }
}
