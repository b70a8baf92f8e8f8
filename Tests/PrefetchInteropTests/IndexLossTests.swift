@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite(
  "A lost index",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Nginx.isInstalled, "needs nginx")
)
struct IndexLossTests {
  enum Damage: String, CaseIterable {
    case deleted, truncated, emptied, junk, junkPage, zeroedHead
    case logDeleted, logAndIndexDeleted, onlyLogLeft, logOfJunk
  }

  /// Number of items in the index's backup; two were added later.
  private static let oldCount = 40

  private let home: Home
  private let nginx: Nginx

  init() throws {
    home = try Home(isInMemory: true)
    nginx = try Nginx()
    home.configure(
      """
      segments: [{ name: basics, manifest: "\(nginx.url("manifest.json"))" }]
      cache: { min_free: 0 }
      """
    )
  }

  /// Returns whether an item is pinned by digest, as every second one is.
  private static func isNamed(_ number: Int) -> Bool {
    number.isMultiple(of: 2)
  }

  private func text(_ number: Int) -> String {
    "item \(number)\n" + String(repeating: "\(number)", count: number * 30)
  }

  private func publish(_ count: Int) {
    let entries = (0..<count).map { number in
      let digest = Self.isNamed(number) ? Digest.hexadecimal(text(number)) : nil
      return Manifest.Entry("f\(number)", digest: digest)
    }
    nginx.write(Manifest.text(entries), to: "manifest.json")
  }

  private func listed() throws -> Set<String> {
    let list = try home.run("list", "--json")
    #expect(list.status == 0, "\(list)")
    let items = try list.json().list("items")
    for item in items where item.text("state") == "cached" {
      let body = item.text("path").flatMap { FileTree.read($0) }
      let digest = body.map { "sha256:\(Digest.hexadecimal($0))" }
      #expect(digest == item.text("digest"))
    }
    return Set(items.filter { $0.text("state") == "cached" }.compactMap { $0.text("url") })
  }

  private func urls(_ count: Int) -> Set<String> {
    Set((0..<count).map { nginx.url("f\($0)") })
  }

  @Test(
    "A lost index is rebuilt from its copy: no item is lost, and no body with a digest is fetched",
    arguments: Damage.allCases
  )
  func madeGood(_ damage: Damage) throws {
    var random = SeededRandom(UInt64(damage.rawValue.utf8.reduce(0) { $0 + Int($1) }))
    for round in 0..<max(1, Binary.rounds / 5) {
      try home.removeCache()
      for number in 0..<(Self.oldCount + 2) { nginx.write(text(number), to: "f\(number)") }
      publish(Self.oldCount)
      #expect(try home.run("-q").status == 0)
      #expect(FileTree.exists(copy))
      publish(Self.oldCount + 2)
      #expect(try home.run("-q").status == 0)
      try apply(damage, &random)
      _ = nginx.drainRequests()

      let before = FileTree.listing(home.cache)
      #expect(try listed().isSuperset(of: urls(Self.oldCount)), "round \(round)")
      #expect(try home.run("status").status == 0)
      #expect(nginx.drainRequests().isEmpty)
      #expect(FileTree.listing(home.cache) == before, "round \(round)")

      try checkNextRun("round \(round)")
    }
  }

  /// Changes to rows that SQLite takes for sound.
  private static let rows = [
    "UPDATE items SET facts=substr(facts, 1, 79) WHERE item=1",
    "UPDATE items SET facts=substr(facts, 1, length(facts) - 1) WHERE item=1",
    "UPDATE items SET variance=7 WHERE item=1",
    "UPDATE segments SET state='other'",
    "UPDATE segments SET manifest=x'00'",
    "UPDATE segments SET retained='1 2'",
    "INSERT INTO segment_documents VALUES (1, 1, 'a', NULL, NULL, NULL, x'00', NULL, 0, NULL)",
    "INSERT INTO item_files VALUES (1, x'00', 1, NULL)",
    "UPDATE upkeep SET variance_key=x'00'",
  ]

  enum Copy: CaseIterable {
    case good, missing, damaged
  }

