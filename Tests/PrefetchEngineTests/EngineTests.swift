import PrefetchCore
import PrefetchEngine
import PrefetchTestSupport
import Testing

@Suite struct EngineTests {
  typealias ExitStatus = PrefetchCore.ExitStatus

  @Test("A run makes the store equal to the declaration, and the next one fetches no body")
  func runAndRerun() throws {
    let bench = Bench(["/m.json": Bench.manifest(["a", "b"]), "/a": .init("A"), "/b": .init("B")])
    let first = try bench.run([("s", ["m.json"])])
    #expect(ExitStatus(first) == .ok)
    #expect(first.totals.fetched == 2)
    #expect(first.verdict == .newData)
    #expect(try bench.contents == ["a": "A", "b": "B"])

    let second = try bench.run([("s", ["m.json"])])
    #expect(second.totals.revalidated == 2)
    #expect(second.totals.notModified == 3)
    #expect(second.totals.bytesBody == 0)
    #expect(second.segments.map(\.manifest.status) == [.notModified])
    #expect(second.verdict == .noData)
    #expect(bench.store.staging.bodyCount == 0)
  }

  @Test("Only changed bodies are fetched again")
  func update() throws {
    let bench = Bench(["/a": .init("A"), "/b": .init("B")])
    _ = try bench.run([("s", ["a", "b"])])
    bench.site["/a"] = .init("A2")
    let report = try bench.run([("s", ["a", "b"])])
    #expect(report.totals.updated == 1)
    #expect(report.totals.revalidated == 1)
    #expect(try bench.contents == ["a": "A2", "b": "B"])
  }

  @Test("A fresh item costs no request")
  func fresh() throws {
    let headers = [HeaderField("Cache-Control", "max-age=60")]
    let bench = Bench(["/a": .init("A", headers: headers)])
    _ = try bench.run([("s", ["a"])])
    #expect(try bench.run([("s", ["a"])]).totals.kept == 1)
    #expect(bench.requests == [])
    bench.clock.advance(by: .seconds(61))
    #expect(try bench.run([("s", ["a"])]).totals.revalidated == 1)
  }

  @Test("An unchanged manifest that has expired is noticed")
  func expiredManifest() throws {
    let until = Timestamp.format(Bench([:]).clock.now().wall + .seconds(60))
    let manifest = """
      {"format": "prefetch-manifest", "version": 1, "expires": "\(until)", "items": [
        {"url": "a", "ttl": "immutable"}
      ]}
      """
    let type = HeaderField("Content-Type", "application/json")
    let bench = Bench(["/m.json": .init(manifest, headers: [type]), "/a": .init("A")])
    #expect(ExitStatus(try bench.run([("s", ["m.json"])])) == .ok)
    #expect(ExitStatus(try bench.run([("s", ["m.json"])])) == .ok)
    bench.clock.advance(by: .seconds(61))
    let report = try bench.run([("s", ["m.json"])])
    #expect(report.segments.map(\.manifest.status) == [.refused])
    #expect(report.segments.first?.manifest.failure?.code == .manifestGuard)
  }

  @Test("An unreachable host costs nothing that is stored", arguments: [true, false], [nil, 1])
  func unreachable(listsKept: Bool, staleDays: Int?) throws {
    let names = (0..<600).map { "f\($0)" }
    let pages = names.map { ("/" + $0, Site.Page("body of " + $0)) }
    let bench = Bench(
      Dictionary(uniqueKeysWithValues: pages + [("/m.json", Bench.manifest(names))])
    )
    bench.policy.perHost = 2
    bench.policy.retries.count = 0
    bench.policy.maximumStale = .seconds(86_400 * (staleDays ?? 0))
    bench.listsKept = listsKept
    _ = try bench.run([("s", ["m.json"])])
    let before = try bench.contents
    let missingOrigin = FakeTransport(staging: bench.store) { request in
      request.url.path == "/m.json"
        ? .response(status: 304, headers: [], body: [])
        : .failure(Failure(.connect, "refused", isTransient: true))
    }
    let manifest = SegmentDeclaration.Source.remote(try WebURL("https://a.example/m.json"))
    let report = try bench.run(
      [SegmentDeclaration(name: "s", source: manifest)],
      over: missingOrigin
    )
    #expect(try bench.contents == before)
    #expect(report.totals.failed == (staleDays == nil ? 600 : 0))
    #expect(report.totals.kept == (staleDays == nil ? 0 : 600))
  }

