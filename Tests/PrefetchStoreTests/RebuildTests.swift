import Glibc
import PrefetchCore
import PrefetchCrypto
import PrefetchStore
import Testing

/// A cache whose index can be damaged, and whose backup lacks the last item.
private struct Patient {
  let temporary: TemporaryCache
  let start: Instant
  let good: [UInt8]
  let backup: [UInt8]

  static let old = (0..<40).map { "https://a.example/\(String(repeating: "x", count: 200))/\($0)" }
  static let newest = "https://a.example/newest"

  init() throws {
    // Hundreds of runs that each wait for the disk would take minutes.
    temporary = try TemporaryCache(below: FileTree.exists("/dev/shm") ? "/dev/shm" : nil)
    start = Instant(seconds: Int64(time(nil)) + 60)
    try temporary.run(at: start) { (store: DiskStore) throws in
      for (number, url) in Self.old.enumerated() {
        let body = try store.stage("body \(number)")
        _ = try store.commit([.store(.cached(url), body: body, joining: [.basics])])
      }
      _ = try store.missing()
    }
    backup = FileTree.read(temporary.cache + "/index.backup.sqlite") ?? []
    try temporary.run(at: start) { try $0.put([Self.newest: "new"], in: .basics) }
    good = FileTree.read(temporary.cache + "/index.sqlite") ?? []
    heal()
  }

  var index: String {
    temporary.cache + "/index.sqlite"
  }

  /// Restores the undamaged state.
  func heal() {
    for name in FileTree.names(temporary.cache) where name.hasPrefix("index.") {
      FileTree.remove(temporary.cache + "/" + name)
    }
    FileTree.write(good, to: index)
    FileTree.write(backup, to: temporary.cache + "/index.backup.sqlite")
  }

  /// Checks that readers return everything that is left and change nothing.
  func checkReader(_ what: String) throws {
    let before = FileTree.listing(temporary.cache)
    do {
      let reader = try #require(try temporary.reader())
      let urls = Set(try reader.records().map(\.url))
      #expect(urls.isSuperset(of: Self.old), "\(what)")
      #expect(try reader.readInventory().positions(of: .basics).count >= Self.old.count, "\(what)")
      #expect(try reader.text(of: SHA256.digest(of: "body 7")) == "body 7")
      #expect(try reader.verify().bad.isEmpty, "\(what)")
      #expect(try reader.intactObject(SHA256.digest(of: "new")) == 3)
    }
    #expect(FileTree.listing(temporary.cache) == before, "\(what)")
  }

  /// Checks that a run starts with what is left, adopts the rest by digest, and repairs the index.
  func checkWriter(_ what: String, isNoticed: Bool? = true) throws {
    try temporary.run(at: start) { (store: DiskStore) throws in
      let urls = Set(try store.records().map(\.url))
      #expect(urls.isSuperset(of: Self.old), "\(what)")
      #expect(try store.missing().isEmpty, "\(what)")
      if let isNoticed {
        #expect(store.diagnostics.isEmpty != isNoticed, "\(what): \(store.diagnostics)")
      }
    }
    // A run that could not use the damaged index has left it unchanged.
    try temporary.run(at: start) { (store: DiskStore) throws in
      #expect(store.diagnostics.isEmpty, "\(what): \(store.diagnostics)")
      var record = ContentRecord.cached(Self.newest)
      record.digest = SHA256.digest(of: "new")
      record.size = try #require(try store.intactObject(SHA256.digest(of: "new")))
      _ = try store.commit([.store(record, body: nil, joining: [.basics])])
      #expect(try store.verify().bad.isEmpty, "\(what)")
    }
    let reader = try #require(try temporary.reader())
    #expect(try reader.readInventory().count == Self.old.count + 1, "\(what)")
    #expect(reader.diagnostics.isEmpty, "\(what)")
  }
}

@Suite("A lost index")
struct RebuildTests {
  private let patient: Patient

  init() throws {
    patient = try Patient()
  }

