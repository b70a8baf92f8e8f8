import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite(
  "A disk that fills up",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Nginx.isInstalled, "needs nginx"),
  .enabled(if: SmallDisk.isAvailable, "needs the right to mount")
)
struct FullDiskTests {
  private static let roomy = 64 << 20

  private var home: Home
  private let nginx: Nginx
  private let disk: SmallDisk
  private let noise: [UInt8]

  init() throws {
    home = try Home()
    nginx = try Nginx()
    disk = try #require(SmallDisk(bytes: Self.roomy, at: home.path("disk")))
    home.variables["XDG_CACHE_HOME"] = disk.path
    var random = SeededRandom(1)
    noise = (0..<(1 << 17)).flatMap { _ in
      unsafe withUnsafeBytes(of: random.next()) { unsafe Array($0) }
    }
  }

  private var cache: String {
    "\(disk.path)/prefetch"
  }

  private func declare(_ count: Int, more: String = "cache: { min_free: 0 }") {
    let urls = (0..<count).map { nginx.url("f\($0)") }.joined(separator: ", ")
    home.configure("segments: [{ name: basics, urls: [\(urls)] }]\n\(more)")
  }

  private func publish(_ number: Int, _ random: inout SeededRandom) {
    let length = Int.random(in: 0...200_000, using: &random)
    let start = Int.random(in: 0...(noise.count - length), using: &random)
    nginx.write(Array(noise[start..<(start + length)]), to: "f\(number)")
  }

