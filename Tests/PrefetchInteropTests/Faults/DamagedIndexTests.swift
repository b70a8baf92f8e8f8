@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite(
  "An index that was damaged or cannot be read",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct DamagedIndexTests {
  private let home: Home
  private let server: LoopbackServer

  init() throws {
    let names = (0..<9).map { "/item-\($0)" }
    let site = Site(
      Dictionary(uniqueKeysWithValues: names.map { ($0, Site.Page("body of \($0)")) })
    )
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    let urls = names.map { "\"\(server.address($0))\"" }.joined(separator: ", ")
    home.configure(
      """
      network: { retries: { items: 0, lookups: 0 } }
      segments: [{ name: basics, urls: [\(urls)] }]
      cache: { min_free: 0 }
      """
    )
  }

  private var index: String { "\(home.cache)/index.sqlite" }
  private var copy: String { "\(home.cache)/index.backup.sqlite" }

  /// Changes the last byte of a text in a file, wherever the text occurs.
  private func spoil(_ text: String, in path: String, occurrence: Int) throws {
    var bytes = try #require(FileTree.read(path))
    let pattern = Array(text.utf8)
    let starts = bytes.indices.filter { bytes[$0...].starts(with: pattern) }
    try #require(starts.count > occurrence, "`\(text)` occurs \(starts.count) times")
    bytes[starts[occurrence] + pattern.count - 1] ^= 1
    FileTree.write(bytes, to: path)
  }

  @Test("Damage that sound pages hide is made good, and never replaces the good copy")
  func urlOfRow() throws {
    try #require(try home.run("run", "-q").status == 0)
    for occurrence in 0..<2 {
      // The URL of a row is in its table and in an index of the table.
      try spoil(server.address("/item-4"), in: index, occurrence: occurrence)
      for round in 0..<2 {
        let run = try home.run("run", "-q")
        #expect(run.status == 0, "occurrence \(occurrence), round \(round): \(run)")
      }
      #expect(try home.run("verify").status == 0)
      let names = FileTree.names(home.cache).filter { $0.contains("damaged") }
      #expect(!names.isEmpty, "occurrence \(occurrence): the damage was not found")
      for name in names { unsafe unlink("\(home.cache)/\(name)") }
    }
  }

  @Test("A name that changed in the text of a schema is damage, which the same run makes good")
  func nameInSchema() throws {
    try #require(try home.run("run", "-q").status == 0)
    let state = "\(home.state)/state.sqlite"
    for (text, file) in [
      ("validated_at", index), ("manifest_final_url", index), ("broke_trust", state),
    ] {
      try spoil(text, in: file, occurrence: 0)
      let run = try home.run()
      #expect(run.status == 0, "\(text): \(run)")
      #expect(run.errors.contains("its tables are not as made"), "\(text): \(run)")
      #expect(try home.run("verify").status == 0, "\(text)")
    }
  }

  @Test(
    "An I/O error while an index page is read is no damage",
    .enabled(if: Fault.library != nil, "\(Fault.absence)"),
    arguments: [1, 8, 15, 22, 29, 36, 43, 50, 57, 64]
  )
  func unreadPage(_ call: Int) throws {
    for number in call..<(call + 7) {
      try #require(home.tool("rm", "-rf", home.cache).status == 0)
      var fault = Fault(call: number, kind: .error(EIO), calls: "pread pread64")
      fault.path = "index.sqlite"
      let run = try fault.home(home).run("run", "-q")
      #expect([0, 74].contains(run.status), "call \(number): \(run)")
      let names = FileTree.names(home.cache)
      #expect(!names.contains { $0.contains("damaged") }, "call \(number): \(names): \(run)")
    }
    #expect(try home.run("run", "-q").status == 0)
  }
}
