@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("Variables of the environment", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct EnvironmentTests {
  private let ground: TrustGround
  private var home: Home
  private let server: TLSServer
  private let trap: LoopbackServer

  init() throws {
    ground = try TrustGround.shared.get()
    home = try Home()
    server = try TLSServer(TLSServer.Options(try ground.leaf()))
    trap = try LoopbackServer { _ in .respond(200, text: "from the proxy") }
    let folder = home.folder
    for name in ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"] {
      home.variables[name] = "http://127.0.0.1:\(trap.port)"
    }
    home.variables["SSLKEYLOGFILE"] = folder.appending("keys.log")
    home.variables["OPENSSL_CONF"] = home.write(
      """
      openssl_conf = start
      [start]
      ssl_conf = ssl
      alg_section = algorithms
      providers = providers
      [providers]
      evil = evil
      [evil]
      module = \(folder.appending("evil.so"))
      activate = 1
      [algorithms]
      default_properties = provider=evil
      [ssl]
      system_default = weak
      [weak]
      CipherString = ALL@SECLEVEL=0
      MinProtocol = TLSv1

      """,
      to: "openssl.cnf"
    )
    FileTree.write(
      Array("machine 127.0.0.1 login anna password canary-of-netrc\n".utf8),
      to: folder.appending("home/.netrc")
    )
    unsafe chmod(folder.appending("home/.netrc"), 0o600)
  }

  private func declare(_ network: String, _ url: WebURL, _ more: String = "") {
    home.write(
      """
      segments: [{ name: s, urls: ["\(url.string)"] }]
      tls: { ca_file: "\(ground.authorities)" }
      network: \(network)
      \(more)

      """
    )
  }

  @Test("Variables of the environment have no effect unless the configuration asks for them")
  func ignored() throws {
    declare("{ proxy: none }", try server.url("/a"))
    let run = try home.run("-vv", "--json")
    #expect(run.status == 0, "\(run)")
    #expect(server.record.requests == 1)
    #expect(trap.connectionCount == 0)
    #expect(FileTree.read(home.folder.appending("keys.log")) == nil)
    #expect(server.requestText.contains("GET /a "))
    #expect(!server.requestText.contains("Authorization"))
    #expect(!run.errors.contains("canary-of-netrc") && !run.output.contains("canary-of-netrc"))
  }

  @Test("Variables of the environment do not make weak servers acceptable")
  func weakServer() throws {
    var options = TLSServer.Options(try ground.leaf(key: ground.rsa))
    options.versions = .tls10 ... .tls11
    options.ciphers = "ALL"
    let old = try TLSServer(options)
    declare("{ proxy: none }", try old.url("/a"))
    #expect(try home.run().status == 5)
    #expect(old.record.bytes == 0)
    let short = try TLSServer(TLSServer.Options(try ground.leaf(key: ground.shortRSA)))
    declare("{ proxy: none }", try short.url("/a"))
    #expect(try home.run().status == 5)
    #expect(short.record.bytes == 0)
  }

  @Test(
    "Reading commands load nothing that variables of the environment name",
    arguments: ["verify", "list", "config"]
  )
  func readingCommands(command: String) throws {
    declare("{ proxy: none }", try server.url("/a"))
    #expect(try home.run().status == 0)
    let run = try home.run(command)
    #expect(run.status == 0, "\(run)")
  }

  @Test("The proxy of the environment is used unless the configuration says otherwise")
  func proxies() throws {
    let insecure = try WebURL("http://127.0.0.1:\(LoopbackPort.free())/a")
    let local = "transport_security: { NSAllowsLocalNetworking: true }"
    for network in ["{ proxy: env }", "{}"] {
      declare(network, insecure, local)
      let run = try home.run("--refetch")
      #expect(run.status == 0, "\(run)")
    }
    #expect(trap.requests.count == 2)
    let named = try LoopbackServer { _ in .respond(200, text: "from another proxy") }
    declare("{ proxy: \"http://127.0.0.1:\(named.port)\" }", insecure, local)
    #expect(try home.run("--refetch").status == 0)
    #expect(trap.requests.count == 2)
    #expect(named.requests.count == 1)
    declare("{ proxy: none, retries: { items: 0, lookups: 0 } }", insecure, local)
    #expect(try home.run("--refetch").status == 69)
    #expect(trap.requests.count == 2)
  }

  @Test("Credentials of netrc go to their own host, and only when they are enabled")
  func credentials() throws {
    declare("{ proxy: none, netrc: true }", try server.url("/a"))
    let run = try home.run("-vv", "--json")
    #expect(run.status == 0, "\(run)")
    let code = Base64.encode("anna:canary-of-netrc".utf8)
    #expect(server.requestText.contains("Authorization: Basic \(code)"))
    for text in [run.output, run.errors] {
      #expect(!text.contains("canary-of-netrc") && !text.contains(code))
    }
  }

  @Test("Credentials of netrc are not sent in the clear unless an exception names the host")
  func credentialsInTheClear() throws {
    let origin = try LoopbackServer { _ in .respond(200, text: "x") }
    declare(
      "{ proxy: none, netrc: true }",
      try origin.url("/a"),
      "transport_security: { NSAllowsLocalNetworking: true }"
    )
    #expect(try home.run().status == 0)
    #expect(origin.requests.allSatisfy { $0.headers["Authorization"] == nil })
    declare(
      "{ proxy: none, netrc: true }",
      try origin.url("/a"),
      "transport_security: { NSExceptionDomains: "
        + "{ 127.0.0.1: { NSExceptionAllowsInsecureHTTPLoads: true } } }"
    )
    #expect(try home.run("--refetch").status == 0)
    #expect(origin.requests.last?.headers["Authorization"] != nil)
  }

  @Test("An `Authorization` header of a rule wins over credentials of netrc")
  func credentialsAndRule() throws {
    let origin = try LoopbackServer { _ in .respond(200, text: "x") }
    declare(
      "{ proxy: none, netrc: true }",
      try origin.url("/a"),
      "allow_http: [127.0.0.1]\n"
        + "transport: { rules: [{ match: \"http://127.0.0.1:*/**\", headers: { Authorization: Bearer one } }] }"
    )
    let run = try home.run()
    #expect(run.status == 0, "\(run)")
    #expect(origin.requests.map { $0.headers["Authorization"] } == ["Bearer one"])
  }

  @Test("Refused credentials of netrc end the run with 77")
  func refusedCredentials() throws {
    let origin = try LoopbackServer { _ in .respond(401, text: "no") }
    let exception =
      "transport_security: { NSExceptionDomains: "
      + "{ 127.0.0.1: { NSExceptionAllowsInsecureHTTPLoads: true } } }"
    declare("{ proxy: none, netrc: true }", try origin.url("/a"), exception)
    #expect(try home.run().status == 77)
  }
}
