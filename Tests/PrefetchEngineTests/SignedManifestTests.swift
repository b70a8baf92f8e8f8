import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import Testing

@Suite("A manifest that must be signed")
struct SignedManifestTests {
  typealias ExitStatus = PrefetchCore.ExitStatus

  /// Secret key made by minisign, without a password.
  private static let secretKey = """
    untrusted comment: minisign encrypted secret key
    RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE4D92ghHbFUd3doXuZA0Uh6Y0us7MZSUEtPss6x3D6ErbeyyWlfYUjXCc/fJD0Mc7szeT9rb2OaP4Oulk51LJqJkVPlfU9reAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=

    """
  private static let otherKey = "RWTfdbLkeVCOj6sIhHOhqxca238+finlENOfZY9TMxDUrSJqeOdlaekl"

  let bench = Bench(["/a": .init("A"), "/b": .init("B")])
  let key: MinisignSecretKey

  init() throws {
    key = try MinisignSecretKey(Array(Self.secretKey.utf8))
  }

  private var now: Instant { bench.clock.now().wall }

  private func segment(_ keys: [String]? = nil) throws -> SegmentDeclaration {
    var segment = SegmentDeclaration(
      name: "s",
      source: .remote(try WebURL("https://a.example/m.json?v=1"))
    )
    segment.manifestKeys = keys ?? [key.publicKey]
    return segment
  }

  private func manifest(
    _ items: [String],
    generated: Int = 0,
    expires: Int? = 3600,
    next: String? = nil
  ) -> String {
    let lines = items.map { "{\"url\": \"\($0)\", \"id\": \"\($0)\"}" }.joined(separator: ", ")
    let end = expires.map { "\"expires\": \"\(Timestamp.format(now + .seconds($0)))\", " } ?? ""
    let more = next.map { "\"next\": \"\($0)\", " } ?? ""
    return "{\"format\": \"prefetch-manifest\", \"version\": 1, \(more)"
      + "\"generated\": \"\(Timestamp.format(now + .seconds(generated)))\", \(end)"
      + "\"items\": [\(lines)]}"
  }

  private func signature(of text: String, comment: TrustedComment? = nil) -> String {
    let bytes = Array(text.utf8)
    let comment = comment ?? TrustedComment(timestamp: now, file: "m.json", expires: nil)
    return unsafe Minisign.sign(bytes.span.bytes, with: key, trustedComment: comment)
  }

  private func publish(_ text: String, signature: String?, as name: String = "m.json") {
    let type = [HeaderField("Content-Type", "application/json")]
    bench.site["/\(name)"] = .init(text, headers: type)
    bench.site["/\(name).minisig"] = signature.map { .init($0) }
  }

  /// Publishes a second page, signed under its own name or another one.
  private func publishPage(_ text: String, signedAs name: String = "2.json") {
    let comment = TrustedComment(timestamp: now, file: name, expires: nil)
    publish(text, signature: signature(of: text, comment: comment), as: "2.json")
  }

  private func publish(_ text: String) {
    publish(text, signature: signature(of: text))
  }

  @Test("A signed manifest is read, and its known signature is not requested again")
  func signed() throws {
    publish(manifest(["a", "b"]))
    #expect(ExitStatus(try bench.run(segments: [try segment()])) == .ok)
    #expect(try bench.contents == ["a": "A", "b": "B"])
    #expect(bench.requests.contains("GET /m.json.minisig?v=1"))
    #expect(ExitStatus(try bench.run(segments: [try segment()])) == .ok)
    #expect(bench.requests == ["GET /a", "GET /b", "GET /m.json?v=1"])
  }

  @Test("A signed manifest is verified again with new keys, although it did not change")
  func keysChange() throws {
    publish(manifest(["a"]))
    _ = try bench.run(segments: [try segment([])])
    #expect(!bench.requests.contains { $0.contains("minisig") })
    #expect(ExitStatus(try bench.run(segments: [try segment()])) == .ok)
    #expect(bench.requests.contains("GET /m.json.minisig?v=1"))
    let report = try bench.run(segments: [try segment([Self.otherKey])])
    #expect(ExitStatus(report) == .trust)
    #expect(report.segments.first?.manifest.failure?.code == .signature)
    #expect(try bench.contents == ["a": "A"])
  }

  struct Bad: Sendable, CustomTestStringConvertible {
    var name: String
    var code: ErrorCode
    var publish: @Sendable (SignedManifestTests) -> Void

    var testDescription: String { name }
  }

  static let bad: [Bad] = [
    Bad(name: "unsigned", code: .signature) { $0.publish($0.manifest(["b"]), signature: nil) },
    Bad(name: "another's signature", code: .signature) {
      $0.publish($0.manifest(["b"]), signature: $0.signature(of: "something else"))
    },
    Bad(name: "no signature at all", code: .signature) {
      $0.publish($0.manifest(["b"]), signature: "<!doctype html>")
    },
    Bad(name: "the signature of a file of another name", code: .signature) {
      let text = $0.manifest(["b"])
      let comment = TrustedComment(timestamp: $0.now, file: "other.json", expires: nil)
      $0.publish(text, signature: $0.signature(of: text, comment: comment))
    },
    Bad(name: "expired", code: .signature) { $0.publish($0.manifest(["b"], expires: -1)) },
    Bad(name: "without an end", code: .signature) { $0.publish($0.manifest(["b"], expires: nil)) },
    Bad(name: "older", code: .rollback) { $0.publish($0.manifest(["b"], generated: -3600)) },
    Bad(name: "empty", code: .manifestGuard) { $0.publish($0.manifest([])) },
    Bad(name: "a page, signed", code: .manifestGuard) { $0.publish("<!doctype html><p>hi") },
  ]