  @Test("A lost object is fetched again without a condition")
  func lost() throws {
    let bench = Bench(["/a": .init("A"), "/b": .init("B")])
    _ = try bench.run([("s", ["a", "b"])])
    bench.store.lost = Set(bench.store.records.prefix(1).compactMap(\.digest))
    let report = try bench.run([("s", ["a", "b"])])
    #expect(report.totals.fetched == 1)
    #expect(try bench.contents == ["a": "A", "b": "B"])
    bench.store.lost = Set(bench.store.records.prefix(1).compactMap(\.digest))
    bench.site["/a"] = nil
    let failing = try bench.run([("s", ["a", "b"])])
    #expect(failing.storeFailure == nil)
    #expect(ExitStatus(failing) == .incomplete)
  }

  @Test(
    "An undeclared item is removed unless another segment or configuration holds it"
  )
  func removal() throws {
    let bench = Bench(["/a": .init("A"), "/b": .init("B"), "/c": .init("C")])
    _ = try bench.run([("s", ["a", "b", "c"]), ("t", ["b"])])
    bench.identity = "you"
    _ = try bench.run([("s", ["c"])])
    bench.identity = "me"
    let report = try bench.run([("s", []), ("t", ["b"])])
    #expect(report.totals.removed == 1)
    #expect(report.items.filter { $0.action == .remove }.map(\.id) == ["a"])
    #expect(try bench.contents == ["b": "B", "c": "C"])
    #expect(try bench.run(segments: [], forgetting: ["s", "t"]).totals.removed == 1)
    #expect(try bench.contents == ["c": "C"])
  }

  @Test("An entry that becomes invalid fails alone, and its stored body stays")
  func rejectedEntry() throws {
    let bench = Bench(["/m.json": Bench.manifest(["a", "b"]), "/a": .init("A"), "/b": .init("B")])
    _ = try bench.run([("s", ["m.json"])])
    bench.site["/m.json"] = .init(
      #"{"format": "prefetch-manifest", "version": 1, "items": ["#
        + #"{"url": "a", "id": "a"}, {"url": "b", "size": "x"}]}"#
    )
    let report = try bench.run([("s", ["m.json"])])
    #expect(report.items.compactMap(\.failure?.code) == [.manifestInvalid])
    #expect(report.totals.removed == 0)
    #expect(ExitStatus(report) == .incomplete)
    #expect(try bench.contents == ["a": "A", "b": "B"])
  }

  @Test("A run of one segment removes nothing of the others")
  func selection() throws {
    let bench = Bench(["/a": .init("A"), "/b": .init("B")])
    _ = try bench.run([("s", ["a"]), ("t", ["b"])])
    #expect(try bench.run([("t", [])]).totals.removed == 1)
    #expect(try bench.contents == ["a": "A"])
  }

