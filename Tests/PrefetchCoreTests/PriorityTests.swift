import Testing

@testable import PrefetchCore

/// Three segments with manifests on one host and the priorities 50, none and 1, in this order.
@Suite("Segments of several priorities") struct PriorityTests {
  static let names = ["fifty", "none", "one"]
  static let priorities = ["fifty": 50, "one": 1]

  static func url(_ text: String) throws -> WebURL { try WebURL("https://\(text)") }

  /// Returns the world; items are on their manifest's host by default.
  static func world(
    jobs: Int,
    items: Int = 3,
    of hosts: [String: String] = [:],
    manifestsOn manifestHosts: [String: String] = [:]
  ) throws -> TimedWorld {
    var world = TimedWorld()
    world.policy.concurrency = jobs
    for name in names {
      let manifest = try url("\(manifestHosts[name] ?? "a")/\(name).json")
      var segment = SegmentDeclaration(name: name, source: .remote(manifest))
      segment.priority = priorities[name]
      world.segments.append(segment)
      world.manifests[manifest.string] = try (0..<items).map {
        ManifestEntry(url: try url("\(hosts[name] ?? "a")/\(name)/\($0)"))
      }
    }
    return world
  }

  static func items(_ name: String, _ count: Int, on host: String = "a") -> [String] {
    (0..<count).map { "\(host)/\(name)/\($0)" }
  }

  static func whole(_ name: String, _ count: Int) -> [String] {
    ["a/\(name).json"] + items(name, count)
  }

  // MARK: One at a time

  struct Case: CustomTestStringConvertible {
    var name: String
    var replies: [TimedWorld.Reply] = [.success]
    var deadline: Int?
    var expected: [String]

    var testDescription: String { name }
  }

  static let others: [String] = whole("fifty", 3) + whole("none", 3)
  static let all: [String] = whole("one", 3) + others

  static let cases: [Case] = [
    Case(name: "a quick manifest", expected: all),
    Case(name: "a quick manifest and a deadline", deadline: 600, expected: all),
    Case(name: "a slow one", replies: [.slow(120)], expected: all),
    Case(name: "a slow one and a deadline", replies: [.slow(120)], deadline: 600, expected: all),
    Case(
      name: "one that is too slow for the deadline",
      replies: [.slow(120)],
      deadline: 60,
      expected: ["a/one.json"]
    ),
    Case(name: "one that is gone", replies: [.refusal(404)], expected: ["a/one.json"] + others),
    Case(
      name: "one that fails once: no other waits for it, and then it is first again",
      replies: [.refusal(500), .success],
      expected: ["a/one.json", "a/fifty.json"] + items("fifty", 3) + ["a/none.json", "a/none/0"]
        + ["a/none/1", "a/none/2"] + whole("one", 3)
    ),
    Case(
      name: "one whose host is shut for two minutes",
      replies: [.gate(120), .success],
      expected: ["a/one.json"] + all
    ),
    Case(
      name: "one whose host is shut for longer than the run",
      replies: [.gate(120), .success],
      deadline: 60,
      expected: ["a/one.json"]
    ),
  ]

  @Test(
    "A single transfer slot follows the order, whatever happens to the first manifest",
    arguments: cases
  )
  func alone(_ row: Case) throws {
    var world = try Self.world(jobs: 1)
    world.replies["https://a/one.json"] = row.replies
    world.policy.deadline = row.deadline.map { .seconds($0) }
    // A second's wait is shorter than the others' work.
    for path in Self.others { world.replies["https://\(path)"] = [.slow(0)] }
    let report = world.run()
    #expect(report != nil)
    #expect(world.log.map(\.path) == row.expected)
  }

