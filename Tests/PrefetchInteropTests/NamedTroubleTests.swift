@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchSystem
import PrefetchTestSupport
import Testing

@Suite(
  "Messages about failures on the way to a server",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct NamedTroubleTests {
  private let home: Home

  init() throws {
    home = try Home(isInMemory: true)
  }

  private func declare(_ rules: String) {
    home.write(
      """
      \(rules)
      cache: { min_free: 0 }
      segments: [{ name: files, urls: ["https://origin.example/a"] }]
      """
    )
  }

  @Test("An unreachable proxy is named in the failure, and the server behind it is not")
  func deadProxy() throws {
    declare("network: { proxy: \"http://me:hunter2@127.0.0.1:1\", retries: { items: 0 } }")
    let run = try home.run("run")
    #expect(run.status == 69, "\(run)")
    #expect(run.errors.contains("the proxy `127.0.0.1:1` refused the connection"))
    #expect(!run.errors.contains("`origin.example` refused"))
    #expect(!run.errors.contains("hunter2"))
  }

  @Test("A proxy that requires credentials is named over https and http, and the run ends with 77")
  func refusingProxy() throws {
    let proxy = try LoopbackServer { _ in .respond(407, [("Proxy-Authenticate", "Basic realm=x")]) }
    declare("network: { proxy: \"http://127.0.0.1:\(proxy.port)\" }")
    let secure = try home.run("run")
    #expect(secure.status == 77, "\(secure)")
    #expect(secure.errors.contains("the proxy `127.0.0.1:\(proxy.port)` did not accept"))
    home.write(
      """
      allow_http: [origin.example]
      network: { proxy: "http://127.0.0.1:\(proxy.port)" }
      cache: { min_free: 0 }
      segments: [{ name: files, urls: ["http://origin.example/a"] }]
      """
    )
    let insecure = try home.run("run")
    #expect(insecure.status == 77, "\(insecure)")
    #expect(insecure.errors.contains("did not accept our credentials (407)"))
  }

  @Test(
    "A missing certificate file is reported before any request",
    arguments: ["ca_file", "ca_dir", "client"]
  )
  func missingFiles(key: String) throws {
    let path = home.path("nowhere.pem")
    home.write("not secret", to: "key.pem")
    let value =
      key == "client"
      ? "{ origin.example: { certificate: \"\(path)\", key: key.pem } }" : "\"\(path)\""
    declare("tls: { \(key): \(value) }")
    for command in ["run", "plan", "check"] {
      let run = try home.run(command)
      #expect(run.status == 78, "\(run)")
      #expect(run.errors.contains("`\(path)` is missing or cannot be read"), "\(run)")
    }
    let got = try home.run("get", "https://origin.example/a")
    #expect(got.status == 78, "\(got)")
    let doctor = try home.run("doctor")
    #expect(doctor.output.contains(path) || doctor.errors.contains(path), "\(doctor)")
    #expect(try home.run("list").status == 0)
    #expect(try home.run("check", "--no-secrets").status == 0)
  }

  @Test("A `tls.ca_file` that is not PEM is reported before any request")
  func notPEM() throws {
    home.write([0x30, 0x82, 0x01, 0xFF], to: "ca.der")
    declare("tls: { ca_file: ca.der }")
    for command in ["run", "check"] {
      let run = try home.run(command)
      #expect(run.status == 78, "\(run)")
      #expect(run.errors.contains("holds no certificate in PEM"), "\(run)")
      #expect(run.errors.contains("openssl x509 -inform der"), "\(run)")
    }
  }

  @Test("An unknown issuer of a certificate is reported with the key for private authorities")
  func unknownAuthority() throws {
    let trust = try TrustGround.shared.get()
    let server = try TLSServer(.init(try trust.leaf(for: "IP:127.0.0.1")))
    let url = try server.url("/a")
    home.write("cache: { min_free: 0 }\nsegments: [{ name: s, urls: [\"\(url)\"] }]")
    let run = try home.run("run")
    #expect(run.status == 5, "\(run)")
    #expect(run.errors.contains("a private authority goes into `tls.ca_file`"), "\(run)")
  }

  @Test("A refusal for lack of credentials names the keys that give them and the headers left out")
  func wantedCredentials() throws {
    let other = try LoopbackServer { _ in .respond(401) }
    let site = Site(["/list": Site.Page("\(try other.url("/a"))\n")])
    let lists = try LoopbackServer { request in
      request.path == "/moved"
        ? .respond(302, [("Location", other.address("/a"))]) : site.respond(to: request)
    }
    func report(_ source: String, _ headers: String = "") throws -> String {
      home.configure(
        "cache: { min_free: 0 }\nsegments: [{ name: s, \(source), format: list\(headers) }]"
      )
      let run = try home.run("run", "--refetch")
      #expect(run.status == 4, "\(run)")
      return run.errors
    }
    let secret = ", headers: { X-Token: hunter2 }"
    let list = "manifest: \"\(try lists.url("/list"))\""
    let bare = try report(list)
    #expect(
      bare.contains("answered 401; set credentials in a rule of `transport.rules`"),
      "\(bare)"
    )
    home.write("\(try other.url("/a"))\n", to: "list.txt")
    let local = try report("manifest: list.txt", secret)
    #expect(local.contains("this list is a local file"), "\(local)")
    #expect(local.contains("`transport.rules`"), "\(local)")
    let inline = try report("urls: [\"\(try other.url("/a"))\"]")
    #expect(
      inline.contains("answered 401; set credentials in `headers` of its segment"),
      "\(inline)"
    )
    let held = "the header `X-Token` was not sent to it: `headers` go to"
    let own = try lists.url("/").authority
    #expect(try report(list, secret).contains("\(held) `\(own)` alone"))
    #expect(other.requests.allSatisfy { $0.headers["X-Token"] == nil })
    let explained = try home.run("explain", other.url("/a").string)
    #expect(explained.output.contains("`X-Token` goes to `\(own)` alone"), "\(explained)")
    home.configure(
      "cache: { min_free: 0 }\nsegments: [{ name: s, urls: [\"\(try lists.url("/moved"))\"]\(secret) }]"
    )
    let moved = try home.run("run")
    #expect(moved.errors.contains("\(held) `\(own)` alone"), "\(moved)")
  }

  @Test(
    "A configuration that this user may not read is named as such",
    .enabled(if: geteuid() == 0, "needs root, who may become another user")
  )
  func forbiddenConfiguration() throws {
    declare("")
    var other = home
    try other.give(to: 65_534)
    try #require(unsafe chmod(home.path("prefetch.yaml"), 0) == 0)
    let run = try other.run("check")
    #expect(run.status == 78, "\(run)")
    #expect(run.errors.contains("prefetch.yaml` may not be read by this user"), "\(run)")
  }

  @Test("An unreadable netrc is reported with the key that enables it")
  func unreadableNetrc() throws {
    declare("network: { netrc: true, proxy: \"http://127.0.0.1:1\", retries: { items: 0 } }")
    let run = try home.run("run")
    #expect(run.errors.contains("make the file readable, or remove `network.netrc`"), "\(run)")
  }

  @Test("An unreadable netrc is reported once in a run that also registers a license")
  func netrcOnce() throws {
    declare(
      """
      network: { netrc: true, proxy: "http://127.0.0.1:1", retries: { items: 0 } }
      license: abc
      registration: { url: "https://origin.example/register" }
      """
    )
    let run = try home.run("run")
    #expect(run.errors.split(separator: "netrc.unreadable").count == 2, "\(run)")
  }

  @Test("`check` and `doctor` warn of a `no_proxy` that has no effect beside `network.proxy`")
  func proxyExceptions() throws {
    declare("network: { proxy: \"http://127.0.0.1:1\" }")
    var home = home
    #expect(try !home.run("check").errors.contains("config.no-proxy"))
    home.variables["no_proxy"] = "origin.example"
    let check = try home.run("check")
    #expect(check.status == 0, "\(check)")
    #expect(check.errors.contains("`no_proxy` has no effect beside `network.proxy`"), "\(check)")
    #expect(try home.run("doctor").output.contains("`no_proxy` has no effect"))
    declare("")
    #expect(try !home.run("check").errors.contains("config.no-proxy"))
  }

  @Test("A run that fails in the middle of a body says that its part is kept")
  func keptPart() throws {
    let head = Script.head(200, [("ETag", "\"a\""), ("Content-Length", "1000000")])
    let server = try LoopbackServer { _ in
      Script([.send(head + [UInt8](repeating: 7, count: 600_000)), .close])
    }
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0 } }
      segments: [{ name: s, urls: ["\(server.address("/a"))"] }]
      """
    )
    let run = try home.run("run")
    #expect(run.status == 69, "\(run)")
    #expect(run.errors.contains("; 1 partial download is kept for the next run"), "\(run)")
  }

  @Test("A media type with a suffix decides about a list as one without does")
  func suffixedType() throws {
    let list = #"{"format": "prefetch-manifest", "version": 1, "items": []}"#
    let server = try LoopbackServer { _ in
      .respond(200, [("Content-Type", "Application/Metalink4+XML; charset=utf-8")], text: list)
    }
    home.configure(
      "cache: { min_free: 0 }\nsegments: [{ name: s, manifest: \"\(server.address("/list"))\" }]"
    )
    let run = try home.run("run")
    #expect(run.status == 4, "\(run)")
    #expect(run.errors.contains("the media type says a Metalink"), "\(run)")
  }

  @Test("Faults of a configuration in one long line are reported without its text")
  func longLine() throws {
    let bad = Array(repeating: #"{"name": "s", "manifezt": "x"}"#, count: 1300)
    let path = home.write(
      #"{"version": 1, "segments": [\#(bad.joined(separator: ","))]}"#,
      to: "long.json"
    )
    let check = try home.run("check", "-c", path)
    #expect(check.status == 78)
    #expect(check.errors.contains("long.json:1:"), "\(check.errors.prefix(400))")
    #expect(!check.errors.contains(" | "), "\(check.errors.prefix(400))")
  }
}
