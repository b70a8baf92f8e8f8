import PrefetchTestSupport
import Testing

@Suite(
  "HTTP/3",
  .enabled(if: Binary.http3Path != nil, "needs PREFETCH_HTTP3_BINARY, which Tests/http3 makes"),
  .enabled(if: Caddy.isInstalled && Certificate.isPossible, "needs caddy and openssl")
)
struct HTTP3Tests {
  private static let count = 300

  private let home: Home
  private let certificate: Certificate

  init() throws {
    home = try Home(binary: Binary.http3Path)
    certificate = try Certificate(in: home)
  }

  /// A server of files and of a manifest with their digests.
  private func serve(_ versions: [String]) throws -> Caddy {
    let server = try Caddy(certificate, versions: versions)
    for number in 0..<Self.count { server.write(body(number), to: "f\(number)") }
    let entries = (0..<Self.count).map {
      Manifest.Entry("f\($0)", digest: Digest.hexadecimal(body($0)))
    }
    server.write(Manifest.text(entries), to: "manifest.json")
    return server
  }

  private func body(_ number: Int) -> String {
    String(repeating: "body \(number)\n", count: 1 + number * 7)
  }

  private func declare(_ server: Caddy, _ more: String = "", authority: String = "ca.pem") {
    home.write(
      """
      segments: [{ name: basics, manifest: "\(server.url("manifest.json"))" }]
      tls: { ca_file: \(authority) }
      \(more)

      """
    )
  }

  /// Returns the HTTP versions of a run in which `total` counts all items.
  private func versions(
    _ total: String,
    _ location: Testing.SourceLocation = #_sourceLocation
  ) throws -> Set<String?> {
    let run = try home.run("--json", "--items", "all", "--revalidate")
    #expect(run.status == 0, "\(run)", sourceLocation: location)
    #expect(try run.totals()[total] == Self.count, sourceLocation: location)
    return Set(try run.json().list("items").map { $0.text("http_version") })
  }

  // MARK: It works

  @Test("HTTP/3 is preferred for first fetches and for revalidation")
  func isPreferred() throws {
    let server = try serve(["h1", "h2", "h3"])
    declare(server)
    #expect(try versions("fetched") == ["3"])
    let digests = (0..<Self.count).map { Digest.hexadecimal(body($0)) }
    #expect(Set(digests).isSubset(of: FileTree.objects(home.cache).keys))
    #expect(try versions("revalidated") == ["3"])
    #expect(try home.run("verify").status == 0)
    let responseVersions = server.stop()
    #expect(responseVersions.count == 2 * (1 + Self.count))
    #expect(Set(responseVersions) == ["HTTP/3.0"])
  }

  @Test("HTTP/3 serves single items")
  func single() throws {
    let server = try serve(["h1", "h2", "h3"])
    declare(server)
    let run = try home.run("get", server.url("f7"))
    #expect(run.status == 0, "\(run)")
    #expect(run.output == body(7))
    #expect(server.stop() == ["HTTP/3.0"])
  }

  @Test(
    "An untrusted certificate over HTTP/3 gets no request, and no older version is tried",
    arguments: [["h1", "h2", "h3"], ["h1", "h2"]]
  )
  func untrusted(versions: [String]) throws {
    let server = try serve(versions)
    _ = try home.shell("openssl req -x509 -nodes -subj /CN=other -keyout o.key -out other.pem")
    declare(server, authority: "other.pem")
    let run = try home.run("--json")
    #expect(run.status == 5, "\(run)")
    #expect(try run.json().text("segments.0.manifest.error.code") == "certificate")
    #expect(try run.totals()["retries"] == 0)
    #expect(server.stop().isEmpty)
  }

  // MARK: It does not get through

  @Test(
    "Blocked HTTP/3 falls back to HTTP/2, for a day or until the configuration changes",
    arguments: [true, false]
  )
  func blocked(isSwallowed: Bool) throws {
    let server = try serve(["h1", "h2"])
    declare(server)
    let firewall = isSwallowed ? try DatagramEar(server.port) : nil
    #expect(try versions("fetched") == ["2"])
    #expect(firewall?.drainCount() != 0)

    let ear = try firewall ?? DatagramEar(server.port)
    #expect(try versions("revalidated") == ["2"])
    #expect(try home.run("get", "--revalidate", server.url("f1")).output == body(1))
    #expect(try home.run("plan").status == 0)
    #expect(ear.drainCount() == 0)

    declare(server, "network: { user_agent: another }")
    #expect(try versions("revalidated") == ["2"])
    #expect(ear.drainCount() > 0)
    declare(server)
    #expect(try versions("revalidated") == ["2"])
    #expect(ear.drainCount() == 0)
  }

  @Test("A blocked HTTP/3 connection of a single item is remembered too")
  func blockedItem() throws {
    let server = try serve(["h1", "h2"])
    server.write("another", to: "other")
    declare(server)
    let ear = try DatagramEar(server.port)
    #expect(try home.run("get", server.url("other")).output == "another")
    #expect(ear.drainCount() > 0)
    #expect(try versions("fetched") == ["2"])
    #expect(ear.drainCount() == 0)
  }

  @Test("HTTP/3 connections that break later fall back to HTTP/2", arguments: [12, 100])
  func broken(passing: Int) throws {
    let (older, newer) = (try serve(["h1", "h2"]), try serve(["h1", "h2", "h3"]))
    declare(older, "network: { timeouts: { read: 1s }, retries: { delay: 1ms, max_delay: 1ms } }")
    do {
      let relay = try DatagramRelay(from: older.port, to: newer.port, limit: passing)
      #expect(try versions("fetched").contains("2"))
      withExtendedLifetime(relay) {}
    }
    let ear = try DatagramEar(older.port)
    #expect(try versions("revalidated") == ["2"])
    #expect(ear.drainCount() == 0)
    #expect(newer.stop().contains("HTTP/3.0"))
  }

  // MARK: It is not wanted

  @Test(
    "HTTP/3 is not tried where the configuration names an older version",
    arguments: ["1.1", "2"]
  )
  func older(version: String) throws {
    let server = try serve(["h1", "h2"])
    let ear = try DatagramEar(server.port)
    declare(server, "network: { http: \"\(version)\" }")
    #expect(try versions("fetched") == [version])
    #expect(ear.drainCount() == 0)
    declare(server, "network: { http: \"3\" }")
    #expect(try versions("revalidated") == ["2"])
    #expect(ear.drainCount() > 0)
  }

  @Test("HTTP/3 is not tried through a proxy", arguments: [true, false])
  func proxied(isConfigured: Bool) throws {
    let server = try serve(["h1", "h2"])
    let ear = try DatagramEar(server.port)
    let proxy = try LoopbackServer { _ in .respond(403) }
    let address = "http://127.0.0.1:\(proxy.port)"
    var home = home
    if !isConfigured { home.variables["https_proxy"] = address }
    declare(server, isConfigured ? "network: { proxy: \"\(address)\" }" : "")
    let run = try home.run()
    #expect(run.status != 0, "\(run)")
    #expect(proxy.requests.first?.method == "CONNECT")
    #expect(ear.drainCount() == 0)
    declare(server)
    #expect(try versions("fetched") == ["2"])
    #expect(ear.drainCount() > 0)
  }
}
