import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import Testing

@Suite("Content that is removed during other work")
struct RoomMeetingTests {
  private static let fresh = [HeaderField("Cache-Control", "immutable, max-age=31536000")]

  private static func text(_ letter: Character, _ size: Int) -> String {
    String(repeating: letter, count: size)
  }

  private static func inline(
    _ name: String,
    _ paths: [String],
    priority: Int? = nil,
    size: Int64? = nil
  ) throws -> SegmentDeclaration {
    let entries = try paths.map { path in
      var entry = Bench.entry(try WebURL("https://a.example/\(path)"))
      entry.size = size
      return entry
    }
    var segment = SegmentDeclaration(name: name, source: .inline(entries))
    segment.priority = priority
    return segment
  }

  @Test("An evicted item of a quiet segment is missed and returns when there is room")
  func quiet() throws {
    let manifest = Bench.manifest(["a"])
    let bench = Bench([
      "/m.json": manifest, "/a": .init(Self.text("a", 60), headers: Self.fresh),
      "/b": .init(Self.text("b", 60), headers: Self.fresh),
    ])
    let limit = Int64(manifest.body.count) + 100
    bench.policy.room.limit = limit
    let url = try WebURL("https://a.example/m.json")
    let low = SegmentDeclaration(name: "low", source: .remote(url))
    _ = try bench.run(segments: [low])
    _ = try bench.run(segments: [low])
    #expect(bench.requests == ["GET /m.json"])

    let high = try Self.inline("high", ["b"], priority: 1, size: 60)
    for mode in [RunRequest.Mode.plan, .run] {
      let report = try bench.run(segments: [low, high], mode: mode)
      let reported = report.items.first { $0.id == "a" }
      #expect(reported?.failure?.code == .cacheFull, "\(mode)")
      #expect(reported?.segments == ["low"], "\(mode)")
      #expect(report.totals.failed == 1 && report.totals.kept == 0, "\(mode)")
      #expect(report.segments.first { $0.name == "low" }?.state == .failed, "\(mode)")
    }
    #expect(try bench.contents.keys.sorted() == ["b"])

    bench.policy.room.limit = limit + 100
    _ = try bench.run(segments: [low, high])
    #expect(try bench.contents.keys.sorted() == ["a", "b"])
  }

  @Test("An evicted item is fetched where it was about to be adopted")
  func adopted() throws {
    let shared = Self.text("x", 60)
    let bench = Bench([
      "/a": .init(Self.text("a", 60)), "/b": .init(Self.text("b", 60)), "/c": .init("c"),
      "/d": .init("d"), "/e": .init("e"), "/x": .init(shared),
    ])
    bench.policy.concurrency = 1
    _ = try bench.run(segments: [Self.inline("new", ["c", "b"]), Self.inline("old", ["x"])])

    bench.policy.room.limit = 130
    bench.site["/b"] = .init(shared)
    bench.site["/c"] = .init("C")
    var new = try Self.inline("new", ["c", "a", "d", "e"])
    var pinned = Bench.entry(try WebURL("https://a.example/b"))
    pinned.digests = [
      ExpectedDigest(algorithm: .sha256, bytes: SHA256.digest(of: Array(shared.utf8)).bytes)
    ]
    if case .inline(let entries) = new.source { new.source = .inline(entries.value + [pinned]) }
    let transport = FakeTransport(staging: bench.store) {
      [site = bench.site, clock = bench.clock] in
      clock.advance(by: .seconds(2))
      let page = site.page(
        for: LoopbackRequest(
          method: "GET",
          target: $0.url.path,
          headers: HeaderBlock($0.headers)
        )
      )
      return .response(status: page.status, headers: page.headers, body: page.body)
    }
    let report = try bench.run([new, Self.inline("old", ["x"])], over: transport)
    #expect(report.storeFailure == nil)
    #expect(try bench.contents["b"] == shared)
  }

  @Test("A cache that cannot be counted evicts everything that it may at worst")
  func uncounted() throws {
    let bench = Bench([
      "/a": .init(Self.text("a", 60)), "/b": .init(Self.text("b", 60)),
    ])
    bench.policy.room.limit = 100
    bench.store.stockFailure = Failure(.storeDamaged, "it cannot be counted")
    bench.store.failsFromCommit = 50
    let report = try bench.run([("s", ["a", "b"])])
    #expect(report.storeFailure == nil)
    #expect(report.items.contains { $0.failure?.code == .cacheFull })
    #expect(bench.store.records.compactMap(\.digest).count <= 1)
  }

  @Test("An item that another configuration subscribes to in the meantime stays, and the run ends")
  func resubscribed() throws {
    let bench = Bench([
      "/a": .init(Self.text("a", 60)), "/b": .init(Self.text("b", 60)),
    ])
    bench.identity = "you"
    _ = try bench.run([("theirs", ["b"])])
    var record = try #require(try bench.store.segments().first)
    record.state = .unsubscribed
    _ = try bench.store.commit([.segment(record, manifest: nil)])

    bench.identity = "me"
    bench.policy.room.limit = 100
    bench.store.failsFromCommit = 50
    record.state = .current
    let transport = FakeTransport(staging: bench.store) {
      [site = bench.site, store = bench.store] in
      _ = try? store.commit([.segment(record, manifest: nil)])
      let page = site.page(
        for: LoopbackRequest(method: "GET", target: $0.url.path, headers: HeaderBlock($0.headers))
      )
      return .response(status: page.status, headers: page.headers, body: page.body)
    }
    let report = try bench.run([Self.inline("mine", ["a"])], over: transport)
    #expect(report.storeFailure == nil)
    #expect(report.items.first?.failure?.code == .cacheFull)
    #expect(try bench.contents.keys.sorted() == ["b"])
  }

