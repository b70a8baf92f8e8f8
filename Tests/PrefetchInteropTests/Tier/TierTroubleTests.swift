import PrefetchCore
import PrefetchTestSupport
import Testing

/// A second tier that fails between a record and its body, or within a body.
@Suite("A second tier in trouble", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct TierTroubleTests {
  private static let count = 40
  private let ground: TierGround

  init() throws {
    ground = try TierGround()
  }

  private func page(_ text: String, status: Int = 200, to target: String? = nil) -> Site.Page {
    var headers = [HeaderField("Cache-Control", "max-age=3600")]
    if let target { headers.append(HeaderField("Location", target)) }
    return Site.Page(Array(text.utf8), headers: headers, status: status)
  }

  /// Items that a checksum list names by their digests.
  private func publishPinned() {
    var list = ""
    for number in 0..<Self.count {
      let text = TierGround.text(number)
      ground.site["/\(number)"] = page(text)
      list += "\(Digest.hexadecimal(text))  \(number)\n"
    }
    ground.site["/SHA256SUMS"] = page(list)
  }

  private func machine(_ remote: String, _ segment: String, _ more: String = "") throws -> Home {
    let home = try ground.machine(remote, more)
    home.configure(
      """
      segments: [{ name: s, \(segment) }]
      cache: { min_free: 0, remote: { url: "\(ground.tier.address("/t"))", \(remote) } }
      \(more)
      """
    )
    return home
  }

  @Test(
    "A required tier that fails keeps a run from requesting its bodies at the origin",
    arguments: [500, 403]
  )
  func requiredTierNeverPassed(status: Int) throws {
    publishPinned()
    ground.store.behave { _, _ in .respond(status) }
    let home = try machine(
      "required: true",
      "manifest: \"\(ground.origin.address("/SHA256SUMS"))\""
    )
    let run = try home.run("run", "--json")
    #expect(run.status == 69, "\(run)")
    #expect(ground.drainRequests() == ["/SHA256SUMS"])
    #expect(!run.errors.contains("run.breaker"), "\(run)")
    // The tier is given up after a few troubles, and nothing waits.
    #expect(ground.tier.requests.count < Self.count)
    #expect(try run.totals()["failed"] == Self.count)
  }

  /// Returns a second machine that trusts the tier, after the first has stored a redirect there.
  private func redirected(_ more: String = "") throws -> (first: Home, second: Home) {
    ground.site["/a"] = page("", status: 302, to: "/b")
    ground.site["/b"] = page("old")
    let segment = "urls: [\"\(ground.origin.address("/a"))\"]"
    let first = try machine("mode: read_write, trust: true", segment)
    let run = try first.run("run")
    #expect(run.status == 0, "\(run)")
    let second = try machine("trust: true", segment, more)
    _ = ground.drainRequests()
    return (first, second)
  }

  @Test("A trusted record without its body is ignored, and the declared URL is requested")
  func lostBodyBehindRedirect() throws {
    let (_, home) = try redirected()
    for path in ground.store.files.keys where path.contains("/cas/") {
      ground.store.files[path] = nil
    }
    ground.site["/a"] = page("new")
    ground.site["/b"] = page("other")
    let run = try home.run("run")
    #expect(run.status == 0, "\(run)")
    #expect(ground.drainRequests() == ["/a"])
    #expect(try home.run("get", "--offline", ground.origin.address("/a")).output == "new")
  }

  @Test("A redirect that the tier reports and a rule refuses ends with `redirect_forbidden`")
  func refusedRedirectOfTier() throws {
    let (_, home) = try redirected("redirects: { cross_host: false }")
    // The record names another host from now on.
    let records = ground.store.files.filter { $0.key.contains("/ac/") }
    for (path, bytes) in records {
      let text = String(decoding: bytes, as: UTF8.self)
      let target = text.replacing(ground.origin.address("/b"), with: "http://localhost:1/b")
      ground.store.files[path] = Array(target.utf8)
    }
    let run = try home.run("run", "--json")
    #expect(run.status == 5, "\(run)")
    #expect(try run.json().text("items.0.error.code") == "redirect_forbidden")
    #expect(ground.drainRequests() == [])
  }

  /// Returns a script that sends a body byte by byte with a pause before each.
  private static func drip(_ body: [UInt8], pause: Duration) -> Script {
    let head = Script.head(200, [("Content-Length", String(body.count))])
    return Script([.send(head)] + body.flatMap { [Script.Step.wait(pause), .send([$0])] })
  }

  @Test("A dripping tier is abandoned at its timeout, and the origin supplies the bodies")
  func drip() throws {
    publishPinned()
    ground.store.behave { _, _ in
      Self.drip([UInt8](repeating: 1, count: 400), pause: .milliseconds(300))
    }
    let home = try machine(
      "timeout: 600ms",
      "manifest: \"\(ground.origin.address("/SHA256SUMS"))\""
    )
    let run = try home.run("run", "--json")
    #expect(run.status == 0, "\(run)")
    #expect(run.errors.components("cache.remote") == 1 && run.errors.contains("in all"), "\(run)")
    #expect(try run.json().number("remote.hits") == 0)
    try ground.expectAll(Self.count, in: home)
  }

  @Test("A long body that keeps arriving from the tier is not cut off")
  func steadyBody() throws {
    let text = TierGround.text(3)
    ground.site["/3"] = page(text)
    ground.site["/SHA256SUMS"] = page("\(Digest.hexadecimal(text))  3\n")
    let bytes = Array(text.utf8)
    ground.store.behave { _, _ in
      let head = Script.head(200, [("Content-Length", String(bytes.count))])
      let parts = stride(from: 0, to: bytes.count, by: 40).flatMap { start in
        [Script.Step.wait(.milliseconds(20)), .send(Array(bytes[start...].prefix(40)))]
      }
      return Script([.send(head)] + parts)
    }
    let home = try machine(
      "timeout: 600ms",
      "manifest: \"\(ground.origin.address("/SHA256SUMS"))\""
    )
    let run = try home.run("run", "--json")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    #expect(try run.json().number("remote.hits") == 1)
    #expect(ground.drainRequests() == ["/SHA256SUMS"])
  }
}

extension String {
  /// Returns the number of occurrences of a text.
  fileprivate func components(_ text: String) -> Int {
    ranges(of: text).count
  }
}
