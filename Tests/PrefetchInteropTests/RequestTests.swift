import PrefetchCore
import PrefetchTestSupport
import Testing

/// Heads and bodies of requests as servers receive them.
@Suite("Contents of a request", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct RequestTests {
  private let home: Home
  private let site = Site()
  private let server: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    server = try LoopbackServer { [site] in site.respond(to: $0) }
    for path in ["/a", "/b", "/near"] { site[path] = Site.Page("body of \(path)") }
  }

  private func configure(_ lines: String, paths: String...) {
    let urls = paths.map { "\"\(server.address($0))\"" }.joined(separator: ", ")
    home.configure("cache: { min_free: 0 }\nsegments: [{ name: s, urls: [\(urls)] }]\n\(lines)")
  }

  @Test("A request has the program and its version, or the configured agent")
  func agent() throws {
    configure("", paths: "/a")
    #expect(try home.run("-q").status == 0)
    let version = try home.run("--version").lines[0].split(separator: " ")[1]
    #expect(server.requests.last?.headers["User-Agent"] == "prefetch/\(version)")
    configure("network: { user_agent: kiosk/7 }", paths: "/b")
    #expect(try home.run("-q").status == 0)
    #expect(server.requests.last?.headers["User-Agent"] == "kiosk/7")
  }

  @Test("Registrations and batches of events are the only requests with a body")
  func bodies() throws {
    let license = try LicenseServer()
    let collector = try Collector()
    let lines = """
      license: key-of-the-test
      registration: { url: "\(license.endpoint)" }
      analytics: { enabled: true, endpoint: "\(collector.endpoint)" }
      """
    configure(lines, paths: "/a")
    #expect(try home.run("event", "log", "one").status == 0)
    #expect(try home.run("-q").status == 0)
    configure(lines, paths: "/a", "/b")
    #expect(try home.run("plan").status == 0)
    let posts = license.server.requests + collector.posts
    #expect(posts.map(\.method) == ["POST", "POST"])
    #expect(posts.allSatisfy { !$0.body.isEmpty })
    #expect(Set(server.requests.map(\.method)) == ["GET", "HEAD"])
    for request in server.requests {
      #expect(request.body.isEmpty)
      for name in ["Content-Length", "Transfer-Encoding", "Content-Type"] {
        #expect(request.headers[HeaderName(name)] == nil, "\(request)")
      }
    }
  }

  @Test("Blanks around a license are not sent")
  func trimmedLicense() throws {
    let license = try LicenseServer()
    home.write(
      """
      <plist version="1.0"><dict>
      <key>com.akamai</key><dict><key>map</key><dict>
      <key>api_key</key><string>  key-of-the-test
      </string><key>segments</key><array/></dict></dict>
      <key>NSAppTransportSecurity</key><dict><key>NSAllowsLocalNetworking</key><true/></dict>
      </dict></plist>
      """,
      to: "Info.plist"
    )
    let register = try home.run("register", "--set", "registration.url=\(license.endpoint)")
    #expect(register.status == 0, "\(register)")
    #expect(license.keys == ["Bearer key-of-the-test"])
  }

  @Test("A rule sends matching requests through its proxy, and one without `match` applies to all")
  func rules() throws {
    let proxy = try LoopbackServer { _ in .respond(200, text: "from the proxy") }
    configure(
      """
      transport:
        rules:
          - { match: { url: "\(server.address("/far/**"))", method: get },
              proxy: "http://127.0.0.1:\(proxy.port)" }
          - { headers: { X-Team: news } }
      """,
      paths: "/far/a",
      "/near"
    )
    #expect(try home.run("-q").status == 0)
    #expect(proxy.requests.map(\.target) == [server.address("/far/a")])
    #expect(server.requests.map(\.path) == ["/near"])
    #expect(server.requests.map { $0.headers["X-Team"] } == ["news"])
    #expect(try home.run("get", "--offline", server.address("/far/a")).output == "from the proxy")
  }
}
