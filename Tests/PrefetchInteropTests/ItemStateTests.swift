@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("The states of items", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ItemStateTests {
  private let site = Site()
  private let server: LoopbackServer
  private let home: Home

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    for name in ["/a", "/b", "/c"] { site[name] = Site.Page("the body of \(name)") }
  }

  private func configure(_ lines: String, paths: [String] = ["/a", "/b", "/c"]) {
    let urls = paths.map { server.address($0) }.joined(separator: ", ")
    home.configure("segments: [{ name: s, urls: [\(urls)] }]\n\(lines)")
  }

  private static let quiet =
    "cache: { min_free: 0 }\nnetwork: { retries: { items: 0, lookups: 0 } }"

  /// Returns an item's state, which every command must report alike.
  private func state(_ path: String) throws -> String? {
    let url = server.address(path)
    let explained = try home.run("explain", "--json", url).json().text("state")
    let states = ItemState.allCases.map(\.rawValue).joined(separator: ",")
    let listed = try home.run("list", "--json", "--state", states, "--url", url).json()
      .list("items")
    #expect(listed.count <= 1 && listed.first?.text("state") == explained, "\(listed)")
    let counts = try home.run("status", "--json").json().at("segments.0.states")
    if let explained, explained != "deleted" {
      #expect(counts?.number(explained) ?? 0 > 0, "\(explained) is not in \(counts as Any)")
    }
    if let item = listed.first, ["failed", "idle", "discovered"].contains(explained) {
      #expect(item.text("reason") != nil)
    }
    return explained
  }

  @Test("All commands agree on the states pending, queued, cached, failed, paused and deleted")
  func plain() throws {
    configure(Self.quiet)
    #expect(try state("/a") == "pending")
    site["/b"] = Site.Page(Array("no".utf8), status: 500)
    #expect(try home.run("-q").status == 3)
    #expect(try state("/a") == "cached")
    #expect(try state("/b") == "failed")
    #expect(try home.run("pause", server.address("/c")).status == 0)
    #expect(try state("/c") == "paused")
    configure(Self.quiet, paths: ["/a", "/b", "/c", "/d"])
    #expect(try state("/d") == "queued")
    #expect(try home.run("rm", server.address("/a")).status == 0)
    configure(Self.quiet, paths: ["/b", "/c"])
    #expect(try state("/a") == "deleted")
  }

  @Test("A paused item without a body is paused in the report too")
  func pausedReport() throws {
    configure(Self.quiet)
    #expect(try home.run("pause", server.address("/c")).status == 0)
    let run = try home.run("--json")
    #expect(run.status == 0)
    let item = try run.json().list("items").first { $0.text("url")?.hasSuffix("/c") == true }
    #expect(item?.text("state") == "paused" && item?.text("deferred.rule") == "paused", "\(run)")
    #expect(try state("/c") == "paused")
  }

  @Test("An item that a volume limit defers is reported with the time until which it waits")
  func deferredUntil() throws {
    configure(
      "\(Self.quiet.replacing("network: {", with: "network: { daily_limit: 1B, concurrency: 1,"))"
    )
    var run = try home.run("--json")
    if run.status == 0 { run = try home.run("--json", "--refetch") }
    #expect(run.status == 75, "\(run)")
    let report = try run.json()
    let until = try #require(report.text("exit.next_allowed_at")).prefix(19)
    let items = report.list("items").filter { $0.text("deferred.rule") == "daily_limit" }
    #expect(items.allSatisfy { $0.text("deferred.until")?.hasPrefix(until) == true })
    let item = try #require(items.first { $0.text("state") == "idle" })
    let url = try #require(item.text("url"))
    let idle = try home.run("list", "--json", "--state", "idle", "--url", url).json().list("items")
    // The sentence rounds up to a whole second.
    let readable = String(until.prefix(16)).replacing("T", with: " ")
    #expect(idle.first?.text("reason")?.contains("until \(readable)") == true, "\(idle)")
    let explained = try home.run("explain", "--json", url).json()
    #expect(explained.text("state_reason")?.contains("until \(readable)") == true)
    let status = try home.run("status", "--json").json()
    #expect(status.text("segments.0.deferred.until")?.hasPrefix(until) == true)
  }

  @Test("An evicted item is reported as not fitting")
  func evicted() throws {
    for (index, name) in ["/a", "/b"].enumerated() {
      site[name] = Site.Page([UInt8](repeating: UInt8(index), count: 20_000))
    }
    let segments = { (names: [String]) in
      names.enumerated().map { index, name in
        "{ name: s\(name.dropFirst()), priority: \(name == "/a" ? 1 : 2), "
          + "urls: [\(server.address(name))] }"
      }.joined(separator: ", ")
    }
    home.configure("segments: [\(segments(["/b"]))]\ncache: { min_free: 0, size: 25000B }")
    #expect(try home.run("-q").status == 0)
    home.configure("segments: [\(segments(["/a", "/b"]))]\ncache: { min_free: 0, size: 25000B }")
    let run = try home.run("--json")
    #expect(run.status == 3, "\(run)")
    let url = server.address("/b")
    let item = try run.json().list("items").first { $0.text("url") == url }
    #expect(item?.text("error.code") == "cache_full" && item?.text("state") == "failed", "\(run)")
    let explained = try home.run("explain", "--json", url).json()
    #expect(explained.text("state") == "failed", "\(explained)")
    #expect(
      explained.text("state_reason")?.contains("25 kB (`cache.size`)") == true,
      "\(explained)"
    )
    let listed = try home.run("list", "--json", "--url", url).json().list("items")
    #expect(listed.first?.text("error.code") == "cache_full", "\(listed)")
    #expect(try home.run("status", "--json").json().number("segments.1.states.failed") == 1)
  }

  @Test("An item that a behaviour leaves to `get` is `discovered`, and `get` fetches it")
  func withheld() throws {
    configure("download: { behavior: none }\n\(Self.quiet)")
    let run = try home.run("--json")
    #expect(run.status == 0)
    #expect(try run.json().text("segments.0.state") == "current")
    #expect(server.requests.isEmpty)
    #expect(try state("/a") == "discovered")
    #expect(try home.run("--dry-run").output.isEmpty)
    #expect(try home.run("get", server.address("/a")).output == "the body of /a")
    #expect(try state("/a") == "cached")
    #expect(try home.run("-q", "--revalidate").status == 0)
    #expect(server.requests.count == 1, "a run leaves alone what it does not fetch")
    #expect(try home.run("get", "--behavior", "none", server.address("/a")).status == 0)
    #expect(try home.run("get", "--behavior", "none", server.address("/b")).status == 4)
    #expect(server.requests.count == 1)
  }

  @Test("An item in flight is `downloading`, and an interrupted or deferred one is `idle`")
  func open() throws {
    let body = [UInt8](repeating: 7, count: 3 << 20)
    let slow = try LoopbackServer { request in
      let head = Script.head(200, [("Content-Length", "\(body.count)"), ("ETag", "\"1\"")])
      return Script([.send(head + body.prefix(2 << 20)), .silence])
    }
    let url = slow.address("/large")
    home.configure("segments: [{ name: s, urls: [\"\(url)\"] }]\n\(Self.quiet)")
    let run = try home.start(["-q"])
    #expect(slow.waitForRequest("/large"))
    var reported: String?
    for _ in 0..<500 where reported != "downloading" {
      reported = try home.run("explain", "--json", url).json().text("state")
    }
    #expect(reported == "downloading")
    run.signal(9)
    #expect(run.finish().status == 137)
    let item = try home.run("explain", "--json", url).json()
    #expect(item.text("state") == "idle")
    #expect(item.text("state_reason")?.hasPrefix("interrupted") == true)
    home.configure(
      """
      segments: [{ name: s, urls: ["\(server.address("/a"))"], network: { metered: false } }]
      \(Self.quiet)
      """
    )
    let deferred = try home.run("-q", "--network", "cellular,metered")
    #expect(deferred.status == 75, "\(deferred)")
    let idle = try home.run("list", "--json", "--state", "idle").json().list("items")
    let put = idle.first { $0.text("url") == server.address("/a") }
    #expect(put?.text("reason") == "deferred by metered", "\(idle)")
  }

  @Test("A failed item is given up with `retry_failed: false` until a user requests it")
  func givenUp() throws {
    site["/b"] = Site.Page(Array("no".utf8), status: 500)
    configure("download: { retry_failed: false }\n\(Self.quiet)")
    #expect(try home.run("-q").status == 3)
    #expect(server.requests.count { $0.path == "/b" } == 1)
    let again = try home.run("--json")
    #expect(again.status == 3)
    #expect(server.requests.count { $0.path == "/b" } == 1)
    let item = try again.json().list("items").first { $0.text("url")?.hasSuffix("/b") == true }
    #expect(item?.text("error.code") == "failed" && item?.number("error.sdk_code") == -1116)
    #expect(try home.run("--dry-run").output.contains("fail\ts\t-\t\(server.address("/b"))\t"))
    site["/b"] = Site.Page("there")
    #expect(try home.run("get", server.address("/b")).output == "there")
    #expect(try home.run("-q").status == 0)
  }

  @Test("An unknown id is `not_in_manifest` with its provider, and otherwise `not_found`")
  func unknown() throws {
    configure(Self.quiet)
    let named = try home.run("get", "-o", "x", "--json", "--provider", "p", "--id", "none,too")
    #expect(named.status == 4)
    #expect(
      try named.json().list("diagnostics").allSatisfy { $0.text("code") == "not_in_manifest" }
    )
    #expect(try named.json().list("diagnostics").count == 2)
    let lone = try home.run("get", "-o", "x", "--json", "none")
    #expect(lone.status == 4)
    #expect(try lone.json().text("diagnostics.0.code") == "not_found")
  }

  @Test(
    "Each error code reaches the report, and `list` and `explain` where a row has it",
    arguments: [
      ("http", 3, -1119, "items"), ("gone", 3, -1119, "items"), ("stalled", 3, nil, "items"),
      ("timeout", 3, -1101, "items"),
      ("bad_response", 3, -1114, "items"), ("corrupted", 3, -1115, "items"),
      ("digest_mismatch", 5, -1115, "items"), ("too_large", 3, nil, "items"),
      ("cache_full", 3, -1108, "items"), ("bad_url", 3, nil, "manifest"),
      ("transport_security", 5, nil, "items"), ("manifest_guard", 4, nil, "manifest"),
      ("unsupported", 3, nil, "items"), ("connect", 3, nil, "items"),
    ] as [(String, Int32, Int?, String)]
  )
  func codes(code: String, status: Int32, number: Int?, section: String) throws {
    let world = try FailingWorld(code, server: server, site: site, home: home)
    let run = try home.run(["--json"] + world.arguments)
    #expect(run.status == status, "\(run)")
    let report = try run.json()
    let failures = report.list("items") + report.list("segments").compactMap { $0.at("manifest") }
    let failure = failures.first { $0.text("error.code") == code }
    #expect(failure != nil, "\(run)")
    if let number { #expect(failure?.number("error.sdk_code") == number, "\(run)") }
    guard section == "items", let url = failure?.text("url") else { return }
    let explained = try home.run(["explain", "--json", url]).json()
    let reported = [explained.text("state_reason"), explained.text("reason")].compactMap(\.self)
    let message = failure?.text("error.message") ?? ""
    #expect(
      reported.contains { $0 == message } || explained.text("state") == "failed",
      "\(explained)"
    )
    withExtendedLifetime(world) {}
  }

  @Test("A deferring rule is named by every command")
  func rules() throws {
    for (lines, options, rule) in [
      ("network: { allow: [wifi] }", ["--network", "cellular"], "network_type"),
      ("network: { daily_limit: 1B }", [], "daily_limit"),
      ("network: { windows: [] }", [], ""),
    ] as [(String, [String], String)] where !rule.isEmpty {
      let home = try Home(isInMemory: true)
      home.configure(
        """
        segments: [{ name: s, urls: ["\(server.address("/a"))", "\(server.address("/b"))"] }]
        \(lines)
        cache: { min_free: 0 }
        """
      )
      var run = try home.run(["--json"] + options)
      // The body that first exceeds a limit may still complete.
      if run.status == 0 { run = try home.run(["--json", "--refetch"] + options) }
      #expect(run.status == 75, "\(rule): \(run)")
      #expect(run.output.contains("\"\(rule)\""), "\(run)")
    }
  }
}

