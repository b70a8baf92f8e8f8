import Glibc
import PrefetchCore
import Testing

@testable import PrefetchStore

@Suite("The state")
struct StateStoreTests {
  let temporary: TemporaryCache

  init() throws {
    temporary = try TemporaryCache()
  }

  private var path: String {
    temporary.path + "/state"
  }

  private func run(_ number: Int, of identity: String) -> RunRecord {
    RunRecord(
      id: "\(identity)-\(number)",
      identity: identity,
      mode: "run",
      started: Instant(milliseconds: Int64(number)),
      finished: Instant(milliseconds: Int64(number + 1)),
      exitCode: 0,
      exitName: "ok",
      totals: "{\"items\":\(number)}"
    )
  }

  @Test("The state counts the work of servers")
  func servings() throws {
    let state = try StateStore.openForWriting(state: path)
    var served = ServeFigures()
    (served.hits, served.misses, served.failures, served.bytes) = (3, 2, 1, 100)
    try state.add(served, on: "2026-11-23")
    try state.add(served, on: "2026-11-23")
    try state.add(served, on: "2026-11-24")
    (served.hits, served.misses, served.failures, served.bytes) = (9, 6, 3, 300)
    #expect(try state.served() == served)
  }

  @Test("The state subscribes declared segments in the first run of a license only")
  func subscriptions() throws {
    let state = try StateStore.openForWriting(state: path)
    let first = SubscriptionKey(identity: "home", licenseFingerprint: "aa")
    let second = SubscriptionKey(identity: "home", licenseFingerprint: "bb")
    #expect(try state.subscriptions(first) == nil)
    #expect(try state.initialiseSubscriptions(first, declared: ["a", "b"]) == ["a", "b"])
    #expect(try state.initialiseSubscriptions(first, declared: ["c"]) == ["a", "b"])
    try state.replaceSubscriptions(first, by: [])
    #expect(try state.initialiseSubscriptions(first, declared: ["c"]) == [])
    #expect(try state.subscriptions(first) == [])
    #expect(try state.initialiseSubscriptions(second, declared: ["c"]) == ["c"])
  }

  @Test("The state keeps the last runs of each identity")
  func runs() throws {
    let state = try StateStore.openForWriting(state: path)
    for number in 1...5 {
      try state.recordRun(run(number, of: "home"), keeping: 3)
    }
    try state.recordRun(run(1, of: "work"), keeping: 3)
    let kept = ["work-1", "home-5", "home-4", "home-3"]
    #expect(try texts(of: "id", in: state) == kept)
    #expect(try texts(of: "started", in: state) == ["1", "5", "4", "3"])
    #expect(try texts(of: "finished", in: state) == ["2", "6", "5", "4"])
    let words = try texts(of: "exit_code || exit_name || mode", in: state)
    #expect(words == kept.map { _ in "0okrun" })
    #expect(try texts(of: "totals", in: state).first == "{\"items\":1}")
  }

  /// Returns a column of the table of runs, newest first.
  private func texts(of column: String, in state: StateStore) throws -> [String] {
    let rows = state.database.prepare("SELECT \(column) FROM runs ORDER BY run DESC")
    var texts: [String] = []
    while try rows.step() { texts.append(rows.text(0)) }
    return texts
  }

  @Test("The state keeps the last entries of an item's history, newest first")
  func history() throws {
    let state = try StateStore.openForWriting(state: path)
    let entries = (1...5).map { number in
      HistoryEntry(
        url: "https://a.example/",
        at: Instant(milliseconds: Int64(number)),
        run: "run-\(number)",
        action: .fetch,
        outcome: .added,
        reason: number == 5 ? nil : "because"
      )
    }
    try state.recordHistory(Array(entries[..<4]), keeping: 3)
    try state.recordHistory([entries[4]], keeping: 3)
    #expect(try state.history(url: "https://a.example/") == [entries[4], entries[3], entries[2]])
  }

  @Test("A history stays short, however often its item is removed and added")
  func renewedHistory() throws {
    let state = try StateStore.openForWriting(state: path)
    for number in 0..<20 {
      let entry = HistoryEntry(
        url: "https://a.example/",
        at: Instant(milliseconds: Int64(number)),
        run: "run-\(number)",
        action: number.isMultiple(of: 2) ? .fetch : .remove,
        outcome: number.isMultiple(of: 2) ? .added : .removed,
        isFirst: number.isMultiple(of: 2)
      )
      try state.recordHistory([entry], keeping: 3)
    }
    #expect(
      try state.history(url: "https://a.example/").map(\.run) == ["run-19", "run-18", "run-17"]
    )
  }

  @Test("The state remembers the last use of an item")
  func uses() throws {
    let state = try StateStore.openForWriting(state: path)
    try state.markUsed(["a", "b"], at: Instant(milliseconds: 5))
    try state.markUsed(["a"], at: Instant(milliseconds: 3))
    #expect(try state.uses() == ["a": Instant(milliseconds: 5), "b": Instant(milliseconds: 5)])
    #expect(try state.uses()["c"] == nil)
  }

  @Test("A damaged state is set aside with a warning and started again")
  func damaged() throws {
    FileTree.makeFolder(path)
    FileTree.write(Array("garbage that is no database at all".utf8), to: path + "/state.sqlite")
    var reports: [Diagnostic] = []
    #expect(try StateStore.openForReading(state: path, reports: &reports) == nil)
    #expect(reports.map(\.severity) == [.warning])

    let state = try StateStore.openForWriting(state: path)
    #expect(state.diagnostics.map(\.severity) == [.warning])
    #expect(FileTree.exists(path + "/state.sqlite.damaged-1"))
    try state.markUsed(["a"], at: Instant(milliseconds: 5))
    #expect(try state.uses()["a"] == Instant(milliseconds: 5))
  }

  @Test("A state of a newer version is refused by readers and writers")
  func newer() throws {
    try StateStore.openForWriting(state: path).close()
    var bytes = try #require(FileTree.read(path + "/state.sqlite"))
    bytes[60..<64] = [0, 0, 1, 0]
    FileTree.write(bytes, to: path + "/state.sqlite")
    var reports: [Diagnostic] = []
    let reading = #expect(throws: Failure.self) {
      try StateStore.openForReading(state: path, reports: &reports)
    }
    let writing = #expect(throws: Failure.self) { try StateStore.openForWriting(state: path) }
    #expect(reading?.message.contains("newer") == true)
    #expect(writing?.message.contains("newer") == true)
    #expect(FileTree.read(path + "/state.sqlite") == bytes)
  }

  @Test("A state can be read in a read-only folder and leaves no log")
  func reading() throws {
    var reports: [Diagnostic] = []
    #expect(try StateStore.openForReading(state: path, reports: &reports) == nil)
    #expect(!FileTree.exists(path))
    let state = try StateStore.openForWriting(state: path)
    try state.markUsed(["a"], at: Instant(milliseconds: 5))
    try state.close()
    #expect(FileTree.names(path) == ["state.lock", "state.sqlite"])
    FileTree.setWritable(false, path)
    let before = FileTree.listing(path)
    let reader = try #require(try StateStore.openForReading(state: path, reports: &reports))
    #expect(try reader.uses()["a"] == Instant(milliseconds: 5))
    #expect(FileTree.listing(path) == before)
    #expect(reports.isEmpty)
  }
}