  @Test("A deadline cuts off the end of the order", arguments: [1, 8], [3, 100])
  func deadline(jobs: Int, items: Int) throws {
    var world = try Self.world(jobs: jobs, items: items)
    // The deadline permits the first manifest with its items, and less than all of the second.
    let wave = min(jobs, 4)
    world.policy.deadline = .milliseconds(100 * (1 + (items + wave - 1) / wave) + 50)
    let ended = world.run()
    let report = try #require(ended)
    #expect(report.segments.map(\.state.rawValue) == ["deferred", "deferred", "current"])
    let requested = Set(world.log.map(\.path))
    #expect(requested.isSuperset(of: Self.items("one", items)))
    #expect(requested.isDisjoint(with: Self.items("none", items)))
  }

  // MARK: Several at once

  /// Returns the time of each path's first request, in milliseconds.
  static func times(_ world: TimedWorld) -> [String: Int] {
    Dictionary(world.log.map { ($0.path, $0.at) }) { first, _ in first }
  }

  @Test("A slow manifest holds back lower ranks on its host, and on no other host")
  func slow() throws {
    var world = try Self.world(jobs: 8, of: ["none": "b"], manifestsOn: ["none": "b"])
    world.replies["https://a/one.json"] = [.slow(120)]
    #expect(world.run() != nil)
    let times = Self.times(world)
    #expect(times["a/one.json"] == 0)
    #expect(times["b/none.json"] == 0)
    for path in Self.items("none", 3, on: "b") { #expect(times[path] == 100) }
    // The four places hold the three items and the next manifest.
    for path in Self.items("one", 3) + ["a/fifty.json"] { #expect(times[path] == 120_000) }
    for path in Self.items("fifty", 3) { #expect(times[path] == 120_100) }
  }

  @Test("A slow manifest holds back the hosts of its last generation, or all if unknown")
  func lastGeneration() throws {
    for (hosts, time) in [(["c"], 0), (["a", "b"], 60_000), (nil, 60_000), ([], 0)]
      as [([String]?, Int)]
    {
      var world = try Self.world(
        jobs: 8,
        of: ["none": "b"],
        manifestsOn: ["none": "b", "fifty": "d"]
      )
      world.replies["https://a/one.json"] = [.slow(60)]
      var record = SegmentRecord(key: SegmentKey(identity: "me", name: "one"))
      record.hosts = hosts
      world.records = [record]
      #expect(world.run() != nil)
      #expect(Self.times(world)["b/none.json"] == time, "\(hosts ?? ["many"])")
    }
  }

  @Test("A manifest ends its start barrier with its first failed attempt, also during retries")
  func failing() throws {
    var world = try Self.world(jobs: 8)
    world.replies["https://a/one.json"] = [.refusal(500), .slow(60)]
    #expect(world.run() != nil)
    let times = Self.times(world)
    #expect(times["a/fifty.json"] == 100)
    for path in Self.items("fifty", 3) + ["a/none.json"] { #expect(times[path] == 200) }
    for path in Self.items("none", 3) { #expect(times[path] == 300) }
    #expect(world.log.filter { $0.path == "a/one.json" }.count == 2)
  }

  @Test("A manifest whose host is closed for two minutes holds back no other host")
  func gated() throws {
    // Another response of the host closes it before the manifest is requested.
    var world = try Self.world(
      jobs: 8,
      of: ["fifty": "b", "none": "b"],
      manifestsOn: ["fifty": "b", "none": "b"]
    )
    world.policy.perHost = 1
    var first = SegmentDeclaration(name: "first", source: .remote(try Self.url("a/first.json")))
    first.priority = 1
    world.segments.insert(first, at: 0)
    world.manifests["https://a/first.json"] = []
    world.replies["https://a/first.json"] = [.gate(120), .success]
    world.segments[0].allowsEmpty = true
    var record = SegmentRecord(key: SegmentKey(identity: "me", name: "one"))
    record.hosts = ["b"]
    world.records = [record]
    #expect(world.run() != nil)
    let times = Self.times(world)
    #expect(times["a/first.json"] == 0)
    // The list held a start barrier only while its own request could still be sent.
    #expect(times["b/fifty.json"] == 100)
    #expect(times["a/one.json"].map { $0 >= 120_100 } == true)
    for path in Self.items("fifty", 3, on: "b") + Self.items("none", 3, on: "b") {
      #expect(times[path].map { $0 < 120_000 } == true, "\(path)")
    }
  }

  @Test("Equal priorities do not wait for each other, and a free slot follows the list")
  func equals() throws {
    var world = try Self.world(jobs: 2)
    for index in world.segments.indices { world.segments[index].priority = 7 }
    world.replies["https://a/fifty.json"] = [.slow(60)]
    #expect(world.run() != nil)
    let times = Self.times(world)
    #expect(times["a/none.json"] == 0)
    #expect(times["a/one.json"] == 100)
    #expect(times["a/none/0"] == 200)
    let order = world.log.map(\.path).filter { $0.contains("/none/") || $0.contains("/one/") }
    #expect(order == Self.items("none", 3) + Self.items("one", 3))
  }

  @Test(
    "A higher item starts next as soon as it is known, however many lower ones wait",
    arguments: [1, 4]
  )
  func late(jobs: Int) throws {
    var world = try Self.world(
      jobs: jobs,
      items: 200,
      manifestsOn: ["one": "m"]
    )
    world.replies["https://m/one.json"] = [.slow(2)]
    if jobs == 1 {
      // With a single place, a lower-ranked item must get it first.
      world.replies["https://m/one.json"] = [.refusal(500), .success]
    }
    #expect(world.run() != nil)
    let paths = world.log.map(\.path)
    let known = try #require(paths.lastIndex(of: "m/one.json"))
    let first = try #require(paths.firstIndex(of: "a/one/0"))
    let last = try #require(paths.firstIndex(of: "a/one/199"))
    #expect(last - first == 199)
    if jobs == 1 { #expect(first == known + 1) }
    #expect(paths[..<first].contains { $0.hasPrefix("a/fifty/") })
    #expect(paths[last...].contains { $0.hasPrefix("a/fifty/") })
  }

  // MARK: Items

  @Test(
    "An item's own priority ranks it within its segment, in a dry run too",
    arguments: [false, true]
  )
  func own(isPlan: Bool) throws {
    var world = try Self.world(jobs: 1, items: 5)
    if isPlan { world.mode = .plan }
    for name in Self.names {
      let manifest = "https://a/\(name).json"
      world.manifests[manifest]?[1].priority = 50
      world.manifests[manifest]?[4].priority = 2
    }
    #expect(world.run() != nil)
    let items = world.log.map(\.path).filter { !$0.hasSuffix(".json") }
    let expected = ["one", "fifty", "none"].flatMap { name in
      [4, 1, 0, 2, 3].map { "a/\(name)/\($0)" }
    }
    #expect(items == expected)
  }

  @Test("A shared item has the rank of the first of its segments")
  func shared() throws {
    var world = try Self.world(jobs: 1, items: 4)
    // The list that is known last ranks first, and requests two items of other segments.
    world.replies["https://a/one.json"] = [.refusal(500), .success]
    var urgent = ManifestEntry(url: try Self.url("a/none/3"))
    urgent.priority = 1
    world.manifests["https://a/one.json"]?.append(urgent)
    world.manifests["https://a/one.json"]?.append(ManifestEntry(url: try Self.url("a/fifty/3")))
    for path in Self.items("fifty", 3) { world.replies["https://\(path)"] = [.slow(1)] }
    world.policy.retries.delay = .milliseconds(100)
    let ended = world.run()
    let report = try #require(ended)
    #expect(report.totals.failed == 0)
    let paths = world.log.map(\.path)
    let known = try #require(paths.lastIndex(of: "a/one.json"))
    #expect(
      Array(paths[(known + 1)...].prefix(6)) == ["a/none/3"] + Self.items("one", 4) + ["a/fifty/3"]
    )
    #expect(Set(paths).count == paths.count - 1)
  }
}
