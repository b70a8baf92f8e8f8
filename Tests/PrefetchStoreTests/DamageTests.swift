import Glibc
import PrefetchCore
import PrefetchCrypto
import Testing

@testable import PrefetchStore

@Suite("A damaged cache")
struct DamageTests {
  let temporary: TemporaryCache

  init() throws {
    temporary = try TemporaryCache()
    try temporary.run { (store: DiskStore) throws in
      try store.put(["https://a.example/1": "one", "https://a.example/2": "two"], in: .basics)
    }
  }

  private func path(_ text: String) -> String {
    let name = SHA256.digest(of: text).hexadecimal
    return "\(temporary.cache)/objects/sha256/\(name.prefix(2))/\(name)"
  }

  enum Damage: CaseIterable {
    case flippedBit
    case truncated
    case missing
    case folder
    case symbolicLink
    case pipe

    var problem: DamagedObject.Problem {
      switch self {
      case .flippedBit: .digest
      case .truncated: .size
      case .missing: .missing
      case .folder, .symbolicLink, .pipe: .notFile
      }
    }

    func inflict(on path: String) {
      switch self {
      case .flippedBit: FileTree.write(Array("onE".utf8), to: path)
      case .truncated: FileTree.write(Array("on".utf8), to: path)
      case .missing: unsafe unlink(path)
      case .folder:
        unsafe unlink(path)
        FileTree.makeFolder(path)
      case .symbolicLink:
        unsafe unlink(path)
        unsafe symlink("/etc/passwd", path)
      case .pipe:
        unsafe unlink(path)
        unsafe mkfifo(path, 0o644)
      }
    }
  }

  @Test("A damaged body is found by verification and repaired", arguments: Damage.allCases)
  func verification(_ damage: Damage) throws {
    damage.inflict(on: path("one"))
    let expected = DamagedObject(
      digest: SHA256.digest(of: "one"),
      path: path("one"),
      urls: ["https://a.example/1"],
      problem: damage.problem
    )
    let before = FileTree.listing(temporary.cache)
    do {
      let reader = try #require(try temporary.reader())
      let report = try reader.verify()
      #expect(report.checked == 2)
      #expect(report.bad == [expected])
    }
    #expect(FileTree.listing(temporary.cache) == before)

    let store = try DiskStore.openForWriting(
      cache: temporary.cache,
      clockStart: Instant(seconds: 4_000_000_000)
    )
    try store.dropDamaged([expected.digest])
    let record = try #require(try store.record(url: "https://a.example/1"))
    #expect(record.digest == nil)
    #expect(record.state == .queued)
    #expect(record.validators.isEmpty)
    #expect(!FileTree.exists(path("one")))
    #expect(try store.verify().bad.isEmpty)
    try store.put(["https://a.example/1": "one"], in: nil)
    #expect(try store.verify().bad.isEmpty)
    #expect(try store.verify().checked == 2)
    try store.finishRun()
  }

  @Test("An object that the index does not name is an orphan and not damage")
  func orphans() throws {
    FileTree.write(
      Array("x".utf8),
      to: String(path("one").dropLast(64)) + String(path("one").suffix(64).reversed())
    )
    let name = SHA256.digest(of: "three").hexadecimal
    FileTree.makeFolder("\(temporary.cache)/objects/sha256/\(name.prefix(2))")
    FileTree.write(Array("x".utf8), to: path("three"))
    let report = try #require(try temporary.reader()).verify()
    #expect(report.bad.isEmpty)
    #expect(report.orphans == 1)
  }