/// A server and a configuration that cause one error.
private struct FailingWorld {
  var arguments: [String] = []
  private var lost: LoopbackServer?

  init(_ code: String, server: LoopbackServer, site: Site, home: Home) throws {
    var lines = "cache: { min_free: 0 }\nnetwork: { retries: { items: 0, lookups: 0 } }"
    let fine = server.address("/ok")
    site["/ok"] = Site.Page("ok")
    var segment = "{ name: s, urls: [\(fine), { url: \"\(server.address("/x"))\" }] }"
    site["/x"] = Site.Page("the body")
    switch code {
    case "http": site["/x"] = Site.Page(Array("no".utf8), status: 403)
    case "gone": site["/x"] = nil
    case "unsupported":
      segment = "{ name: s, urls: [\(fine), { url: \"\(server.address("/x"))\", type: dash }] }"
    case "corrupted":
      segment = "{ name: s, urls: [\(fine), { url: \"\(server.address("/x"))\", size: 3B }] }"
    case "digest_mismatch":
      let digest = String(repeating: "0", count: 63) + "1"
      segment =
        "{ name: s, urls: [\(fine), { url: \"\(server.address("/x"))\", sha256: \(digest) }] }"
    case "too_large": lines = "cache: { min_free: 0, max_file_size: 3B }"
    case "cache_full": lines = "cache: { min_free: 0, size: 3B }"
    case "transport_security":
      home.write(
        "segments: [{ name: s, urls: [\"http://127.0.0.1:9/x\"] }]\n"
          + "transport_security: { NSExceptionDomains: { other.example: { } } }\n"
      )
      return
    case "manifest_guard", "bad_url":
      let items = code == "manifest_guard" ? "" : #"{"url": "ftp://h.example/x"}, {"url": "x"}"#
      site["/m"] = Site.Page(
        #"{"format": "prefetch-manifest", "version": 1, "items": [\#(items)]}"#
      )
      segment = "{ name: s, manifest: \"\(server.address("/m"))\" }"
    default:
      let script: @Sendable (LoopbackRequest) -> Script = { _ in
        switch code {
        case "bad_response": Script([.send(Array("NONSENSE\r\n\r\n".utf8)), .close])
        default: Script([.silence])
        }
      }
      let lost = try LoopbackServer(script)
      segment = "{ name: s, urls: [\(fine), \"\(lost.address("/x"))\"] }"
      if code == "stalled" || code == "timeout" {
        let limit = code == "stalled" ? "read" : "item"
        lines = lines.replacing("retries:", with: "timeouts: { \(limit): 1s }, retries:")
      }
      if code != "connect" { self.lost = lost }
    }
    home.configure("segments: [\(segment)]\n\(lines)")
  }
}