  private func check(_ what: String, _ bytes: [UInt8]?) throws {
    for isWriter in [false, true] {
      patient.heal()
      FileTree.remove(patient.index)
      if let bytes {
        FileTree.write(bytes, to: patient.index)
      }
      if isWriter {
        try patient.checkWriter(what)
      } else {
        try patient.checkReader(what)
      }
    }
  }

  @Test("Only a cache that lost its index looks for bodies without rows")
  func lostBodies() throws {
    let temporary = try TemporaryCache()
    let start = Instant(seconds: Int64(time(nil)) + 60)
    var seeks: [Bool] = []
    try temporary.run(at: start) { seeks.append(try $0.seeksLostBodies()) }
    FileTree.remove(temporary.cache + "/index.sqlite")
    try temporary.run(at: start) { seeks.append(try $0.seeksLostBodies()) }
    #expect(seeks == [false, true])
  }

  @Test("A truncated index is replaced by its copy")
  func truncated() throws {
    for length in stride(from: 0, to: patient.good.count, by: 512) {
      try check("cut at \(length)", Array(patient.good[..<length]))
    }
  }

  @Test(
    "An index with a zeroed or inverted page is replaced by its copy",
    arguments: [true, false]
  )
  func brokenPage(_ isZeroed: Bool) throws {
    for page in 0..<(patient.good.count / 4096) {
      var bytes = patient.good
      for offset in page * 4096..<(page + 1) * 4096 {
        bytes[offset] = isZeroed ? 0 : ~bytes[offset]
      }
      try check("page \(page)", bytes)
    }
  }

  @Test("A deleted or foreign index is replaced by its copy")
  func replaced() throws {
    try check("deleted", nil)
    try check("text", Array(String(repeating: "no database ", count: 1000).utf8))
    let state = patient.temporary.path + "/state"
    try StateStore.openForWriting(state: state).close()
    try check("another application's", FileTree.read(state + "/state.sqlite"))
  }

