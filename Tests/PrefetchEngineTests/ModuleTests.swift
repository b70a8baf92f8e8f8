import PrefetchCore
import PrefetchEngine
import PrefetchTestSupport
import Testing

@Suite("Modules with sums") struct ModuleTests {
  typealias ExitStatus = PrefetchCore.ExitStatus

  /// The smallest zip file, without any member.
  private static let empty: [UInt8] = [0x50, 0x4B, 5, 6] + [UInt8](repeating: 0, count: 18)
  /// SHA-256 of no bytes, in base64.
  private static let emptySum = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
  private static let otherSum = "q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s="

  private static func segment(
    _ sum: String,
    _ algorithm: DigestAlgorithm = .goZip,
    alternates: [String] = []
  ) throws -> SegmentDeclaration {
    var entry = ManifestEntry(url: try WebURL("https://a.example/m/@v/v1.0.0.zip"))
    entry.id = "m"
    entry.lifetime = .immutable
    entry.digests = [
      ExpectedDigest(algorithm: algorithm, bytes: try #require(Base64.decode(sum)))
    ]
    var segment = SegmentDeclaration(name: "s", source: .inline([entry]))
    segment.requiresDigest = true
    segment.alternates = try alternates.map { try WebURL($0) }
    return segment
  }

  @Test("A module with the declared sum is stored and costs no further request")
  func good() throws {
    let bench = Bench(["/m/@v/v1.0.0.zip": .init(Self.empty)])
    let first = try bench.run(segments: [Self.segment(Self.emptySum)])
    #expect(ExitStatus(first) == .ok)
    #expect(first.totals.fetched == 1)
    let second = try bench.run(segments: [Self.segment(Self.emptySum)])
    #expect(ExitStatus(second) == .ok)
    #expect(bench.requests == [])
    #expect(second.totals.kept == 1)
  }

  @Test("A module with another sum is a breach of trust and is not stored")
  func bad() throws {
    let bench = Bench(["/m/@v/v1.0.0.zip": .init(Self.empty)])
    let report = try bench.run(segments: [Self.segment(Self.otherSum)])
    #expect(ExitStatus(report) == .trust)
    let failure = report.items.first?.failure
    #expect(failure?.code == .digestMismatch)
    #expect(
      failure?.message == "its sum is h1:\(Self.emptySum), but h1:\(Self.otherSum) is declared"
    )
    #expect(try bench.contents == [:])
    #expect(bench.store.staging.bodyCount == 0)
  }

  @Test("A body that is no zip file has no sum, and a changed sum causes a fetch")
  func noZip() throws {
    let bench = Bench(["/m/@v/v1.0.0.zip": .init(Self.empty)])
    _ = try bench.run(segments: [Self.segment(Self.emptySum)])
    bench.site["/m/@v/v1.0.0.zip"] = .init("<html>sorry</html>")
    let report = try bench.run(segments: [Self.segment(Self.otherSum)])
    #expect(ExitStatus(report) == .trust)
    #expect(bench.requests == ["GET /m/@v/v1.0.0.zip"])
    #expect(
      report.items.first?.failure?.message
        == "it is not a zip file that could have the declared sum: it has no list of files at its end"
    )
    // The older body is unchanged.
    #expect(try bench.contents["m"] == String(decoding: Self.empty, as: UTF8.self))
  }

  @Test("Another server may supply the module with the right sum")
  func alternate() throws {
    let bench = Bench([
      "/m/@v/v1.0.0.zip": .init("wrong"), "/mirror/m/@v/v1.0.0.zip": .init(Self.empty),
    ])
    let report = try bench.run(
      segments: [Self.segment(Self.emptySum, alternates: ["https://a.example/mirror/"])]
    )
    #expect(ExitStatus(report) == .ok)
    #expect(report.items.first?.source == .alternate)
  }

  @Test("The sum of a go.mod is of the file itself")
  func goMod() throws {
    let bench = Bench(["/m/@v/v1.0.0.zip": .init("module example.com/Left\n\ngo 1.19\n")])
    let sum = "7c/VL1xfRKDNXqFI0UI0G8diX/Rl3hpM0eRTYAFUBgU="
    #expect(ExitStatus(try bench.run(segments: [Self.segment(sum, .goMod)])) == .ok)
    #expect(ExitStatus(try bench.run(segments: [Self.segment(Self.emptySum, .goMod)])) == .trust)
  }

  @Test("An item with an equal revision is kept without a request, and another is requested")
  func revisions() throws {
    let bench = Bench(["/a": .init("A")])
    let segment: (String) throws -> SegmentDeclaration = { revision in
      var entry = ManifestEntry(url: try WebURL("https://a.example/a"))
      entry.id = "a"
      entry.lifetime = .immutable
      entry.revision = revision
      return SegmentDeclaration(name: "s", source: .inline([entry]))
    }
    _ = try bench.run(segments: [segment("1")])
    #expect(try bench.run(segments: [segment("1")]).totals.kept == 1)
    #expect(bench.requests == [])
    #expect(try bench.run(segments: [segment("2")]).totals.revalidated == 1)
    #expect(try bench.run(segments: [segment("2")]).totals.kept == 1)
    bench.site["/a"] = .init("", headers: [])
    bench.site["/a"]?.status = 500
    bench.policy.retries.count = 0
    _ = try bench.run(segments: [segment("3")])
    bench.site["/a"] = .init("A3")
    #expect(try bench.run(segments: [segment("3")]).totals.updated == 1)
    #expect(try bench.contents == ["a": "A3"])
  }
}
