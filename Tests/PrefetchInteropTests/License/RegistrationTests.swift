import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("A license that is registered", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct RegistrationTests {
  private var home: Home
  private let license: LicenseServer
  /// Server that needs no credentials.
  private let other: LoopbackServer

  init() throws {
    home = try Home()
    home.variables["KEY"] = "key-of-the-test-1"
    license = try LicenseServer()
    other = try LoopbackServer { _ in .respond(200, text: "free") }
    configure()
  }

  private func configure(_ more: String = "registration: { retry: 10m, url: \"ENDPOINT\" }") {
    home.configure(
      """
      license: ${env:KEY}
      bundle_id: org.example.app
      segments:
        - { name: known, manifest: "\(license.server.address("/manifest.json"))" }
        - { name: free, urls: ["\(other.address("/free"))"] }
      network: { retries: { items: 0, lookups: 0 }, timeouts: { read: 300ms } }
      \(more.replacing("ENDPOINT", with: license.endpoint))
      """
    )
  }

  private func run(_ arguments: String...) throws -> (status: Int32, report: Node) {
    let run = try home.start(arguments + ["--json", "--items", "all"]).finish()
    return (run.status, try run.json())
  }

  private var status: String? {
    get throws { try home.run("status", "--json").json().text("registration") }
  }

  @Test("A license is registered once, and its token goes with every request to that origin")
  func granted() throws {
    #expect(try status == "not_registered")
    let first = try run()
    #expect(first.status == 0)
    #expect(first.report.number("totals.requests") == 4)
    let request = try #require(license.server.requests.first)
    #expect(request.headers["Content-Type"] == "application/json")
    let body = try Node(json: String(decoding: request.body, as: UTF8.self))
    #expect(body.text("bundle_id") == "org.example.app")
    #expect(body.text("tool.name") == "prefetch")
    #expect(body.text("tool.version") != nil)
    #expect(body.list("segments").map(\.text) == ["known", "free"])
    for _ in 0..<2 { #expect(try run().status == 0) }
    #expect(license.keys == ["Bearer key-of-the-test-1"])
    #expect(Set(license.shown) == ["Bearer \(LicenseServer.token)"])
    #expect(license.shown.count == 6)
    #expect(other.requests.allSatisfy { $0.headers["Authorization"] == nil })
    #expect(try status == "registered")
  }

  @Test("A license goes with every request itself where the server granted no token")
  func withoutToken() throws {
    license.setReply(LicenseServer.granting(""))
    for _ in 0..<2 { #expect(try run().status == 0) }
    #expect(license.keys.count == 1)
    #expect(Set(license.shown) == ["Bearer key-of-the-test-1"])
    #expect(other.requests.allSatisfy { $0.headers["Authorization"] == nil })
  }

  @Test("A refused license is not sent again before it changes", arguments: [401, 403])
  func refused(status: Int) throws {
    license.setReply(.respond(status))
    for _ in 0..<3 {
      let (code, report) = try run()
      #expect(code == 77)
      #expect(report.text("segments.0.manifest.error.code") == "license_refused")
      #expect(report.text("segments.1.state") == "current")
      #expect(
        report.list("diagnostics").map { $0.text("code") } == ["registration.license_refused"]
      )
    }
    #expect(license.keys.count == 1)
    #expect(license.shown.isEmpty)
    #expect(try self.status == "refused")
    // A command may register again after a refusal.
    license.setReply(LicenseServer.granting())
    let register = try home.run("register")
    #expect(register.status == 0, "\(register)")
    #expect(try run().status == 0)
  }

  @Test("A changed license is sent again, each key once")
  func changed() throws {
    license.setReply(.respond(403))
    #expect(try run().status == 77)
    license.setReply(LicenseServer.granting())
    var changed = home
    changed.variables["KEY"] = "key-of-the-test-2"
    for _ in 0..<2 { #expect(try changed.run("run").status == 0) }
    #expect(try run().status == 77)
    #expect(license.keys == ["Bearer key-of-the-test-1", "Bearer key-of-the-test-2"])
  }

  @Test(
    "A license that is neither accepted nor refused defers only its origin until the pause ends",
    arguments: [
      ("server_busy", Script.respond(500)), ("server_busy", .respond(503)),
      ("http", .respond(404)), ("http", .respond(204)), ("bad_response", .respond(200, text: "no")),
      ("bad_response", .respond(200)), ("bad_response", .respond(200, text: "[]")),
      ("bad_response", LicenseServer.granting(#""token": 5"#)),
      ("bad_response", LicenseServer.granting(#""token": "a\r\nb""#)),
      ("bad_response", LicenseServer.granting(#""expires": "soon""#)),
      ("bad_response", LicenseServer.granting(#""expires": "2020-01-01T00:00:00Z""#)),
      ("too_large", .respond(200, body: [UInt8](repeating: 32, count: 100_000))),
      ("stalled", Script([.silence])), ("reset", Script([.reset])),
      ("http", .respond(302, [("Location", "/elsewhere")])),
    ]
  )
  func failed(code: String, reply: Script) throws {
    license.setReply(reply)
    var allowed: [String?] = []
    for number in 0..<3 {
      let (status, report) = try run()
      #expect(status == 75, "\(number)")
      #expect(report.text("segments.0.deferred.rule") == "registration")
      #expect(report.text("segments.1.state") == "current")
      #expect(report.list("diagnostics").map { $0.text("code") } == ["registration.\(code)"])
      allowed.append(report.text("exit.next_allowed_at"))
    }
    #expect(allowed[0] != nil)
    #expect(Set(allowed).count == 1)
    #expect(license.keys.count == 1)
    #expect(license.shown.isEmpty)
    #expect(other.requests.count == 3)
    // The pause is over.
    configure("registration: { retry: 1ms, url: \"ENDPOINT\" }")
    license.setReply(LicenseServer.granting())
    #expect(try run().status == 0)
    #expect(license.keys.count == 2)
    #expect(license.shown.count == 2)
  }

  @Test("A license for another bundle is refused until the configuration names that bundle")
  func bundle() throws {
    license.setReply(
      LicenseServer.granting(#""bundle_id": "org.example.other", "token": "abcdefg""#)
    )
    for _ in 0..<2 {
      let (status, report) = try run()
      #expect(status == 77)
      #expect(report.text("segments.0.manifest.error.code") == "bundle_mismatch")
    }
    #expect(license.keys.count == 1)
    #expect(license.shown.isEmpty)
    #expect(try run("--set", "bundle_id=org.example.other").status == 0)
    #expect(license.keys.count == 2)
    #expect(Set(license.shown) == ["Bearer abcdefg"])
  }

  @Test("A token that the origin refuses ends the run with 77")
  func tokenRefused() throws {
    let server = try LoopbackServer { request in
      request.method == "POST" ? LicenseServer.granting() : .respond(401)
    }
    home.configure(
      """
      license: ${env:KEY}
      registration: { url: "\(server.address("/license"))" }
      segments: [{ name: known, urls: ["\(server.address("/a"))"] }]
      """
    )
    let (status, report) = try run()
    #expect(status == 77)
    #expect(report.text("items.0.error.code") == "credentials_refused")
  }

  @Test("A license is not sent by a dry run, by `get`, or offline")
  func contactsNoServer() throws {
    for arguments in [
      ["plan"], ["run", "--dry-run"], ["status"], ["check"],
    ] {
      _ = try home.start(arguments).finish()
      #expect(license.server.requests.isEmpty, "\(arguments)")
    }
    #expect(!FileTree.exists("\(home.state)/state.sqlite"))
    #expect(try home.run("run", "--offline").status != 75)
    #expect(license.server.requests.isEmpty)
    let get = try home.run("get", license.server.address("/one"))
    #expect(get.status == 75, "\(get)")
    #expect(license.server.requests.isEmpty)
    #expect(try home.run("run").status == 0)
    #expect(try home.run("get", license.server.address("/two")).output == "body of /two")
    #expect(try home.run("plan").status == 0)
    #expect(license.keys.count == 1)
    #expect(Set(license.shown) == ["Bearer \(LicenseServer.token)"])
  }

  @Test("A license is sent only to an endpoint that the transport rules allow")
  func transportSecurity() throws {
    home.write(
      """
      license: ${env:KEY}
      registration: { url: "\(license.endpoint)" }
      segments: [{ name: known, urls: ["\(license.server.address("/a"))"] }]

      """
    )
    let (status, report) = try run()
    #expect(status == 5)
    #expect(
      report.list("diagnostics").map { $0.text("code") }
        == ["registration.transport_security"]
    )
    #expect(license.server.connectionCount == 0)
  }

  @Test("A license is not shown to a proxy in plain text")
  func proxy() throws {
    var proxied = home
    let proxy = try LoopbackServer { _ in .respond(200, text: "{}") }
    proxied.variables["http_proxy"] = proxy.address("")
    let run = try proxied.run("--json")
    #expect(run.status == 5, "\(run)")
    #expect(proxy.requests.allSatisfy { $0.headers["Authorization"] == nil && $0.method == "GET" })
    #expect(license.server.connectionCount == 0)
  }

  @Test(
    "A license stays at its origin when the endpoint redirects",
    arguments: [301, 302, 303, 307, 308]
  )
  func redirected(status: Int) throws {
    license.setReply(.respond(status, [("Location", other.address("/license"))]))
    #expect(try run().status == 75)
    #expect(other.requests.map(\.path) == ["/free"])
    #expect(license.keys.count == 1)
  }

  @Test("A license follows a redirect within its origin where method and body stay the same")
  func moved() throws {
    let server = try LoopbackServer { request in
      switch (request.method, request.path) {
      case ("POST", "/old"): .respond(308, [("Location", "/new")])
      case ("POST", "/new"): LicenseServer.granting()
      default: .respond(200, text: "x")
      }
    }
    home.configure(
      """
      license: ${env:KEY}
      registration: { url: "\(server.address("/old"))" }
      segments: [{ name: known, urls: ["\(server.address("/a"))"] }]
      """
    )
    #expect(try run().status == 0)
    #expect(server.requests.map(\.path) == ["/old", "/new", "/a"])
    #expect(server.requests[0].body == server.requests[1].body)
    #expect(server.requests[1].headers["Authorization"] == "Bearer key-of-the-test-1")
  }

  @Test("A missing license is an error of the configuration")
  func missing() throws {
    for command in [["run"], ["plan"], ["register"], ["check"]] {
      let run = try home.start(
        command + [
          "-c",
          home.write(
            """
            registration: { url: "https://license.example.com/v1" }
            segments: [{ name: known, urls: ["https://license.example.com/a"] }]

            """,
            to: "bare.yaml"
          ),
        ]
      ).finish()
      #expect(run.status == 78, "\(run)")
      #expect(run.errors.contains("config.no-license"), "\(run)")
    }
    configure("")
    let run = try home.run("register")
    #expect(run.status == 78, "\(run)")
    #expect(run.errors.contains("config.no-registration"))
    #expect(try home.run("run").status == 0)
    #expect(license.keys.isEmpty)
    #expect(Set(license.shown) == ["none"])
  }

  @Test("The outcome of a registration is reported in events")
  func events() throws {
    #expect(try home.run("--events", "events").status == 0)
    #expect(try home.run("--events", "events").status == 0)
    license.setReply(.respond(500))
    #expect(try home.run("register").status == 69)
    #expect(try home.run("--events", "events").status == 0)
    license.setReply(.respond(403))
    #expect(try home.run("register").status == 77)
    var other = home
    other.variables["KEY"] = "key-of-the-test-2"
    #expect(try other.run("--events", "events").status == 77)
    let lines = try (home.read("events") ?? "").split(separator: "\n").map {
      try Node(json: String($0))
    }
    let reported = lines.filter { $0.text("event")?.hasPrefix("registration.") == true }
    #expect(
      reported.map { $0.text("event") } == [
        "registration.ok", "registration.ok", "registration.ok", "registration.failed",
      ]
    )
    #expect(reported.map { $0.text("first") } == ["true", "false", "false", nil])
    // A run starts once its settings are known.
    #expect(lines.prefix(2).map { $0.text("event") } == ["registration.ok", "run.started"])
    #expect(reported.last?.text("code") == "license_refused")
  }

  @Test(
    "A failed renewal of a license is reported with its reason",
    arguments: [
      (nil, 69, "503"), (#""expires": "2020-01-01T00:00:00Z""#, 75, "has expired already"),
      (#""policy": { "windows": 7 }"#, 75, "could not be read"),
    ] as [(String?, Int32, String)]
  )
  func renewal(members: String?, status: Int32, words: String) throws {
    for isFirst in [true, false] {
      if !isFirst {
        license.setReply(LicenseServer.granting(#""token": "abcdefg""#))
        #expect(try home.run("register").status == 0)
      }
      license.setReply(members.map { LicenseServer.granting($0) } ?? .respond(503))
      let register = try home.run("register", "--json")
      #expect(register.status == status && register.errors.contains(words), "\(register)")
      if !isFirst {
        #expect(try register.json().text("error.message")?.contains(words) == true, "\(register)")
        #expect(register.errors.contains("the earlier registration stays valid"), "\(register)")
      }
      let doctor = try home.run("doctor")
      #expect(doctor.output.contains(words), "\(doctor)")
    }
  }

  @Test("A license that `register` loses is not sent again")
  func lost() throws {
    let soon = Timestamp.format(Instant(seconds: 4_000_000_000))
    license.setReply(LicenseServer.granting(#""token": "abcdefg", "expires": "\#(soon)""#))
    #expect(try run().status == 0)
    license.setReply(.respond(401))
    let register = try home.run("register", "--json")
    #expect(register.status == 77, "\(register)")
    let document = try register.json()
    #expect(document.text("schema") == "prefetch-register/1")
    #expect(document.text("registration") == "refused")
    #expect(document.text("error.code") == "license_refused")
    #expect(try run().status == 77)
    #expect(license.keys.count == 2)
  }
}