  @Test(
    "A damaged index on a read-only file system is read from its copy",
    .enabled(if: getuid() == 0)
  )
  func readOnly() throws {
    let cache = patient.temporary.cache
    FileTree.write(Array(patient.good[..<20_000]), to: patient.index)
    try #require(unsafe mount(cache, cache, nil, UInt(MS_BIND), nil) == 0)
    defer { unsafe umount2(cache, Int32(MNT_DETACH)) }
    let flags = UInt(MS_BIND) | UInt(MS_REMOUNT) | UInt(MS_RDONLY)
    try #require(unsafe mount(nil, cache, nil, flags, nil) == 0)
    try patient.checkReader("read-only")
    FileTree.write([1], to: cache + "/probe")
    #expect(!FileTree.exists(cache + "/probe"))
    let failure = #expect(throws: Failure.self) {
      try DiskStore.openForWriting(cache: cache, clockStart: patient.start)
    }
    #expect(failure?.code == .permission)
  }

  @Test("A damaged index is set aside for inspection")
  func setAside() throws {
    let garbage = Array("garbage that is no database".utf8)
    FileTree.write(garbage, to: patient.index)
    try patient.temporary.run(at: patient.start) { (store: DiskStore) throws in
      #expect(store.diagnostics.map(\.code) == ["store.set-aside", "store.restored"])
    }
    #expect(FileTree.read(patient.index + ".damaged-1") == garbage)
  }

  @Test("Damage of an index that shows late is repaired then, for readers and writers")
  func damageMetLater() throws {
    let many = (0..<4_000).map { "https://a.example/\(String(repeating: "y", count: 300))/\($0)" }
    try patient.temporary.run(at: patient.start) { (store: DiskStore) throws in
      _ = try store.commit(many.map { .store(.cached($0), body: nil, joining: []) })
    }
    var bytes = try #require(FileTree.read(patient.index))
    #expect(bytes.count > 400 * 4096)
    let middle = bytes.count / 2 / 4096 * 4096
    for offset in middle..<middle + 8 * 4096 {
      bytes[offset] = 0
    }
    FileTree.write(bytes, to: patient.index)
    let before = FileTree.listing(patient.temporary.cache)
    do {
      let reader = try #require(try patient.temporary.reader())
      #expect(reader.diagnostics.isEmpty)
      #expect(try reader.readInventory().count == 4_041)
      #expect(reader.diagnostics.map(\.code) == ["store.damaged"])
    }
    #expect(FileTree.listing(patient.temporary.cache) == before)
    try patient.temporary.run(at: patient.start) { (store: DiskStore) throws in
      #expect(try store.readInventory().count == 4_041)
      #expect(store.diagnostics.map(\.code) == ["store.set-aside", "store.restored"])
    }
  }

  // MARK: The log

  /// Leaves the index as a killed writer does, with one more item in its log.
  private func leaveLog(in temporary: TemporaryCache, url: String) throws -> [UInt8] {
    let store = try DiskStore.openForWriting(cache: temporary.cache, clockStart: patient.start)
    _ = try store.commit([.store(.cached(url), body: nil, joining: [])])
    let log = try #require(FileTree.read(temporary.cache + "/index.sqlite-wal"))
    try store.close()
    return log
  }

  @Test("An index without its log is as the last run left it")
  func logDeleted() throws {
    _ = try leaveLog(in: patient.temporary, url: "https://a.example/log")
    patient.heal()
    FileTree.write([UInt8](repeating: 7, count: 32_768), to: patient.index + "-shm")
    try patient.checkReader("no log")
    try patient.checkWriter("no log", isNoticed: false)
  }

  @Test("An index ignores a log that is not its own", arguments: [true, false])
  func foreignLog(_ isJunk: Bool) throws {
    let other = try TemporaryCache()
    try other.run { try $0.put(["https://b.example/": "b"], in: .other) }
    var log = try leaveLog(in: other, url: "https://b.example/2")
    if isJunk {
      log = log.map { $0 &* 31 &+ 7 }
    }
    for isWriter in [false, true] {
      patient.heal()
      FileTree.write(log, to: patient.index + "-wal")
      if isWriter {
        // A log without a valid header is ignored.
        try patient.checkWriter("log", isNoticed: !isJunk)
      } else {
        try patient.checkReader("log")
      }
    }
  }

  @Test("An index with junk as shared memory is read with its log")
  func junkSharedMemory() throws {
    let log = try leaveLog(in: patient.temporary, url: "https://a.example/log")
    for isWriter in [false, true] {
      patient.heal()
      FileTree.write(log, to: patient.index + "-wal")
      FileTree.write(
        (0..<32_768).map { UInt8(truncatingIfNeeded: $0 &* 31) },
        to: patient.index + "-shm"
      )
      if isWriter {
        try patient.temporary.run(at: patient.start) { (store: DiskStore) throws in
          #expect(try store.record(url: "https://a.example/log") != nil)
          #expect(store.diagnostics.isEmpty)
        }
      } else {
        let before = FileTree.listing(patient.temporary.cache)
        do {
          let reader = try #require(try patient.temporary.reader())
          #expect(try reader.record(url: "https://a.example/log") != nil)
        }
        #expect(FileTree.listing(patient.temporary.cache) == before)
      }
    }
  }

  // MARK: The copy

  @Test("The copy of an index is renewed after a tenth of its rows changed or a day")
  func renewal() throws {
    let backup = patient.temporary.cache + "/index.backup.sqlite"
    func inode() -> UInt? { FileTree.status(backup).map { UInt($0.st_ino) } }
    try patient.temporary.run(at: patient.start) { (store: DiskStore) throws in
      try store.lock(Patient.old, for: DiskStore.Guardian())
    }
    let first = inode()
    try patient.temporary.run(at: patient.start) { _ in }
    #expect(inode() == first)
    try patient.temporary.run(at: patient.start + .seconds(25 * 3600)) { _ in }
    // Without changes the backup is not written again.
    #expect(inode() == first)
    try patient.temporary.run(at: patient.start) { (store: DiskStore) throws in
      try store.lock([Patient.old[0]], for: DiskStore.Guardian())
    }
    #expect(inode() == first)
    try patient.temporary.run(at: patient.start + .seconds(25 * 3600)) { _ in }
    let second = inode()
    #expect(second != first)
    try patient.temporary.run(at: patient.start) { (store: DiskStore) throws in
      try store.lock(Array(Patient.old[..<5]), for: DiskStore.Guardian())
    }
    #expect(inode() != second)
    #expect(FileTree.names(patient.temporary.cache).filter { $0.hasPrefix("index") }.count == 2)
  }

  @Test("An index without a usable copy starts again, and objects are found by their digests")
  func noCopy() throws {
    for backup in [nil, [], Array(patient.backup[..<9_000])] as [[UInt8]?] {
      patient.heal()
      FileTree.remove(patient.index)
      FileTree.remove(patient.temporary.cache + "/index.backup.sqlite")
      if let backup {
        FileTree.write(backup, to: patient.temporary.cache + "/index.backup.sqlite")
      }
      let failure = #expect(throws: Failure.self) { try patient.temporary.reader() }
      #expect(failure?.code == .storeDamaged)
      try patient.temporary.run(at: patient.start) { (store: DiskStore) throws in
        #expect(try store.readInventory().count == 0)
        _ = try store.missing()
        #expect(try store.intactObject(SHA256.digest(of: "body 3")) == 6)
      }
      // A manifest that this run did not see may still name an object without a row.
      try patient.temporary.run(at: patient.start) { (store: DiskStore) throws in
        _ = try store.missing()
        #expect(try store.intactObject(SHA256.digest(of: "body 3")) == 6)
      }
    }
    // A manual cleanup spares the object as well until its time is over.
    for (days, size) in [(0, 6), (8, nil)] as [(Int64, Int64?)] {
      let later = patient.start + .seconds(days * 24 * 3600)
      try patient.temporary.run(at: later) { (store: DiskStore) throws in
        try store.removeOrphans()
        #expect(try store.intactObject(SHA256.digest(of: "body 3")) == size)
      }
    }
  }

  @Test("An object without an index counts only after it was hashed")
  func damagedOrphan() throws {
    let digest = SHA256.digest(of: "body 3")
    let store = try DiskStore.openForWriting(
      cache: patient.temporary.cache,
      clockStart: patient.start
    )
    FileTree.write(Array("bodY 3".utf8), to: store.objectPath(digest))
    #expect(try store.intactObject(digest) == nil)
    FileTree.write(Array("body 3".utf8), to: store.objectPath(digest))
    #expect(try store.intactObject(digest) == 6)
    FileTree.write(Array("Body 3".utf8), to: store.objectPath(digest))
    #expect(try store.intactObject(digest) == nil)
  }

  @Test("Lost objects are found by the rows of the index's copy")
  func lostObjects() throws {
    let digest = SHA256.digest(of: "body 3")
    FileTree.remove(patient.index)
    FileTree.remove(BodyPaths(cache: patient.temporary.cache).path(of: digest))
    try patient.temporary.run(at: patient.start) { (store: DiskStore) throws in
      #expect(try store.missing() == [digest])
    }
  }

  @Test("An index or copy of a newer version is refused, and nothing is changed")
  func newer() throws {
    var bytes = patient.good
    bytes[60..<64] = [0, 0, 1, 0]
    for name in ["/index.sqlite", "/index.backup.sqlite"] {
      patient.heal()
      if name == "/index.backup.sqlite" {
        FileTree.remove(patient.index)
      }
      FileTree.write(bytes, to: patient.temporary.cache + name)
      let before = FileTree.listing(patient.temporary.cache).filter { $0.key.contains("/index") }
      for isWriter in [true, false] {
        let failure = #expect(throws: Failure.self) {
          if isWriter {
            _ = try DiskStore.openForWriting(
              cache: patient.temporary.cache,
              clockStart: patient.start
            )
          } else {
            _ = try patient.temporary.reader()
          }
        }
        #expect(failure?.code == .storeDamaged)
        #expect(failure?.message.contains("newer") == true)
      }
      let after = FileTree.listing(patient.temporary.cache).filter { $0.key.contains("/index") }
      #expect(after == before)
    }
  }
}