  @Test(
    "A signed manifest that fails its checks changes nothing and ends with the status of trust",
    arguments: bad
  )
  func refused(row: Bad) throws {
    publish(manifest(["a"]))
    _ = try bench.run(segments: [try segment()])
    row.publish(self)
    let report = try bench.run(segments: [try segment()])
    #expect(ExitStatus(report) == .trust)
    #expect(report.segments.first?.manifest.status == .refused)
    #expect(report.segments.first?.manifest.failure?.code == row.code)
    #expect(try bench.contents == ["a": "A"])
    #expect(bench.store.staging.bodyCount == 0)
    // The last good manifest stays in effect.
    publish(manifest(["a", "b"], generated: 1))
    #expect(ExitStatus(try bench.run(segments: [try segment()])) == .ok)
    #expect(try bench.contents == ["a": "A", "b": "B"])
  }

  @Test("A signed manifest has a signature for every page, and known ones are not requested again")
  func pages() throws {
    publish(manifest(["a"], next: "2.json"))
    publishPage(manifest(["b"]))
    #expect(ExitStatus(try bench.run(segments: [try segment()])) == .ok)
    #expect(try bench.contents == ["a": "A", "b": "B"])
    #expect(bench.requests.contains("GET /2.json.minisig"))
    #expect(ExitStatus(try bench.run(segments: [try segment()])) == .ok)
    #expect(bench.requests == ["GET /2.json", "GET /a", "GET /b", "GET /m.json?v=1"])
  }

  static let badPages: [Bad] = [
    Bad(name: "unsigned", code: .signature) {
      $0.publish($0.manifest(["b"], generated: 1), signature: nil, as: "2.json")
    },
    Bad(name: "signed as the first", code: .signature) {
      $0.publishPage($0.manifest(["b"], generated: 1), signedAs: "m.json")
    },
    Bad(name: "of another generation", code: .signature) {
      $0.publishPage($0.manifest(["b"], generated: 5))
    },
    Bad(name: "expired", code: .signature) {
      $0.publishPage($0.manifest(["b"], generated: 1, expires: -1))
    },
    Bad(name: "changed behind its signature", code: .signature) {
      let text = $0.manifest(["b"], generated: 1)
      $0.publish(text + " ", signature: $0.signature(of: text), as: "2.json")
    },
  ]

  @Test("A signed page that fails its checks changes nothing either", arguments: badPages)
  func refusedPage(row: Bad) throws {
    publish(manifest(["a"]))
    _ = try bench.run(segments: [try segment()])
    publish(manifest(["a"], generated: 1, next: "2.json"))
    row.publish(self)
    let report = try bench.run(segments: [try segment()])
    #expect(ExitStatus(report) == .trust)
    #expect(report.segments.first?.manifest.failure?.code == row.code)
    #expect(report.segments.first?.manifest.failure?.message.contains("2.json") == true)
    #expect(try bench.contents == ["a": "A"])
    #expect(bench.store.staging.bodyCount == 0)
    publishPage(manifest(["b"], generated: 1))
    #expect(ExitStatus(try bench.run(segments: [try segment()])) == .ok)
    #expect(try bench.contents == ["a": "A", "b": "B"])
  }

  @Test("A signed manifest may have its times in the signed comment")
  func times() throws {
    let text =
      "{\"format\": \"prefetch-manifest\", \"version\": 1, \"items\": [{\"url\": \"a\", \"id\": \"a\"}]}"
    let comment = TrustedComment(timestamp: now, file: "m.json", expires: now + .seconds(60))
    publish(text, signature: signature(of: text, comment: comment))
    #expect(ExitStatus(try bench.run(segments: [try segment()])) == .ok)
    bench.clock.advance(by: .seconds(61))
    let report = try bench.run(segments: [try segment()])
    #expect(report.segments.first?.manifest.failure?.code == .signature)
    // A new signature makes the same bytes valid again.
    let later = TrustedComment(timestamp: now, file: "m.json", expires: now + .seconds(60))
    bench.site["/m.json.minisig"] = .init(signature(of: text, comment: later))
    #expect(ExitStatus(try bench.run(segments: [try segment()])) == .ok)
    #expect(try bench.contents == ["a": "A"])
  }

  @Test("An unreachable signature is not a breach of trust")
  func connectivity() throws {
    let text = manifest(["a"])
    let transport = FakeTransport(staging: bench.store) { request in
      request.url.path == "/m.json"
        ? .response(status: 200, headers: [], body: Array(text.utf8))
        : .failure(Failure(.connect, "refused"))
    }
    let report = try bench.run([try segment()], over: transport)
    #expect(report.segments.first?.manifest.failure?.code == .connect)
    #expect(ExitStatus(report) == .nothing)
    #expect(bench.store.staging.bodyCount == 0)
  }
}
