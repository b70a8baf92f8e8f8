import PrefetchCore
import PrefetchTestSupport
import Testing

/// Servers that give a body only to clients that bring their cookies back.
@Suite("Cookies of a transfer", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct CookieTests {
  private static let canary = "canary-cookie-83"

  private let home: Home
  private let trust: TrustGround
  private let server: TLSServer
  private let plainServer: LoopbackServer
  private let tier: TierGround

  init() throws {
    home = try Home(isInMemory: true)
    trust = try TrustGround.shared.get()
    tier = try TierGround()
    var options = TLSServer.Options(try trust.leaf(for: "IP:127.0.0.1,DNS:localhost"))
    options.script = { head in
      let words = head.split(separator: " ", maxSplits: 2).map(String.init)
      return Self.reply(words.count > 1 ? words[1] : "", Self.cookies(of: head))
    }
    server = try TLSServer(options)
    plainServer = try LoopbackServer { request in
      Self.reply(request.target, request.headers["Cookie"] ?? "")
    }
  }

  private static func cookies(of head: String) -> String {
    head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("cookie: ") }
      .map { String($0.dropFirst(8)) } ?? ""
  }

  private static func reply(_ path: String, _ cookies: String) -> Script {
    let names = Set(
      cookies.split(separator: "; ").map { String($0.prefix { $0 != "=" }) }
    )
    let list = ("Content-Type", "application/vnd.apple.mpegurl")
    switch path {
    case "/film.m3u8":
      return .respond(
        200,
        [("Set-Cookie", "sid=\(canary); Path=/; Secure; HttpOnly"), list],
        text: "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\nlow/list.m3u8\n"
      )
    case "/low/list.m3u8":
      guard names.contains("sid") else { return .respond(403) }
      let pieces = (0..<6).map { "#EXTINF:2,\n\($0).ts" }
      return .respond(
        200,
        [("Set-Cookie", "signed=\(canary)"), ("Set-Cookie", "old=1; Max-Age=0"), list],
        text: StreamGround.media(pieces)
      )
    case _ where path.hasSuffix(".ts"):
      guard names == ["sid", "signed"] else { return .respond(403) }
      return .respond(200, [("Content-Type", "video/mp2t")], text: "piece \(path)")
    case "/start":
      return .respond(302, [("Location", "/gate"), ("Set-Cookie", "first=\(canary)")])
    case "/gate":
      let cookie = "second=\(canary); Path=/"
      return .respond(302, [("Location", "/body"), ("Set-Cookie", cookie)])
    case "/body":
      guard names == ["first", "second"] else { return .respond(403) }
      return .respond(200, text: "a body")
    case _ where path.hasPrefix("/away/"):
      let target = "https://localhost:\(path.dropFirst(6))/shown"
      return .respond(302, [("Location", target), ("Set-Cookie", "far=\(canary); Path=/")])
    case "/shown": return .respond(200, text: "shown: \(cookies)")
    default: return .respond(404)
    }
  }

  private func configure(_ urls: String, _ cache: String = "") {
    home.configure(
      """
      tls: { ca_file: "\(trust.authorities)" }
      cache: { min_free: 0\(cache) }
      network: { retries: { items: 0, lookups: 0 } }
      segments: [{ name: s, urls: [\(urls)] }]
      """
    )
  }

  private func url(_ path: String, on host: String = "127.0.0.1") -> String {
    "https://\(host):\(server.port)\(path)"
  }

  @Test("The pieces of a stream are requested with the cookies of its playlists")
  func stream() throws {
    configure(
      "{ url: \"\(url("/film.m3u8"))\", type: hls, id: film }",
      ", remote: { url: \"\(tier.tier.address("/t"))\", mode: read_write, timeout: 5s }"
    )
    let run = try home.run("--report", "json=report.json", "--log-file", "log", "-vv")
    #expect(run.status == 0, "\(run)")
    let report = try #require(home.read("report.json"))
    #expect(report.contains("\"fetched\""))
    // No cookie is stored, and the second tier never receives one.
    #expect(!run.output.contains(Self.canary), "\(run)")
    let found = try home.shell("grep -rl '\(Self.canary)' '\(home.folder.path)'")
    #expect(found.output.isEmpty, "\(found)")
    #expect(tier.tier.requests.allSatisfy { $0.headers["Cookie"] == nil })
    #expect(!tier.tier.requests.isEmpty)
    // Another item of the same server has a separate cookie jar.
    configure("\"\(url("/low/0.ts"))\"")
    let alone = try home.run("--json")
    #expect(alone.status == 4, "\(alone)")
  }

  @Test("A cookie of one hop is sent to the next one, by a run and by a plan")
  func redirects() throws {
    configure("\"\(url("/start"))\"")
    let plan = try home.run("--dry-run")
    #expect(plan.status == 0, "\(plan)")
    #expect(plan.output.contains("fetch\ts\t6\t"), "\(plan)")
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(try home.run("get", url("/start")).output.contains("a body"))
  }

  @Test("A cookie reaches no other host and no plain http")
  func hosts() throws {
    configure("\"\(url("/away/\(server.port)"))\", \"\(plainServer.address("/start"))\"")
    let run = try home.run("--json", "--items", "all")
    #expect(run.status == 3, "\(run)")
    let body = try home.run("get", "--offline", url("/away/\(server.port)"))
    #expect(body.output == "shown: ", "\(body)")
    #expect(plainServer.requests.allSatisfy { $0.headers["Cookie"] == nil })
    #expect(plainServer.requests.map(\.target) == ["/start", "/gate", "/body"])
  }
}