  @Test(
    "A refused manifest leaves the last good generation as it is",
    arguments: [
      Bench.manifest([]), Bench.manifest(["x1"], generated: "2020-01-01T00:00:00Z"),
      Site.Page("<html>Sign in</html>"),
      Site.Page("{", headers: [HeaderField("Content-Type", "application/json")]),
      Site.Page(Array("gone".utf8), status: 404),
    ]
  )
  func refused(page: Site.Page) throws {
    let names = (0..<12).map { "x\($0)" }
    var pages = Dictionary(uniqueKeysWithValues: names.map { ("/\($0)", Site.Page($0)) })
    pages["/m.json"] = Bench.manifest(names, generated: "2026-01-01T00:00:00Z")
    let bench = Bench(pages)
    _ = try bench.run([("s", ["m.json"])])
    let before = try bench.contents
    #expect(before.count == 12)
    bench.site["/m.json"] = page
    let report = try bench.run([("s", ["m.json"])])
    #expect(report.segments.map(\.state) == [.incomplete])
    #expect(ExitStatus(report) == .incomplete)
    #expect(try bench.contents == before)
    #expect(try bench.store.segments().map(\.state) == [.incomplete])
    #expect(bench.store.staging.bodyCount == 0)

    bench.site["/m.json"] = pages["/m.json"]
    #expect(ExitStatus(try bench.run([("s", ["m.json"])])) == .ok)
    #expect(try bench.store.segments().map(\.state) == [.current])
  }

  @Test("A plan writes nothing and sends HEAD only for what it cannot know")
  func plan() throws {
    let fresh = [HeaderField("Cache-Control", "max-age=60")]
    let bench = Bench(["/a": .init("A"), "/b": .init("B"), "/c": .init("C", headers: fresh)])
    bench.listsKept = true
    _ = try bench.run([("s", ["a", "b", "c"])])
    bench.site["/a"] = .init("A2")
    bench.site["/new"] = .init("N")
    let commits = bench.store.commitCount
    let report = try bench.run([("s", ["a", "c", "new", "missing"])], mode: .plan)
    #expect(bench.requests == ["HEAD /a", "HEAD /missing", "HEAD /new"])
    #expect(bench.store.commitCount == commits)
    let actions = Dictionary(uniqueKeysWithValues: report.items.map { ($0.id, $0.action) })
    #expect(
      actions == ["a": .update, "b": .remove, "c": .keep, "new": .fetch, "missing": .fail]
    )
    #expect(ExitStatus(report) == .incomplete)

