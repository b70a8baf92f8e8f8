import PrefetchCore
import PrefetchCrypto
import PrefetchEngine
import PrefetchTestSupport
import Testing

@Suite("An item with several sources")
struct SourceTests {
  typealias ExitStatus = PrefetchCore.ExitStatus

  private func segment(_ alternates: [String], digest: String? = nil) throws -> SegmentDeclaration {
    var entry = Bench.entry(try WebURL("https://a.example/x"))
    entry.alternates = try alternates.map { try WebURL($0) }
    if let digest {
      let bytes = SHA256.digest(of: Array(digest.utf8)).bytes
      entry.digests = [ExpectedDigest(algorithm: .sha256, bytes: bytes)]
    }
    return SegmentDeclaration(name: "s", source: .inline([entry]))
  }

  private func ok(_ text: String, _ headers: [HeaderField] = []) -> FakeTransport.Reply {
    .response(status: 200, headers: headers, body: Array(text.utf8))
  }

  @Test("A dead and a wrong source are followed by the third, and the report names all")
  func story() throws {
    let bench = Bench([:])
    bench.policy.retries.count = 0
    let transport = FakeTransport(
      staging: bench.store,
      replies: [
        "https://a.example/x": [.failure(Failure(.connect, "refused", isTransient: true))],
        "https://b.example/x": [ok("wrong")],
        "https://c.example/x": [ok("right")],
      ]
    )
    let urls = ["https://b.example/x", "https://c.example/x", "https://d.example/x"]
    let report = try bench.run([try segment(urls, digest: "right")], over: transport)
    #expect(ExitStatus(report) == .ok)
    #expect(try bench.contents == ["x": "right"])
    let item = try #require(report.items.first)
    #expect(item.source == .alternate)
    #expect(item.sources.map(\.url.host) == ["a.example", "b.example", "c.example"])
    #expect(item.sources.map(\.failure?.code) == [.connect, .digestMismatch, nil])
    #expect(report.totals.bytesBody == 5)
    #expect(bench.store.staging.bodyCount == 0)

    let again = try bench.run([try segment(urls, digest: "right")], over: transport)
    #expect(again.totals.kept == 1 && again.totals.requests == 0)
  }

  @Test("A failure of all sources names the reason of each, and a breach of trust is reported")
  func none() throws {
    let bench = Bench([:])
    let transport = FakeTransport(
      staging: bench.store,
      replies: ["https://b.example/x": [ok("wrong")]]
    )
    let segment = try segment(["https://b.example/x", "https://c.example/x"], digest: "right")
    let report = try bench.run([segment], over: transport)
    #expect(ExitStatus(report) == .trust)
    #expect(report.items.first?.failure?.code == .digestMismatch)
    #expect(report.items.first?.sources.map(\.failure?.code) == [.gone, .digestMismatch, .gone])
    #expect(try bench.contents == [:])
  }

  @Test("The validators of one source are never sent to another")
  func validators() throws {
    let bench = Bench([:])
    let tag = HeaderField("ETag", "\"of-b\"")
    var requests: [(String, String?)] = []
    var isFirstDead = true
    let transport = FakeTransport(staging: bench.store) { request in
      let condition = request.headers.first { $0.name == "If-None-Match" }?.value
      requests.append((request.url.host, condition))
      if request.url.host == "a.example" {
        return isFirstDead
          ? .response(status: 404, headers: [], body: [])
          : .response(status: 200, headers: [], body: Array("same".utf8))
      }
      return condition == nil
        ? .response(status: 200, headers: [tag], body: Array("same".utf8))
        : .response(status: 304, headers: [tag], body: [])
    }
    let segments = [try segment(["https://b.example/x"])]
    _ = try bench.run(segments, over: transport)
    let second = try bench.run(segments, over: transport)
    #expect(second.totals.revalidated == 1)
    isFirstDead = false
    _ = try bench.run(segments, over: transport)
    #expect(requests.map(\.0) == ["a.example", "b.example", "a.example", "b.example", "a.example"])
    #expect(requests.map(\.1) == [nil, nil, nil, "\"of-b\"", nil])
  }

