import PrefetchTestSupport
import Testing

@Suite("Reports about lower caches", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct LayerLookTests {
  private let ground: LayerGround
  private var home: Home { ground.home }

  init() throws {
    ground = try LayerGround()
    for name in ["a", "b"] { ground.site["/\(name)"] = Site.Page("body of \(name)") }
  }

  private func declare(_ paths: [String], lower: [String] = []) {
    let urls = paths.map { "\"\(ground.url($0))\"" }.joined(separator: ", ")
    ground.configure("  - { name: basics, urls: [\(urls)], ttl: 1h }", lower: lower)
  }

  private func makeBase() throws {
    declare(["/a", "/b"])
    try #require(home.run("-q").status == 0)
    // Another configuration has items in the cache, too.
    home.configure(
      "name: other\nsegments: [{ name: o, urls: [\"\(ground.url("/b"))\"] }]\n",
      to: "other.yaml"
    )
    try #require(home.run("-q", "-c", "other.yaml").status == 0)
    try ground.putAway(as: "base")
  }

  private func lower(_ run: ProgramRun) throws -> [(value: String, isRight: Bool)] {
    try run.json().list("findings").filter { $0.text("name") == "lower" }.map {
      (value: $0.text("value") ?? "", isRight: $0.text("ok") == "true")
    }
  }

  @Test("Identities of lower caches are listed after our own and are not gone")
  func identities() throws {
    try makeBase()
    declare(["/a"], lower: ["base"])
    let before = try ground.fingerprint("base")
    for hasRun in [false, true] {
      if hasRun { try #require(home.run("-q").status == 0) }
      let run = try home.run("list", "--identities", "--json")
      #expect(run.status == 0, "\(run)")
      let all = try run.json().list("identities")
      let below = all.filter { $0.text("lower") == home.path("base") }
      #expect(below.map { $0.text("identity") } == ["fleet", "other"], "\(run)")
      #expect(below.map { $0.number("items") } == [2, 1])
      #expect(below.allSatisfy { $0.text("gone") == "false" })
      let own = all.filter { $0.text("lower") == nil }
      #expect(own.map { $0.text("identity") } == ["fleet"], "\(run)")
      let lines = try home.run("list", "--identities").lines
      #expect(lines.count == 3 && lines.last?.hasSuffix("\tother\tin \(home.path("base"))") == true)
    }
    #expect(try ground.fingerprint("base") == before)
  }

  @Test("`doctor` describes each lower cache and changes nothing in it")
  func healthy() throws {
    try makeBase()
    declare(["/a"], lower: ["base"])
    let before = try ground.fingerprint("base")
    let run = try home.run("doctor", "--json")
    #expect(run.status == 0, "\(run)")
    let reported = try lower(run)
    #expect(reported.map(\.value) == ["\(home.path("base")): 2 segments, 2 items"], "\(run)")
    #expect(!reported.contains { !$0.isRight })
    #expect(try ground.fingerprint("base") == before)
    #expect(!FileTree.exists(home.cache))
  }

  @Test(
    "`doctor` reports unusable lower caches with a fix and 1, although no run fails"
  )
  func troubles() throws {
    try makeBase()
    FileTree.makeFolder(home.path("empty"))
    home.write("text", to: "file")
    for (name, version) in [("newer", 999), ("older", 3)] {
      try #require(home.tool("cp", "-a", home.path("base"), home.path(name)).status == 0)
      let database = home.path("\(name)/index.sqlite")
      try #require(home.tool("sqlite3", database, "PRAGMA user_version=\(version)").status == 0)
    }
    let words = [
      "missing": "does not exist", "empty": "holds no cache", "file": "not a directory",
      "newer": "newer version", "older": "earlier version",
    ]
    for (name, word) in words {
      declare(["/a"], lower: [name, "base"])
      let run = try home.run("doctor", "--json")
      let reported = try lower(run)
      #expect(reported.map(\.isRight) == [false, true], "\(run)")
      #expect(reported.first?.value.contains(word) == true, "\(run)")
      #expect(reported.first?.value.contains(name) == true, "\(run)")
      #expect(run.status == 1, "\(name)")
      #expect(try home.run("-q").status == 0, "\(name)")
    }
    declare(["/a"], lower: ["base"])
    let itself = ["--cache-dir", home.path("base")]
    let twin = try home.run(["doctor", "--json"] + itself)
    #expect(try lower(twin).first?.value.contains("cannot be below it") == true, "\(twin)")
    #expect(twin.status == 64)
    #expect(try home.run(["-q"] + itself).status == twin.status)
  }
}
