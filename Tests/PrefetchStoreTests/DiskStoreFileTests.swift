import Glibc
import PrefetchCore
import PrefetchCrypto
import PrefetchStore
import Testing

@Suite("The files of a cache")
struct DiskStoreFileTests {
  let temporary: TemporaryCache

  init() throws {
    temporary = try TemporaryCache()
  }

  private func path(_ text: String) -> String {
    let name = SHA256.digest(of: text).hexadecimal
    return "\(temporary.cache)/objects/sha256/\(name.prefix(2))/\(name)"
  }

  @Test("The files of a cache have the documented layout, and no log stays after a run")
  func layout() throws {
    try temporary.run { try $0.put(["https://a.example/": "a"], in: .basics) }
    #expect(
      FileTree.names(temporary.cache)
        == [
          "CACHEDIR.TAG", "index.backup.sqlite", "index.sqlite", "lock", "locks", "objects",
          "partial",
        ]
    )
    #expect(FileTree.names(temporary.cache + "/partial").isEmpty)
    #expect(FileTree.read(path("a")) == Array("a".utf8))
    #expect(FileTree.status(path("a")).map { $0.st_mode & 0o333 } == 0)
    let tag = String(
      decoding: try #require(FileTree.read(temporary.cache + "/CACHEDIR.TAG")),
      as: UTF8.self
    )
    #expect(tag.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
  }

  @Test(
    "A staged body records its first bytes, whatever the size of the chunks",
    arguments: [1, 10, 500, 70_000, 200_000]
  )
  func beginnings(_ length: Int) throws {
    let store = try DiskStore.openForWriting(
      cache: temporary.cache,
      clockStart: Instant(seconds: 4_000_000_000)
    )
    let bytes = (0..<150_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    let sink = try store.beginBody(BodyPlan())
    try sink.append(unsafe Array(bytes.prefix(3)).span.bytes)
    for start in stride(from: 3, to: bytes.count, by: length) {
      let piece = Array(bytes[start..<min(start + length, bytes.count)])
      try sink.append(unsafe piece.span.bytes)
    }
    #expect(try sink.finish().prefix == Array(bytes.prefix(StagedBody.prefixLength)))
    #expect(try store.stage("abc").prefix == Array("abc".utf8))
    #expect(try store.stage("").prefix.isEmpty)
  }

  @Test("The same body at two URLs is one object")
  func oneObject() throws {
    try temporary.run { (store: DiskStore) throws in
      try store.put(["https://a.example/1": "same", "https://a.example/2": "same"], in: .basics)
      #expect(try store.totals() == StoreTotals(items: 2, objects: 1, bytes: 4))
    }
    #expect(FileTree.names(temporary.cache + "/objects/sha256").count == 1)
  }

  @Test("A replaced body stays readable for processes that have it open")
  func openBodyLives() throws {
    let store = try DiskStore.openForWriting(
      cache: temporary.cache,
      clockStart: Instant(seconds: 4_000_000_000)
    )
    try store.put(["https://a.example/": "old"], in: .basics)
    let file = unsafe open(path("old"), O_RDONLY)
    defer { close(file) }
    try store.put(["https://a.example/": "new"], in: nil)
    #expect(!FileTree.exists(path("old")))
    var buffer = [UInt8](repeating: 0, count: 3)
    #expect(unsafe read(file, &buffer, 3) == 3)
    #expect(buffer == Array("old".utf8))
  }

  enum Obstacle: CaseIterable {
    case goodOrphan
    case wrongBytes
    case wrongSize
    case emptyFolder
    case symbolicLink
    case pipe
  }

  @Test("A file that already has an object's name is not trusted", arguments: Obstacle.allCases)
  func adoption(_ obstacle: Obstacle) throws {
    try temporary.run { _ in }
    let path = path("body")
    FileTree.makeFolder(String(path.dropLast(65)))
    switch obstacle {
    case .goodOrphan: FileTree.write(Array("body".utf8), to: path)
    case .wrongBytes: FileTree.write(Array("bodY".utf8), to: path)
    case .wrongSize: FileTree.write(Array("body+".utf8), to: path)
    case .emptyFolder: FileTree.makeFolder(path)
    case .symbolicLink:
      FileTree.write(Array("body".utf8), to: temporary.path + "/elsewhere")
      unsafe symlink(temporary.path + "/elsewhere", path)
    case .pipe: unsafe mkfifo(path, 0o644)
    }
    let inode = FileTree.status(path)?.st_ino
    try temporary.run { (store: DiskStore) throws in
      try store.put(["https://a.example/": "body"], in: .basics)
      #expect(try store.text(of: SHA256.digest(of: "body")) == "body")
      #expect(try store.verify().bad.isEmpty)
    }
    #expect(FileTree.status(path).map { $0.st_mode & S_IFMT } == S_IFREG)
    #expect((FileTree.status(path)?.st_ino == inode) == (obstacle == .goodOrphan))
  }

  @Test("An object below a planted symbolic link is refused")
  func plantedLink() throws {
    try temporary.run { _ in }
    FileTree.makeFolder(temporary.path + "/victim")
    let name = SHA256.digest(of: "body").hexadecimal.prefix(2)
    unsafe symlink(temporary.path + "/victim", "\(temporary.cache)/objects/sha256/\(name)")
    #expect(throws: Failure.self) {
      try temporary.run { try $0.put(["https://a.example/": "body"], in: .basics) }
    }
    #expect(FileTree.names(temporary.path + "/victim").isEmpty)
  }

  @Test("A cache is not created where a file has its name")
  func notFolder() throws {
    FileTree.write([1], to: temporary.cache)
    let failure = #expect(throws: Failure.self) {
      try DiskStore.openForWriting(cache: temporary.cache, clockStart: Instant(seconds: 0))
    }
    #expect(failure?.message.contains(temporary.cache) == true)
  }

  @Test("Orphans older than the run are removed, and younger ones stay")
  func orphans() throws {
    try temporary.run { _ in }
    let path = path("orphan")
    FileTree.makeFolder(String(path.dropLast(65)))
    FileTree.write(Array("orphan".utf8), to: path)
    try temporary.run(at: Instant(seconds: 0)) { (store: DiskStore) throws in
      _ = try store.missing()
      #expect(try store.verify().orphans == 1)
    }
    #expect(FileTree.exists(path))
    try temporary.run { (store: DiskStore) throws in
      _ = try store.missing()
    }
    #expect(!FileTree.exists(path))
  }

  @Test("Orphans in unvisited folders are removed only by a full search")
  func hiddenOrphans() throws {
    try temporary.run { (store: DiskStore) throws in
      _ = try store.missing()
      try store.put(["https://a.example/": "a"], in: .basics)
    }
    let folder = String(path("a").dropLast(65))
    let orphan = folder + "/" + String(folder.suffix(2)) + String(repeating: "0", count: 62)
    FileTree.write([1], to: orphan)
    try temporary.run { _ in }
    #expect(FileTree.exists(orphan))
    let store = try DiskStore.openForWriting(
      cache: temporary.cache,
      clockStart: Instant(seconds: 4_000_000_000)
    )
    try store.removeOrphans()
    #expect(!FileTree.exists(orphan))
    #expect(FileTree.exists(path("a")))
  }

  @Test("Files of a process that died are removed by the next run")
  func staleSession() throws {
    try temporary.run { _ in }
    let stale = temporary.cache + "/partial/session-dead"
    // A leftover folder with a cache for a response that was only passed through.
    for folder in [stale, stale + "/cache", stale + "/cache/objects"] {
      FileTree.makeFolder(folder)
      FileTree.write([1], to: folder + "/body-1")
    }
    try temporary.run { _ in }
    #expect(!FileTree.exists(stale))
  }

  @Test("Files of a response that is only passed on are removed with it")
  func scratchCache() throws {
    try temporary.run { _ in }
    var scratch: ScratchCache? = try ScratchCache(in: temporary.cache)
    let path = try #require(scratch?.path)
    let inner = try DiskStore.openForWriting(cache: path, clockStart: Instant(seconds: 1))
    try inner.put(["https://a.example/": "a"], in: .basics)
    try inner.close()
    #expect(FileTree.exists(path + "/objects"))
    // Another process tidies up meanwhile.
    try temporary.run { _ in }
    #expect(FileTree.exists(path + "/objects"))
    scratch = nil
    #expect(FileTree.names(temporary.cache + "/partial").isEmpty)
  }

  @Test("Half-made files of a killed process are reused or removed")
  func leftovers() throws {
    FileTree.makeFolder(temporary.cache)
    FileTree.write([1], to: temporary.cache + "/CACHEDIR.TAG.new")
    FileTree.write([1], to: temporary.cache + "/index.sqlite.new-x")
    FileTree.write([1], to: temporary.cache + "/index.backup.sqlite.new-y")
    try temporary.run { try $0.put(["https://a.example/": "a"], in: .basics) }
    #expect(FileTree.names(temporary.cache).filter { $0.contains(".new") }.isEmpty)
  }

  @Test("An object is written into a folder that was removed in the meantime")
  func removedFolder() throws {
    try temporary.run { (store: DiskStore) throws in
      try store.put(["https://a.example/1": "one"], in: .basics)
      FileTree.remove(String(path("one").dropLast(65)))
      try store.put(["https://a.example/1": "two"], in: .basics)
      try store.put(["https://a.example/1": "one"], in: .basics)
      #expect(try store.text(of: SHA256.digest(of: "one")) == "one")
    }
  }

  @Test("A cache that disappears during a run is not created elsewhere")
  func vanishedCache() throws {
    let store = try DiskStore.openForWriting(
      cache: temporary.cache,
      clockStart: Instant(seconds: 0)
    )
    try store.put(["https://a.example/1": "one"], in: .basics)
    let waiting = try store.stage("two")
    FileTree.remove(temporary.cache)
    for body in [waiting, nil] {
      let failure = #expect(throws: Failure.self) {
        let body = try body ?? store.stage("three")
        _ = try store.commit([.store(.cached("https://a.example/2"), body: body, joining: [])])
      }
      #expect(failure?.code.category == .io)
    }
    try? store.close()
    #expect(FileTree.names(temporary.path).isEmpty)
  }

  @Test("Files stay in their folder when its name is replaced by a link")
  func replacedCache() throws {
    let moved = temporary.path + "/moved"
    let victim = temporary.path + "/victim"
    FileTree.makeFolder(victim)
    try temporary.run { (store: DiskStore) throws in
      try store.put(["https://a.example/1": "one"], in: .basics)
      try #require(unsafe rename(temporary.cache, moved) == 0)
      try #require(unsafe symlink(victim, temporary.cache) == 0)
      try store.put(["https://a.example/2": "two"], in: .basics)
    }
    #expect(FileTree.names(victim).isEmpty)
    let reader = try DiskStore.openForReading(cache: moved, clockStart: Instant(seconds: 0))
    #expect(try reader?.readInventory().count == 2)
    #expect(try reader?.verify().bad.isEmpty == true)
  }

  @Test("Lost objects are noticed, also after a run that could not fetch them again")
  func lostObjects() throws {
    try temporary.run { (store: DiskStore) throws in
      _ = try store.missing()
      try store.put(["https://a.example/1": "one", "https://a.example/2": "two"], in: .basics)
    }
    try temporary.run { (store: DiskStore) throws in
      #expect(try store.missing().isEmpty)
    }
    unsafe unlink(path("one"))
    for _ in 1...2 {
      try temporary.run { (store: DiskStore) throws in
        #expect(
          try store.missing() == [SHA256.digest(of: "one")]
        )
      }
    }
    try temporary.run { (store: DiskStore) throws in
      try store.put(["https://a.example/1": "one"], in: nil)
    }
    try temporary.run { (store: DiskStore) throws in
      #expect(try store.missing().isEmpty)
    }
  }

  @Test("Lost objects are noticed in a folder whose time was set back")
  func folderTimeSetBack() throws {
    try temporary.run { (store: DiskStore) throws in
      _ = try store.missing()
      try store.put(["https://a.example/1": "one"], in: .basics)
    }
    let folder = String(path("one").dropLast(65))
    let times = try #require(FileTree.status(folder)).st_mtim
    unsafe unlink(path("one"))
    var restored = [times, times]
    unsafe utimensat(AT_FDCWD, folder, &restored, 0)
    try temporary.run { (store: DiskStore) throws in
      #expect(try store.missing() == [SHA256.digest(of: "one")])
    }
  }
}