  @Test("A single source has no list of sources in the report")
  func one() throws {
    let bench = Bench([:])
    let report = try bench.run(
      [try segment([])],
      over: FakeTransport(staging: bench.store, replies: [:])
    )
    #expect(report.items.first?.sources == [])
  }
}

@Suite("A segment without storage")
struct PassingTests {
  typealias ExitStatus = PrefetchCore.ExitStatus

  private func segment(_ paths: [String], head: Bool = false) throws -> SegmentDeclaration {
    let entries = try paths.map { Bench.entry(try WebURL("https://a.example/\($0)")) }
    var segment = SegmentDeclaration(name: "warm", source: .inline(entries))
    segment.isStored = false
    segment.requestsHeadOnly = head
    return segment
  }

  @Test("A segment without storage requests every item in every run and leaves no trace")
  func everyRun() throws {
    let bench = Bench(["/a": .init("AAAA"), "/b": .init("BB")])
    for _ in 0..<2 {
      let report = try bench.run(segments: [try segment(["a", "b"])])
      #expect(ExitStatus(report) == .ok)
      #expect(bench.requests == ["GET /a", "GET /b"])
      #expect(bench.site.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
      #expect(report.totals.fetched == 2)
      #expect(report.totals.bytesBody == 6 && report.totals.bytesStored == 0)
      #expect(report.items.map(\.digest) == [nil, nil])
      #expect(bench.store.records.isEmpty)
      #expect(bench.store.staging.bodyCount == 0)
    }
  }

  @Test("A segment without storage may request headers only")
  func head() throws {
    let bench = Bench(["/a": .init("AAAA")])
    let report = try bench.run(segments: [try segment(["a", "gone"], head: true)])
    #expect(bench.requests == ["HEAD /a", "HEAD /gone"])
    #expect(ExitStatus(report) == .incomplete)
    #expect(report.totals.fetched == 1 && report.totals.failed == 1)
    #expect(report.segments.first?.state == .incomplete)
    #expect(bench.store.records.isEmpty)
  }

  @Test("A segment without storage verifies declared digests")
  func digests() throws {
    let bench = Bench(["/a": .init("AAAA")])
    var entry = Bench.entry(try WebURL("https://a.example/a"))
    entry.digests = [ExpectedDigest(algorithm: .sha256, bytes: [UInt8](repeating: 1, count: 32))]
    var segment = SegmentDeclaration(name: "warm", source: .inline([entry]))
    segment.isStored = false
    let report = try bench.run(segments: [segment])
    #expect(ExitStatus(report) == .trust)
    #expect(bench.store.records.isEmpty && bench.store.staging.bodyCount == 0)
  }

  @Test("A segment without storage neither uses nor removes the items of others")
  func others() throws {
    let bench = Bench(["/a": .init("AAAA"), "/b": .init("BB")])
    var warm = try segment(["a"])
    warm.isStored = true
    _ = try bench.run(segments: [warm])
    let other = SegmentDeclaration(name: "keep", source: try segment(["a", "b"]).source)
    let report = try bench.run(segments: [try segment(["a"]), other])
    #expect(bench.requests == ["GET /a", "GET /a", "GET /b"])
    #expect(report.totals.removed == 0)
    #expect(try bench.contents == ["a": "AAAA", "b": "BB"])
    #expect(try bench.run(segments: [try segment([])]).totals.removed == 0)
    #expect(try bench.contents == ["a": "AAAA", "b": "BB"])
  }

  @Test("A segment without storage is requested by HEAD only in a dry run")
  func plan() throws {
    let bench = Bench(["/a": .init("AAAA")])
    let report = try bench.run(segments: [try segment(["a"])], mode: .plan)
    #expect(bench.requests == ["HEAD /a"])
    #expect(report.items.map(\.action) == [.fetch])
  }
}