    bench.policy.probesItems = false
    let unprobed = try bench.run([("s", ["a", "new"])], mode: .plan)
    #expect(bench.requests == [])
    #expect(unprobed.items.map(\.action).sorted { $0.rawValue < $1.rawValue }.contains(.revalidate))
  }

  @Test("`get` fetches into the cache and into no segment")
  func get() throws {
    let bench = Bench(["/a": .init("A")])
    #expect(ExitStatus(try bench.run([("s", ["a"])], mode: .get)) == .ok)
    #expect(try bench.contents == ["a": "A"])
    #expect(try bench.store.segments().isEmpty)
    #expect(ExitStatus(try bench.run([("s", ["none"])], mode: .get)) == .nothing)
  }

  @Test("An interruption keeps finished items and starts no others")
  func interruption() throws {
    let bench = Bench([:])
    bench.policy.concurrency = 2
    let transport = FakeTransport(staging: bench.store) { request in
      request.url.path == "/a" ? .response(status: 200, headers: [], body: [65]) : .never
    }
    transport.onWait = { [stop = bench.stop] _ in stop.pending = 15 }
    let urls = try ["a", "b", "c", "d"].map { try WebURL("https://a.example/\($0)") }
    let segment = SegmentDeclaration(name: "s", source: .inline(urls.map(Bench.entry)))
    let report = try bench.run([segment], over: transport)
    #expect(ExitStatus(report) == .terminated)
    #expect(try bench.contents == ["a": "A"])
    #expect(transport.requests.map(\.url.path) == ["/a", "/b", "/c"])
    #expect(transport.cancelled.count == 2)
    #expect(report.totals.items == 4)
    #expect(report.totals.fetched == 1)
  }

  @Test("A store that cannot write ends the run with io and is not used again")
  func storeFailure() throws {
    let bench = Bench(["/m.json": Bench.manifest(["a", "b"]), "/a": .init("A"), "/b": .init("B")])
    bench.store.failsFromCommit = 1
    let report = try bench.run([("s", ["m.json"])])
    #expect(ExitStatus(report) == .io)
    #expect(report.storeFailure?.code == .diskFull)
    #expect(bench.store.commitCount == 1)
    #expect(bench.store.staging.bodyCount == 0)
    #expect(try bench.contents == [:])
  }

  @Test("Segments with the same URL share its transfer and both report it")
  func shared() throws {
    let bench = Bench(["/a": .init("A", headers: [HeaderField("Cache-Control", "max-age=60")])])
    bench.listsKept = true
    for expected in [["GET /a"], []] {
      let report = try bench.run([("s", ["a"]), ("t", ["a"])])
      #expect(bench.requests == expected)
      #expect(report.totals.items == 1)
      #expect(report.items.map(\.segments) == [["s", "t"]])
      #expect(report.segments.map(\.totals.items) == [1, 1])
    }
    #expect(try bench.run([("s", []), ("t", ["a"])]).totals.removed == 0)
    #expect(try bench.contents == ["a": "A"])
  }

  @Test("A digest that one of two segments declares is never ignored")
  func sharedDigest() throws {
    let bench = Bench(["/a": .init("A", headers: [HeaderField("Cache-Control", "max-age=60")])])
    _ = try bench.run([("s", ["a"])])
    let unpinned = Bench.entry(try WebURL("https://a.example/a"))
    var pinned = unpinned
    pinned.digests = [ExpectedDigest(algorithm: .sha256, bytes: [UInt8](repeating: 7, count: 32))]
    let report = try bench.run(segments: [
      SegmentDeclaration(name: "s", source: .inline([unpinned])),
      SegmentDeclaration(name: "t", source: .inline([pinned])),
    ])
    #expect(ExitStatus(report) == .trust)
    #expect(try bench.contents == ["a": "A"])
  }

  /// SHA-512 of `old`.
  private static let oldStrongDigest =
    "a6d96fa05fb243a13082a21195ebd126fc42f2f158cf5e0042e4f956b60d7edb"
    + "4b363bcd41ce433b33b7024303d34f0ecaad5071841bd3ada3e99d68f00b89b2"

  @Test("A list that comes late holds its SHA-512 against a body that another segment has fetched")
  func lateStrongDigest() throws {
    let type = [HeaderField("Content-Type", "application/json")]
    let list = """
      {"format": "prefetch-manifest", "version": 1, "items": [
        {"url": "/x", "id": "x", "digests": {"sha512": "\(Self.oldStrongDigest)"}}
      ]}
      """
    let bench = Bench(["/m.json": .init(list, headers: type), "/x": .init("old")])
    #expect(ExitStatus(try bench.run([("first", ["m.json"])])) == .ok)
    bench.site["/x"] = .init("new")
    // Redirects make the list come after the body, which the first segment may take.
    for hop in 0..<4 {
      let next = hop == 3 ? "/m.json" : "/hop\(hop + 1).json"
      bench.site["/hop\(hop).json"] = Site.Page(
        [],
        headers: [HeaderField("Location", next)],
        status: 302
      )
    }
    let report = try bench.run([("plain", ["x"]), ("pinned", ["hop0.json"])])
    #expect(report.segments.map(\.state) == [.current, .incomplete])
    #expect(ExitStatus(report) == .trust)
  }

  @Test("A busy server is requested four times, and then nothing is available")
  func busy() throws {
    let bench = Bench([:])
    let transport = FakeTransport(staging: bench.store) { _ in
      .response(status: 503, headers: [], body: [])
    }
    let segment = SegmentDeclaration(
      name: "s",
      source: .inline([Bench.entry(try WebURL("https://a.example/a"))])
    )
    let report = try bench.run([segment], over: transport)
    #expect(transport.requests.count == 4)
    #expect(report.totals.retries == 3)
    #expect(ExitStatus(report) == .unavailable)
  }
}
