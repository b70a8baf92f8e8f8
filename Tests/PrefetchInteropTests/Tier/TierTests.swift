import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("A store that machines share", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct TierTests {
  private static let count = 20
  private let ground: TierGround

  init() throws {
    ground = try TierGround()
    ground.publish(Self.count)
  }

  private func fill() throws {
    let home = try ground.machine("mode: read_write")
    let run = try home.run("--json")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    let report = try run.json()
    // Their bodies, and the list's.
    #expect(report.number("remote.written") == Self.count + 1, "\(run)")
    #expect(report.number("remote.troubles") == 0)
    _ = ground.drainRequests()
  }

  @Test("A shared store supplies every body that a list names by its digest to other machines")
  func digests() throws {
    try fill()
    let home = try ground.machine("")
    let before = ground.tier.requests.count
    let run = try home.run("--json")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    let odd = (0..<Self.count).filter { !$0.isMultiple(of: 2) }.map { "/\($0)" }
    #expect(ground.drainRequests() == (odd + ["/list.json"]).sorted())
    let report = try run.json()
    #expect(report.number("remote.hits") == Self.count / 2)
    #expect(report.number("totals.fetched") == Self.count)
    try ground.expectAll(Self.count, in: home)
    // A machine with read access never writes.
    #expect(!ground.tier.requests.dropFirst(before).contains { $0.method == "PUT" })
  }

  @Test("A trusted shared store replaces all requests to the origin while its records are fresh")
  func trust() throws {
    ground.site["/moved"] = Site.Page(
      [],
      headers: [HeaderField("Location", "/1"), HeaderField("Cache-Control", "max-age=900")],
      status: 302
    )
    try fill()
    let first = try ground.machine("mode: read_write, trust: true")
    #expect(try first.run("get", ground.origin.address("/moved")).status == 0)
    _ = ground.drainRequests()
    let home = try ground.machine("trust: true")
    let run = try home.run("--json")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    let moved = try home.run("get", ground.origin.address("/moved"))
    #expect(moved.status == 0 && moved.output == TierGround.text(1), "\(moved)")
    #expect(ground.drainRequests() == [])
    #expect(try run.json().number("remote.hits") == Self.count + 1)
    try ground.expectAll(Self.count, in: home)
    // The origin gets no request on the next night either, unless everything is revalidated.
    #expect(try home.run("-q").status == 0)
    #expect(ground.drainRequests() == [])
    let again = try home.run("--revalidate", "--json")
    #expect(again.status == 0, "\(again)")
    #expect(try again.totals()["fetched"] == 0)
    #expect(ground.drainRequests().count == Self.count / 2 + 1)
  }

  @Test("A shared store supplies validators for a request to the origin, and the body after a 304")
  func stale() throws {
    ground.publish(Self.count, maxAge: 0)
    try fill()
    let home = try ground.machine("mode: read_write, trust: true")
    let run = try home.run("--json")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    let odd = (0..<Self.count).filter { !$0.isMultiple(of: 2) }.map { "/\($0)" }
    // The list and the items without digests are revalidated by their tags.
    let requests = ground.site.requests
    #expect(requests.map(\.target).sorted() == (odd + ["/list.json"]).sorted())
    #expect(requests.allSatisfy { $0.headers["If-None-Match"] != nil })
    #expect(try run.json().number("remote.hits") == Self.count + 1)
    try ground.expectAll(Self.count, in: home)
  }

  @Test("A shared store that lost bodies is bypassed for exactly these", arguments: [false, true])
  func lost(isStale: Bool) throws {
    if isStale { ground.publish(Self.count, maxAge: 0) }
    try fill()
    let stored = ground.store.files.keys.filter { $0.contains("/cas/") }.sorted()
    for path in stored.prefix(stored.count / 3) { ground.store.files[path] = nil }
    let kept = stored.dropFirst(stored.count / 3)
    let home = try ground.machine("trust: true")
    let run = try home.run("--json")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    try ground.expectAll(Self.count, in: home)
    let whole = ground.site.requests.filter { $0.headers["If-None-Match"] == nil }
    #expect(whole.count == Self.count + 1 - kept.count)
    #expect(try run.json().number("remote.hits") == kept.count)
    // A machine with write access uploads the bodies again.
    let writer = try ground.machine("mode: read_write, trust: true")
    #expect(try writer.run().status == 0)
    let bodies = ground.store.files.keys.filter { $0.contains("/cas/") }
    #expect(bodies.count == Self.count + 1)
  }

  /// Incorrect responses of a tier in place of a body.
  enum Lie: String, CaseIterable {
    case otherBytes, endless, page, silence, drip, gone, busy, forbidden, redirect, truncated, empty
    case coded, reset, teapot, badHead

    var script: @Sendable (LoopbackRequest, [UInt8]?) -> Script? {
      { request, file in
        guard request.method == "GET" else { return nil }
        let length = [("Content-Length", String(file?.count ?? 0))]
        switch self {
        case .otherBytes: return .respond(200, body: Array((file ?? [1]).reversed()))
        case .endless:
          return Script([
            .send(Script.head(200)), .repeatForever([UInt8](repeating: 65, count: 65_536)),
          ])
        case .page:
          return .respond(200, [("Content-Type", "text/html")], text: "<html>log in</html>")
        case .silence: return Script([.silence])
        case .drip: return Script([.send(Script.head(200, length) + [1]), .silence])
        case .gone: return nil
        case .busy: return .respond(503, [("Retry-After", "3600")])
        case .forbidden: return .respond(403)
        case .redirect: return .respond(302, [("Location", "http://127.0.0.1:1/x")])
        case .truncated:
          return Script([.send(Script.head(200, length) + (file ?? []).dropLast()), .close])
        case .empty: return .respond(200)
        case .coded: return .respond(200, [("Content-Encoding", "br")], body: file ?? [])
        case .reset: return Script([.reset])
        case .teapot: return .respond(418)
        case .badHead: return .raw("HTTP/1.1 2x0 nonsense\r\n\r\n", then: .close)
        }
      }
    }
  }

  @Test(
    "A shared store that is wrong or unreachable does no harm and is reported once",
    arguments: Lie.allCases
  )
  func lies(_ lie: Lie) throws {
    try fill()
    ground.store.behave(lie.script)
    for isTrusted in [false, true] {
      var home = try ground.machine("trust: \(isTrusted)")
      if lie == .gone {
        home = try ground.machine(
          "trust: \(isTrusted), url: \"http://127.0.0.1:\(LoopbackPort.free())/t\""
        )
      }
      let run = try home.run("--json")
      #expect(run.status == 0, "\(run)")
      let warnings = run.errors.split(separator: "\n").filter { $0.hasPrefix("warning:") }
      #expect(warnings.count == 1 && warnings[0].contains("cache.remote"), "\(run)")
      let report = try run.json()
      #expect(report.number("remote.hits") == 0 && report.number("totals.fetched") == Self.count)
      try ground.expectAll(Self.count, in: home)
    }
  }

  @Test(
    "A shared store that refuses writes costs one warning, and ends a run with 69 if required",
    arguments: [403, 405, 500, 507]
  )
  func refusals(status: Int) throws {
    ground.store.behave { request, _ in request.method == "PUT" ? .respond(status) : nil }
    for isRequired in [false, true] {
      let home = try ground.machine("mode: read_write, required: \(isRequired)")
      let run = try home.run()
      #expect(run.status == (isRequired ? 69 : 0), "\(run)")
      let warnings = run.errors.split(separator: "\n").filter { $0.hasPrefix("warning:") }
      #expect(warnings.count == 1 && warnings[0].contains("\(status)"), "\(run)")
      try ground.expectAll(Self.count, in: home)
    }
  }

  @Test(
    "A shared store is not blamed for bodies that have no room on this machine",
    arguments: ["cache.max_file_size=1000", "cache.size=20kB"]
  )
  func limits(setting: String) throws {
    try fill()
    for isTrusted in [false, true] {
      let home = try ground.machine("trust: \(isTrusted)")
      let run = try home.run("--set", setting, "--json")
      #expect(run.status == 3 && !run.errors.contains("cache.remote"), "\(run)")
      let report = try run.json()
      #expect(report.number("remote.troubles") == 0 && (report.number("totals.failed") ?? 0) > 0)
      #expect(try home.run("verify").status == 0)
    }
  }

  @Test("A shared store that accepts bodies and no records has the bodies")
  func records() throws {
    ground.store.behave { request, _ in
      request.method == "PUT" && request.path.contains("/ac/") ? .respond(400) : nil
    }
    let home = try ground.machine("mode: write")
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(run.errors.split(separator: "\n").count { $0.hasPrefix("warning:") } == 1, "\(run)")
    #expect(try run.json().number("remote.written") == Self.count + 1)
    #expect(!ground.tier.requests.contains { $0.method == "GET" })
  }

  @Test(
    "A required shared store that is unreachable causes no request to the origin",
    arguments: [
      nil, 302, 401, 403, 500,
    ]
  )
  func required(status: Int?) throws {
    try fill()
    ground.store.behave { _, _ in status.map { .respond($0) } ?? Script([.silence]) }
    let home = try ground.machine("trust: true, required: true")
    let run = try home.run()
    #expect(run.status == 69, "\(run)")
    #expect(ground.drainRequests() == [])
  }

  @Test("A shared store is used under the transport rules of every connection")
  func rules() throws {
    let home = try ground.machine("mode: read_write")
    home.write(
      """
      transport_security: { NSExceptionDomains: { 127.0.0.1: { NSExceptionAllowsInsecureHTTPLoads: true } } }
      segments: [{ name: s, manifest: "\(ground.origin.address("/list.json"))" }]
      cache: { min_free: 0, remote: "http://tier.invalid/t" }
      """,
      to: "plain.yaml"
    )
    let run = try home.run("-c", "plain.yaml")
    #expect(run.status == 5, "\(run)")
    #expect(run.errors.contains("`cache.remote` at `tier.invalid`"), "\(run)")
    try ground.expectAll(Self.count, in: home)
  }

  @Test(
    "A shared store gets its own credentials and none of other hosts",
    arguments: ["name:canary-71ab", "canary-99ff"]
  )
  func credentials(_ text: String) throws {
    let home = try ground.machine(
      #"mode: read_write, credentials: "\#(text)", headers: { X-Team: canary-3c3c }"#
    )
    let run = try home.run("-vv", "--json", "--log-file", "run.log")
    #expect(run.status == 0, "\(run)")
    let shown = ground.tier.requests.allSatisfy { request in
      let proof = request.headers["Authorization"] ?? ""
      return (text.contains(":") ? proof.hasPrefix("Basic ") : proof == "Bearer \(text)")
        && request.headers["X-Team"] == "canary-3c3c"
    }
    #expect(shown && !ground.tier.requests.isEmpty)
    #expect(ground.site.requests.allSatisfy { $0.headers["Authorization"] == nil })
    for text in ["\(run)", home.read("run.log") ?? "", "\(try home.run("config"))"] {
      #expect(!text.contains("canary"), "\(text)")
    }
  }

  @Test("A shared store gets no response that was for one machine only", arguments: [false, true])
  func canaries(sharesAll: Bool) throws {
    let pages: [(String, [HeaderField])] = [
      ("private", [HeaderField("Cache-Control", "private, max-age=60")]),
      ("no-store", [HeaderField("Cache-Control", "no-store")]),
      ("vary", [HeaderField("Vary", "Cookie, Accept-Encoding")]),
      ("token?sig=canary-sig-0001&token=canary-tok-0002", []), ("headed", []),
      ("public", [HeaderField("Vary", "Accept-Encoding")]),
    ]
    for (name, headers) in pages {
      ground.site["/\(name)"] = Site.Page(
        "canary body of \(name.prefix { $0 != "?" })",
        headers: headers
      )
    }
    ground.site["/licensed.json"] = Site.Page(Manifest.text(["public"]))
    let server = ground.origin.address("")
    let home = try ground.machine(
      ""
    )
    home.configure(
      """
      license: canary-license-77
      segments:
        - { name: plain, urls: ["\(server)/private", "\(server)/no-store", "\(server)/vary", "\(server)/public", "\(server)/token?sig=canary-sig-0001&token=canary-tok-0002"] }
        - { name: licensed, manifest: "\(server)/licensed.json" }
        - { name: headed, urls: ["\(server)/headed"], headers: { X-Key: canary-header-5 } }
      cache: { min_free: 0, remote: { url: "\(ground.tier.address("/t"))", mode: read_write, share: \(sharesAll ? "all" : "public") } }
      """
    )
    let run = try home.run()
    #expect(run.status == 0, "\(run)")
    let texts = ground.store.files.map { path, bytes in
      "\(path)\n\(String(decoding: bytes, as: UTF8.self))"
    }
    for name in ["private", "no-store", "vary", "token", "headed"] {
      #expect(texts.contains { $0.contains("canary body of \(name)") } == sharesAll, "\(name)")
    }
    #expect(texts.contains { $0.contains("canary body of public") })
    let heads = ground.tier.requests.map { String(decoding: $0.head, as: UTF8.self) }
    for secret in ["canary-license-77", "canary-header-5", "canary-sig-0001", "canary-tok-0002"] {
      #expect(!(texts + heads).contains { $0.contains(secret) }, "\(secret)")
    }
  }
}