  @Test(
    "An unusable index without a copy is set aside by a writer and refused by a reader",
    arguments: ["", "not a database, but long enough to be asked what it is", "deleted"]
  )
  func unusableIndex(_ content: String) throws {
    let index = temporary.cache + "/index.sqlite"
    FileTree.remove(temporary.cache + "/index.backup.sqlite")
    if content == "deleted" {
      unsafe unlink(index)
    } else {
      FileTree.write(Array(content.utf8), to: index)
    }
    let before = FileTree.listing(temporary.cache)
    let failure = #expect(throws: Failure.self) { try temporary.reader() }
    #expect(failure?.code == .storeDamaged)
    #expect(failure?.message.contains(index) == true)
    #expect(FileTree.listing(temporary.cache) == before)

    try temporary.run(at: Instant(seconds: 0)) { (store: DiskStore) throws in
      #expect(store.diagnostics.map(\.code) == (content == "deleted" ? [] : ["store.set-aside"]))
      #expect(try store.readInventory().count == 0)
      // An object that a manifest pins is still stored, and is adopted instead of fetched.
      #expect(try store.intactObject(SHA256.digest(of: "one")) == 3)
      var record = ContentRecord.cached("https://a.example/1")
      record.digest = SHA256.digest(of: "one")
      record.size = 3
      _ = try store.commit([.store(record, body: nil, joining: [])])
    }
    #expect(FileTree.exists(index + ".damaged-1") == (content != "deleted"))
    #expect(try temporary.reader()?.text(of: SHA256.digest(of: "one")) == "one")
  }

  @Test("A body that was found intact is read to its end, though its name is removed meanwhile")
  func removedMeanwhile() throws {
    let digest = SHA256.digest(of: "one")
    let reader = try #require(try temporary.reader())
    let body = try #require(try reader.intactBody(digest))
    unsafe unlink(path("one"))
    var bytes: [UInt8] = []
    try body.eachPiece { (piece) throws(Failure) in
      unsafe piece.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }
    #expect(bytes == Array("one".utf8))
    #expect(try reader.intactBody(digest) == nil)
  }

  @Test("An index with a broken page in the middle is started again")
  func brokenPages() throws {
    try temporary.run { (store: DiskStore) throws in
      for number in 0..<300 {
        let url = "https://a.example/long/\(String(repeating: "x", count: 200))/\(number)"
        _ = try store.commit([.store(.cached(url), body: nil, joining: [])])
      }
    }
    let index = temporary.cache + "/index.sqlite"
    FileTree.remove(temporary.cache + "/index.backup.sqlite")
    var bytes = try #require(FileTree.read(index))
    for offset in bytes.indices.dropFirst(16 * 4096) {
      bytes[offset] = 0xff
    }
    FileTree.write(bytes, to: index)
    try temporary.run { (store: DiskStore) throws in
      #expect(try store.readInventory().count == 0)
      #expect(store.diagnostics.map(\.code) == ["store.set-aside"])
      try store.put(["https://a.example/1": "one"], in: nil)
    }
    #expect(try temporary.reader()?.readInventory().count == 1)
  }

  @Test("An index of a newer version is refused and left unchanged")
  func newerSchema() throws {
    let index = temporary.cache + "/index.sqlite"
    var bytes = try #require(FileTree.read(index))
    // The schema version of the application, big-endian, at offset 60 of the file format.
    bytes[60..<64] = [0, 0, 1, 0]
    FileTree.write(bytes, to: index)
    let before = FileTree.listing(temporary.cache)
    for open in [
      { _ = try temporary.reader() },
      { _ = try DiskStore.openForWriting(cache: temporary.cache, clockStart: Instant(seconds: 0)) },
    ] {
      let failure = #expect(throws: Failure.self) { try open() }
      #expect(failure?.code == .storeDamaged)
      #expect(failure?.message.contains("newer") == true)
    }
    #expect(FileTree.read(index) == bytes)
    #expect(before[index] == FileTree.listing(temporary.cache)[index])
  }

  @Test("An index that is another program's database is set aside")
  func foreignDatabase() throws {
    FileTree.remove(temporary.cache + "/index.backup.sqlite")
    let index = temporary.cache + "/index.sqlite"
    var bytes = try #require(FileTree.read(index))
    bytes[68..<72] = [1, 2, 3, 4]
    FileTree.write(bytes, to: index)
    let failure = #expect(throws: Failure.self) { try temporary.reader() }
    #expect(failure?.code == .storeDamaged)
    try temporary.run { (store: DiskStore) throws in
      #expect(store.diagnostics.count == 1)
    }
    #expect(FileTree.read(index + ".damaged-1") == bytes)
  }
}