  @Test("A row that cannot be read is made good by a run or `verify --repair`", arguments: rows)
  func unreadableRow(_ change: String) throws {
    for number in 0..<(Self.oldCount + 2) { nginx.write(text(number), to: "f\(number)") }
    publish(Self.oldCount + 2)
    #expect(try home.run("-q").status == 0)
    let names = [index, copy]
    let kept = names.map { FileTree.read($0) ?? [] }
    for (end, copied) in ["run", "verify --repair", "publish"].flatMap({ end in
      Copy.allCases.map { (end, $0) }
    }) {
      for (name, bytes) in zip(names, kept) { FileTree.write(bytes, to: name) }
      if copied == .missing { FileTree.remove(copy) }
      for name in copied == .damaged ? names : [index] {
        let changed = try home.tool("sqlite3", name, change)
        try #require(changed.status == 0, "\(changed)")
      }
      let what = "\(change), a \(copied) copy, \(end)"
      for query in ["list", "verify", "status", "get --offline \(nginx.url("f1"))"] {
        let answer = try home.run(query.split(separator: " ").map(String.init))
        #expect([0, 74].contains(answer.status), "\(what): \(query): \(answer)")
        if copied == .good { #expect(answer.status == 0, "\(what): \(query): \(answer)") }
      }
      let repair = try home.run(end.split(separator: " ").map(String.init) + ["-q"])
      #expect(repair.status == 0, "\(what): \(repair)")
      _ = nginx.drainRequests()
      try checkNextRun(what)
    }
  }

  private func checkNextRun(_ what: String) throws {
    let run = try home.run("--json")
    #expect(run.status == 0, "\(what): \(run)")
    let counts = Dictionary(grouping: nginx.drainRequests(), by: \.target).mapValues(\.count)
    for number in 0..<(Self.oldCount + 2) {
      let requestCount = counts["/f\(number)"] ?? 0
      #expect(
        Self.isNamed(number) ? requestCount == 0 : requestCount <= 1,
        "\(what): f\(number) \(requestCount)"
      )
    }
    #expect(try listed() == urls(Self.oldCount + 2), "\(what)")
    let verify = try home.run("verify")
    #expect(verify.status == 0, "\(what): \(verify)")

    let second = try home.run("--json")
    #expect(second.status == 0, "\(what): \(second)")
    let requests = nginx.drainRequests()
    #expect(requests.allSatisfy { $0.status == 304 }, "\(what)")
    #expect(requests.count == Self.oldCount / 2 + 2, "\(what)")
  }

  // MARK: Damage

  private var index: String {
    "\(home.cache)/index.sqlite"
  }

  private var copy: String {
    "\(home.cache)/index.backup.sqlite"
  }

  private func apply(_ damage: Damage, _ random: inout SeededRandom) throws {
    let bytes = try #require(FileTree.read(index))
    switch damage {
    case .deleted:
      FileTree.remove(index)
    case .truncated:
      FileTree.write(Array(bytes[..<Int.random(in: 1..<bytes.count, using: &random)]), to: index)
    case .emptied:
      FileTree.write([], to: index)
    case .junk:
      FileTree.write(Self.junk(bytes.count, &random), to: index)
    case .junkPage:
      let page = Int.random(in: 0..<(bytes.count / 4_096), using: &random) * 4_096
      let junk = Self.junk(4_096, &random)
      FileTree.write(bytes[..<page] + junk + bytes[(page + 4_096)...], to: index)
    case .zeroedHead:
      FileTree.write(Array(repeating: 0, count: 100) + bytes[100...], to: index)
    case .logDeleted:
      try leaveLog()
      FileTree.remove("\(index)-wal")
    case .logAndIndexDeleted:
      try leaveLog()
      for suffix in ["", "-wal", "-shm"] { FileTree.remove(index + suffix) }
    case .onlyLogLeft:
      try leaveLog()
      FileTree.remove(index)
    case .logOfJunk:
      try leaveLog()
      FileTree.write(Self.junk(100_000, &random), to: "\(index)-wal")
    }
  }

  private static func junk(_ count: Int, _ random: inout SeededRandom) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  /// Kills a run that is writing the index; a faster run leaves no log.
  private func leaveLog() throws {
    let log = "\(index)-wal"
    for _ in 0..<50 where !FileTree.exists(log) {
      let run = try home.start(["-q", "--refetch"])
      while FileTree.status(log)?.st_size ?? 0 == 0, run.isRunning { poll(nil, 0, 1) }
      run.signal(SIGKILL)
      _ = run.finish()
    }
    #expect(FileTree.exists(log))
  }
}
