import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("The canary in the license", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct CanaryTests {
  private static let key = Canary("canary/7f3a+9c51=key&license")
  private static let token = Canary(LicenseServer.token)
  private static let header = Canary("canary/header+19d2e0b4?x")
  private static let formats = ["json", "ndjson", "junit", "prometheus", "md", "html", "text"]

  private var home: Home
  private let license: LicenseServer
  private let other: LoopbackServer
  private let third: LoopbackServer
  private let gate = Gate()

  init() throws {
    home = try Home()
    home.variables["PREFETCH_LICENSE"] = Self.key.text
    home.variables["HEADER"] = Self.header.text
    let gate = gate
    third = try LoopbackServer(number: 2) { request in
      if request.path == "/slow" {
        return Script([.pause(gate)] + Script.respond(200, text: "slow").steps)
      }
      return .respond(200, text: "third")
    }
    let thirdAddress = third.address("/one")
    other = try LoopbackServer { request in
      switch request.path {
      case "/far": .respond(307, [("Location", thirdAddress)])
      case "/broken": .respond(404)
      default: .respond(200, text: "other")
      }
    }
    license = try LicenseServer(
      redirects: [
        "/away": other.address("/one?from=license"), "/far": other.address("/far"),
        "/plain": "//\(third.host):\(third.port)/plain",
      ]
    )
  }

  private func configure() {
    home.configure(
      """
      license: ${env:PREFETCH_LICENSE}
      bundle_id: org.example.app
      registration: { url: "\(license.endpoint)", retry: 1ms }
      segments:
        - name: known
          manifest: "\(license.server.address("/manifest.json"))"
          headers: { X-Key: "${env:HEADER}" }
          alternates: ["\(third.address("/"))"]
        - name: elsewhere
          urls: ["\(other.address("/free"))", "\(other.address("/broken"))"]
          alternates: ["\(third.address("/"))"]
        - { name: gone, urls: ["http://127.0.0.1:\(LoopbackPort.free())/x"], required: false }
      network: { retries: { items: 0, lookups: 0 }, timeouts: { read: 300ms } }
      """
    )
  }

  @Test("The license appears only where it belongs", .timeLimit(.minutes(10)))
  func staysHome() throws {
    configure()
    var outputs: [String] = []
    func play(_ arguments: [String], in home: Home) throws {
      let run = try home.start(arguments).finish()
      outputs.append("\(arguments): \(run)")
    }
    let loud =
      ["-vv", "--log-file", "run.log", "--events", "events.ndjson", "--items", "all"]
      + Self.formats.flatMap { ["--report", "\($0)=report.\($0)"] }
    let replies: [Script] = [
      .respond(500), .respond(200, text: "{"), Script([.silence]), .respond(403),
      LicenseServer.granting(#""bundle_id": "org.example.other""#),
      .respond(307, [("Location", other.address("/license"))]),
      LicenseServer.granting(""), LicenseServer.granting(),
    ]
    for reply in replies {
      license.setReply(reply)
      try play(["register", "-vv"], in: home)
      try play(["register", "--json"], in: home)
      try play(["run"] + loud, in: home)
      try play(["status"], in: home)
      try play(["status", "--json"], in: home)
    }
    var proxied = home
    proxied.variables["http_proxy"] = other.address("")
    try play(["run"] + loud, in: proxied)
    let item = license.server.address("/one")
    let commands: [[String]] = [
      ["run", "-vv", "--json"], ["run", "-vv", "--log-format", "json"], ["plan", "-vv"],
      ["plan", "--json", "--items", "all"], ["check", "-vv"], ["check", "--json"], ["config"],
      ["config", "--json", "--origins"], ["config", "--format", "yaml", "--origins"],
      ["list"], ["list", "--json"], ["explain", item], ["explain", item, "--json"],
      ["path", item], ["get", item, "-vv"], ["get", license.server.address("/away"), "-vv"],
      ["verify", "--json"], ["gc"], ["--set", "nonsense=1"], ["--set", "license=x"],
    ]
    for command in commands { try play(command, in: home) }
    let (words, variables) = try look(into: ["run", "-vv", "--refetch"], outputs: &outputs)

    for canary in [Self.key, Self.token, Self.header] {
      for output in outputs { #expect(canary.found(in: output) == nil, "\(output)") }
      #expect(canary.found(in: words) == nil)
      for server in [other, third] {
        for request in server.requests {
          #expect(canary.found(in: "\(request)") == nil, "\(request)")
        }
      }
    }
    #expect(Self.key.found(in: variables) == nil)
    try search()
    // The secrets were in use, so the search could have found them.
    #expect(license.keys.count > replies.count)
    #expect(Set(license.keys) == ["Bearer \(Self.key.text)"])
    #expect(Set(license.shown) == ["Bearer \(Self.key.text)", "Bearer \(Self.token.text)"])
    #expect(license.server.requests.contains { $0.headers["X-Key"] == Self.header.text })
    #expect(other.requests.contains { $0.target == "/one?from=license" })
    #expect(other.requests.contains { $0.path == "/far" })
    #expect(third.requests.contains { $0.path == "/plain" })
    #expect(third.requests.contains { $0.path == "/broken" })
  }

  /// Returns what `/proc` shows of a run that waits for a server.
  private func look(
    into arguments: [String],
    outputs: inout [String]
  ) throws -> (words: [UInt8], variables: [UInt8]) {
    home.configure(
      """
      license: ${env:PREFETCH_LICENSE}
      registration: { url: "\(license.endpoint)" }
      segments: [{ name: slow, urls: ["\(third.address("/slow"))"] }]
      """,
      to: "slow.yaml"
    )
    let program = try home.start(["-c", "slow.yaml"] + arguments)
    #expect(third.waitForRequest("/slow"))
    let folder = "/proc/\(program.processID)"
    let words = try #require(FileTree.read("\(folder)/cmdline"))
    // Another user may read the file or not; an unreadable file shows nothing.
    let variables = FileTree.read("\(folder)/environ") ?? []
    gate.open()
    outputs.append("\(program.finish())")
    #expect(!words.isEmpty)
    return (words, variables)
  }

  /// Searches every file that the program has left; at least one file must exist.
  private func search() throws {
    var count = 0
    for (path, facts) in FileTree.listing(home.folder.path) where facts.mode & 0o170000 == 0o100000
    {
      let bytes = try #require(FileTree.read(path))
      count += 1
      #expect(Self.key.found(in: bytes) == nil, "\(path)")
      #expect(Self.header.found(in: bytes) == nil, "\(path)")
      guard path.hasPrefix("\(home.state)/state.sqlite") else {
        #expect(Self.token.found(in: bytes) == nil, "\(path)")
        continue
      }
      // The token must be stored somewhere, readable only by its owner.
      #expect(facts.mode & 0o777 == 0o600, "\(path)")
    }
    #expect(count > Self.formats.count + 5)
  }

  @Test("The search for a canary finds it in every encoding")
  func needles() {
    let canary = Canary("canary/7f3a+9c51")
    for text in [
      "xcanary/7f3a+9c51x", "?k=canary%2F7f3a%2B9c51", "?k=canary%2f7f3a%2b9c51",
      "Y2FuYXJ5LzdmM2ErOWM1MQ==", "OmNhbmFyeS83ZjNhKzljNTE6", "OjpjYW5hcnkvN2YzYSs5YzUx",
      "%63%61%6E%61%72%79%2F%37%66%33%61%2B%39%63%35%31",
    ] {
      #expect(canary.found(in: text) != nil, "\(text)")
    }
    #expect(canary.found(in: "canary%2F7f3a 9c51") == nil)
  }
}