  @Test("An item is not evicted for a manifest that replaces another")
  func manifest() throws {
    let manifest = Bench.manifest(["a"], generated: "2026-01-01T00:00:00Z")
    let bench = Bench([
      "/m.json": manifest, "/a": .init(Self.text("a", 200), headers: Self.fresh),
    ])
    bench.policy.room.limit = Int64(manifest.body.count) + 205
    _ = try bench.run([("s", ["m.json"])])
    #expect(try bench.contents.keys.sorted() == ["a"])

    bench.site["/m.json"] = Bench.manifest(["a"], generated: "2026-01-02T00:00:00Z")
    let report = try bench.run([("s", ["m.json"])])
    #expect(report.totals.failed == 0)
    #expect(report.segments.first?.manifest.failure == nil)
    #expect(try bench.contents.keys.sorted() == ["a"])
  }

  @Test("An eviction for the disk is counted and reported as one for the limit")
  func disk() throws {
    let bench = Bench([
      "/a": .init(Self.text("a", 60), headers: Self.fresh), "/b": .init(Self.text("b", 60)),
    ])
    _ = try bench.run(segments: [Self.inline("low", ["a"])])
    bench.policy.room.minimumFree = 100
    bench.store.disk = DiskSpace(free: 110, size: 1_000)
    let high = try Self.inline("high", ["b"], priority: 1, size: 60)
    let report = try bench.run(segments: [high, Self.inline("low", ["a"])])
    let reported = report.items.first { $0.id == "a" }
    #expect(reported?.failure?.message.contains("cache.size") == false)
    #expect(reported?.failure?.message.contains("min_free") == true)
    #expect(report.totals.failed == 1 && report.totals.kept == 0 && report.totals.fetched == 1)
  }

  @Test("An evicted item is counted once where its list failed")
  func lost() throws {
    let manifest = Bench.manifest(["a"])
    let bench = Bench([
      "/m.json": manifest, "/a": .init(Self.text("a", 60)), "/b": .init(Self.text("b", 60)),
    ])
    _ = try bench.run([("low", ["m.json"])])
    bench.site["/m.json"] = nil
    bench.policy.room.limit = Int64(manifest.body.count) + 100
    let low = SegmentDeclaration(
      name: "low",
      source: .remote(try WebURL("https://a.example/m.json"))
    )
    let high = try Self.inline("high", ["b"], priority: 1, size: 60)
    for mode in [RunRequest.Mode.plan, .run] {
      let report = try bench.run(segments: [high, low], mode: mode)
      #expect(report.totals.kept == 0 && report.totals.failed == 1, "\(mode)")
      #expect(report.totals.items == 2, "\(mode)")
      #expect(report.segments.last?.totals.failed == 1, "\(mode)")
    }
    #expect(try bench.contents.keys.sorted() == ["b"])
  }

  @Test("Evictions for a lowered limit end as soon as it holds, whatever else left")
  func lowered() throws {
    let bench = Bench([
      "/a": .init(Self.text("a", 60)), "/b": .init(Self.text("b", 60)),
      "/c": .init(Self.text("c", 60)),
    ])
    var segment = try Self.inline("s", ["a", "b", "c"])
    segment.onGone = .remove
    _ = try bench.run(segments: [segment])
    bench.site["/c"] = nil
    bench.policy.room.limit = 70
    _ = try bench.run(segments: [segment])
    #expect(try bench.contents.keys.sorted() == ["a"])
  }

  @Test("An item that became smaller leaves its room to others")
  func shrunk() throws {
    let bench = Bench(["/a": .init(Self.text("a", 90)), "/b": .init(Self.text("b", 50))])
    _ = try bench.run(segments: [Self.inline("s", ["a"])])
    bench.policy.room.limit = 100
    bench.site["/a"] = .init(Self.text("A", 40))
    let report = try bench.run(segments: [Self.inline("s", ["a", "b"])])
    #expect(report.totals.failed == 0 && report.totals.fetched == 1)
    #expect(try bench.contents.keys.sorted() == ["a", "b"])
  }

  @Test("A body of unknown size is deferred where it may use the disk's reserved space")
  func unknownOnDisk() throws {
    let bench = Bench(["/a": .init(Self.text("a", 10)), "/b": .init(Self.text("b", 500))])
    _ = try bench.run(segments: [Self.inline("s", ["a"])])
    bench.policy.room.minimumFree = 100
    bench.store.disk = DiskSpace(free: 110, size: 1_000)
    bench.site["/a"] = .init(Self.text("A", 400))
    let report = try bench.run(segments: [Self.inline("s", ["a", "b"])])
    #expect(report.totals.deferred == 2 && report.totals.failed == 0)
    for item in report.items {
      #expect(item.deferral?.rule == .freeDisk)
      #expect(item.reason.contains("min_free"))
    }
    #expect(try bench.contents == ["a": Self.text("a", 10)])
  }

  @Test("A body that is larger than declared is corrupted, and not too large for the cache")
  func understated() throws {
    let bench = Bench(["/a": .init(Self.text("a", 90))])
    bench.policy.room.limit = 50
    let report = try bench.run(segments: [Self.inline("s", ["a"], size: 20)])
    #expect(report.items.first?.failure?.code == .corrupted)
    #expect(report.items.first?.failure?.message == "it has 90 bytes, but 20 are declared")
  }
}
