import Glibc
import PrefetchCore
import PrefetchCrypto
import Testing

@testable import PrefetchStore

/// A Python process that has the index open, as another run would.
@safe private final class OtherWriter {
  static let isAvailable = FileTree.exists("/usr/bin/python3")

  private let gate: String
  private let output: UnsafeMutablePointer<FILE>

  /// Runs statements, reports readiness, and keeps the index open until `end`.
  init?(_ index: String, _ statements: [String], in folder: String) {
    gate = folder + "/gate"
    unsafe mkfifo(gate, 0o600)
    let script = folder + "/writer.py"
    let lines =
      [
        "import os, sqlite3, sys",
        "db = sqlite3.connect('\(index)', isolation_level=None)",
        "db.execute('PRAGMA wal_autocheckpoint=0')",
      ] + statements.map { "db.execute(\"\"\"\($0)\"\"\").fetchall()" } + [
        "print('ready', flush=True)", "open('\(gate)').read()", "os._exit(0)",
      ]
    FileTree.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: script)
    guard let output = unsafe popen("/usr/bin/python3 '\(script)'", "r") else { return nil }
    unsafe self.output = output
    var line = [CChar](repeating: 0, count: 16)
    guard unsafe fgets(&line, 16, output) != nil else { return nil }
  }

  /// Kills the process without a cleanup.
  func end() {
    // Opening the pipe waits for the other side, which waits for this one.
    let file = unsafe open(gate, O_WRONLY)
    close(file)
    unsafe pclose(output)
  }
}

@Suite("A cache beside another process", .enabled(if: OtherWriter.isAvailable, "needs python3"))
struct OtherProcessTests {
  let temporary: TemporaryCache

  init() throws {
    temporary = try TemporaryCache()
    try temporary.run { (store: DiskStore) throws in
      try store.put(["https://a.example/1": "one"], in: .basics)
    }
  }

  private static let insertion = {
    var facts: [UInt8] = []
    RecordRow.append(ContentRecord(url: "", id: ""), to: &facts)
    return [
      "INSERT INTO item_times (item, validated_at, freshness) VALUES (2, 0, 1)",
      "UPDATE item_numbers SET next=3",
      """
      INSERT INTO items (item, url, id, holders, variance, facts) \
      VALUES (2, 'https://a.example/2', 'two', 0, 0, x'\(Hexadecimal.encode(facts))')
      """,
    ]
  }()

  @Test(
    "A reader beside another process sees committed rows and changes no file",
    arguments: [
      // A writer that has not read its own changes leaves no read mark for readers.
      insertion,
      insertion + ["SELECT count(*) FROM items"],
    ]
  )
  func readsDuringWrite(_ statements: [String]) throws {
    let index = temporary.cache + "/index.sqlite"
    let writer = try #require(OtherWriter(index, statements, in: temporary.path))
    let before = FileTree.listing(temporary.cache)
    #expect(before[index + "-wal"] != nil)
    do {
      let reader = try #require(try temporary.reader())
      #expect(
        try reader.records().map(\.url) == ["https://a.example/1", "https://a.example/2"]
      )
      #expect(FileTree.listing(temporary.cache) == before)
    }
    #expect(FileTree.listing(temporary.cache) == before)
    writer.end()

    // The process has died and left its log.
    let after = FileTree.listing(temporary.cache)
    #expect(after[index + "-wal"] != nil)
    #expect(try temporary.reader()?.readInventory().count == 2)
    #expect(FileTree.listing(temporary.cache) == after)
    try temporary.run { (store: DiskStore) throws in
      #expect(try store.readInventory().count == 2)
    }
    #expect(!FileTree.exists(index + "-wal"))
  }

  @Test("A log of a killed process with only its head is ignored, and a reader does not wait")
  func headOfLog() throws {
    let index = temporary.cache + "/index.sqlite"
    let writer = try #require(OtherWriter(index, Self.insertion, in: temporary.path))
    let log = try #require(FileTree.read(index + "-wal"))
    let memory = try #require(FileTree.read(index + "-shm"))
    writer.end()
    FileTree.write(Array(log.prefix(32)), to: index + "-wal")
    FileTree.write(memory, to: index + "-shm")
    let before = FileTree.listing(temporary.cache)
    let folder = try #require(try Folder(at: temporary.cache))
    #expect(try !CacheLayout.index(in: folder).hasLog)
    #expect(try temporary.reader()?.readInventory().count == 1)
    #expect(FileTree.listing(temporary.cache) == before)
  }

  @Test("A run leaves the log to another writer at its end, and both keep their rows")
  func writersOverlap() throws {
    let index = temporary.cache + "/index.sqlite"
    let writer = try #require(OtherWriter(index, Self.insertion, in: temporary.path))
    try temporary.run { (store: DiskStore) throws in
      try store.put(["https://a.example/3": "three"], in: .basics)
    }
    #expect(try temporary.reader()?.readInventory().count == 3)
    writer.end()
    try temporary.run { (store: DiskStore) throws in
      #expect(try store.readInventory().count == 3)
    }
    #expect(!FileTree.exists(index + "-wal"))
  }
}