  @Test("A full disk leaves a published tree as it was or partly new, and space completes it")
  func publishedTree() throws {
    var random = SeededRandom(5)
    let tree = try #require(SmallDisk(bytes: Self.roomy, at: home.path("trees")))
    let urls = (0..<12).map { nginx.url("f\($0)") }.joined(separator: ", ")
    for rules in ["link: copy", "link: copy, atomic: true"] {
      for number in 0..<12 { publish(number, &random) }
      let folder = home.path("trees/\(rules.count)")
      home.configure(
        """
        segments:
          - { name: site, urls: [\(urls)], publish: { dir: \(folder), layout: basename, \(rules) } }
        cache: { min_free: 0 }
        """
      )
      #expect(try home.run("-q").status == 0)
      let before = bodies(below: folder)
      for number in 0..<12 { publish(number, &random) }
      try #require(tree.resize(bytes: tree.usage + 100_000))
      let full = try home.run("--revalidate")
      #expect(full.status == 74, "\(full)")
      #expect(full.errors.contains("No space left on device"))
      let now = bodies(below: folder)
      #expect(Set(now.keys) == Set(before.keys))
      if rules.contains("atomic") { #expect(now == before) }
      for (name, bytes) in now where bytes != before[name] {
        #expect(bytes == FileTree.read("\(nginx.files)/\(name)"))
      }
      try #require(tree.resize(bytes: Self.roomy))
      #expect(try home.run("-q").status == 0)
      for (name, bytes) in bodies(below: folder) {
        #expect(bytes == FileTree.read("\(nginx.files)/\(name)"))
      }
    }
  }

  private func bodies(below folder: String) -> [String: [UInt8]] {
    var bodies: [String: [UInt8]] = [:]
    for name in FileTree.names(folder) { bodies[name] = FileTree.read("\(folder)/\(name)") }
    return bodies
  }

  /// Bodies by their URLs.
  private func held() throws -> [String: [UInt8]] {
    guard FileTree.exists("\(cache)/index.sqlite") else { return [:] }
    var held: [String: [UInt8]] = [:]
    for item in try home.run("list", "--json").json().list("items") {
      guard let url = item.text("url"), let path = item.text("path") else { continue }
      held[url] = FileTree.read(path) ?? []
    }
    return held
  }

  private func served(_ count: Int) -> [String: [UInt8]] {
    var served: [String: [UInt8]] = [:]
    for number in 0..<count {
      served[nginx.url("f\(number)")] = FileTree.read("\(nginx.files)/f\(number)")
    }
    return served
  }

  @Test("A full disk ends the run with 74 and costs nothing that was stored")
  func fills() throws {
    var home = home
    var random = SeededRandom(11)
    for round in 0..<Binary.rounds {
      try #require(disk.resize(bytes: Self.roomy))
      try #require(home.tool("rm", "-rf", cache, "\(disk.path)/state").status == 0)
      home.variables["XDG_STATE_HOME"] =
        Bool.random(using: &random) ? disk.path + "/state" : home.path("state\(round)")
      for number in 0..<30 { publish(number, &random) }
      // Some disks are full from the first file on.
      if round % 5 != 0 {
        declare(12)
        let run = try home.run("-q")
        try #require(run.status == 0, "round \(round): \(run)")
      }
      let before = try held()
      for number in 0..<12 where Bool.random(using: &random) { publish(number, &random) }
      declare(30)
      try shrink(round, held: before, &random)
      let run = try home.run("--json")
      #expect(run.status == 74, "round \(round): \(run)")
      #expect(try run.json().number("exit.code") == Int(run.status), "round \(round)")
      try checkNothingLost(before, in: home, "round \(round)")

      try #require(disk.resize(bytes: Self.roomy))
      let next = try home.run("--json")
      #expect(next.status == 0, "round \(round): \(next)")
      let isComplete = try held() == served(30)
      #expect(isComplete, "round \(round)")
      #expect(try home.run("verify").status == 0, "round \(round)")
      #expect(FileTree.names("\(cache)/partial").isEmpty, "round \(round)")
    }
  }

  /// Leaves less space or fewer inodes than the run needs.
  ///
  /// At the end all bodies must fit at once, together with the other files.
  private func shrink(
    _ round: Int,
    held: [String: [UInt8]],
    _ random: inout SeededRandom
  ) throws {
    let needed = Set(served(30).values)
    if round % 4 == 3 {
      let others = disk.fileCount - Set(held.values).count
      let most = max(disk.fileCount, others + needed.count - 1)
      let files = Int.random(in: disk.fileCount...most, using: &random)
      try #require(disk.resize(bytes: Self.roomy, files: files))
    } else {
      let bytes = needed.map(\.count).reduce(0, +)
      // Less a page, which sizes are rounded up to.
      let most = max(disk.usage, bytes - 4_096)
      try #require(disk.resize(bytes: Int.random(in: disk.usage...most, using: &random)))
    }
  }

  private func checkNothingLost(
    _ before: [String: [UInt8]],
    in home: Home,
    _ what: String
  ) throws {
    if FileTree.exists("\(cache)/index.sqlite") {
      let verify = try home.run("verify")
      #expect(verify.status == 0, "\(what): \(verify)")
    }
    let (after, served) = (try held(), served(30))
    for (url, body) in before {
      let now = try #require(after[url], "\(what) lost \(url)")
      let isSound = now == body || now == served[url]
      #expect(isSound, "\(what): \(url)")
    }
  }

  @Test("Small items are stored beside one that never fits, and a full disk still gets a report")
  func smallAndLarge() throws {
    var home = home
    let small = try #require(SmallDisk(bytes: 3 << 20, at: home.path("small")))
    home.variables["XDG_CACHE_HOME"] = small.path
    let names = (0..<8).map { "f\($0)" }
    for (number, name) in names.enumerated() {
      nginx.write(Array(noise[(number * 20_000)..<((number + 1) * 20_000)]), to: name)
    }
    nginx.write((0..<10).flatMap { _ in noise }, to: "large")
    let rules = "cache: { min_free: 0 }\nnetwork: { retries: { items: 0, lookups: 0 } }"
    let declare = { (names: [String]) in
      let urls = names.map { "\"\(nginx.url($0))\"" }.joined(separator: ", ")
      home.configure("segments: [{ name: basics, urls: [\(urls)] }]\n\(rules)")
    }
    for round in 0..<10 {
      home.variables["XDG_STATE_HOME"] = round % 2 == 0 ? small.path : home.path("state\(round)")
      try #require(home.shell("rm -rf \(small.path)/*").status == 0)
      declare(["large"] + names)
      let run = try home.run("--json")
      #expect(run.status == 74, "round \(round): \(run)")
      #expect(try run.totals()["fetched"] == 8, "round \(round): \(run)")
      #expect(try run.json().text("segments.0.state") == "incomplete", "round \(round)")
      // The disk has no room left.
      try #require(home.shell("dd if=/dev/zero of=\(small.path)/filler bs=4096").status != 0)
      let full = try home.run("--json", "--refetch")
      #expect(full.status == 74, "round \(round): \(full)")
      #expect(try full.json().text("schema") == "prefetch-report/1", "round \(round)")
      #expect(try full.json().number("exit.code") == 74, "round \(round)")
      try #require(home.tool("rm", "\(small.path)/filler").status == 0)
      #expect(try home.run("verify").status == 0, "round \(round)")
      for name in names {
        let got = try home.run("get", "--offline", "--max-stale", "-o", "got", nginx.url(name))
        let isSame = FileTree.read(home.path("got")) == FileTree.read("\(nginx.files)/\(name)")
        #expect(got.status == 0 && isSame, "round \(round): \(got)")
      }
      declare(names)
      #expect(try home.run("-q").status == 0, "round \(round)")
    }
  }

  @Test("Items that would take the last free bytes are deferred and reported")
  func keepsFree() throws {
    var random = SeededRandom(12)
    for number in 0..<6 { publish(number, &random) }
    declare(6, more: "")
    // On so small a disk a tenth stays free: 6.7 MB instead of a gigabyte.
    let fill = "dd if=/dev/zero of=\(disk.path)/filler bs=1048576 count=60"
    try #require(home.shell(fill).status == 0)
    let run = try home.run("--json", "--items", "all")
    #expect(run.status == 75, "\(run)")
    let report = try run.json()
    #expect(report.number("totals.deferred") == 6)
    #expect(report.list("items").allSatisfy { $0.text("deferred.rule") == "free_disk" })
    let reasons = report.list("items").compactMap { $0.text("reason") }
    let share = "\(SizeText.format(Int64(Self.roomy / 10))) must stay free"
    #expect(reasons.allSatisfy { $0.hasPrefix("`cache.min_free`: ") && $0.contains(share) })
    #expect(run.errors.contains("`cache.min_free`") && run.errors.contains(share), "\(run)")
    #expect(try home.run("config", "--json").json().at("config.cache.min_free")?.text == nil)
    #expect(FileTree.objects(cache).isEmpty)
    #expect(try home.run("verify").status == 0)
    declare(6)
    #expect(try home.run("-q").status == 0)
    try #require(home.tool("rm", "\(disk.path)/filler").status == 0)
    declare(6, more: "")
    #expect(try home.run("-q", "--refetch").status == 0)
    let isComplete = try held() == served(6)
    #expect(isComplete)
  }
}
