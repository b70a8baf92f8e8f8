import PrefetchCore
import PrefetchTestSupport
import Testing

/// Secrets in URLs: user information, a proxy's password, request signatures.
@Suite("The canary in a URL", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct CanaryURLTests {
  private static let user = Canary("canary-4e81-user")
  private static let password = Canary("canary~9b27=word")
  private static let signature = Canary("canary*51d0-signature")
  private static let formats = ["json", "ndjson", "junit", "prometheus", "md", "html", "text"]
  private static let loud =
    ["-vv", "--log-file", "run.log", "--events", "events.ndjson", "--items", "all"]
    + formats.flatMap { ["--report", "\($0)=report.\($0)"] }

  private let home: Home
  private let server: LoopbackServer

  init() throws {
    server = try LoopbackServer { request in
      .respond(request.path.hasSuffix("/gone") ? 404 : 200, text: "body of \(request.path)")
    }
    home = try Home()
  }

  /// Printed texts with the commands that printed them.
  private final class Outputs {
    var all: [(call: String, text: String)] = []
  }

  private func play(_ arguments: [String], input: String = "", _ outputs: Outputs) throws {
    let run = try home.start(arguments, input: input).finish()
    outputs.all.append(("\(arguments)", "\(run)"))
  }

  /// Checks that no output and no file except the test's own contains a canary.
  private func search(
    for canaries: [Canary],
    in outputs: Outputs,
    excluding own: Set<String>
  ) throws {
    for (call, text) in outputs.all {
      for canary in canaries {
        #expect(canary.found(in: text) == nil, "\(call): \(text)")
      }
    }
    var count = 0
    for (path, facts) in FileTree.listing(home.folder.path)
    where facts.mode & 0o170000 == 0o100000 && !own.contains(where: path.contains) {
      let bytes = try #require(FileTree.read(path))
      count += 1
      for canary in canaries { #expect(canary.found(in: bytes) == nil, "\(path)") }
    }
    #expect(count > 2)
  }

  @Test(
    "User information of a URL appears nowhere, whatever is done with the URL",
    .timeLimit(.minutes(10))
  )
  func userInformation() throws {
    let address = server.address("/one").replacing(
      "http://",
      with: "http://\(Self.user.text):\(Self.password.text)@"
    )
    let outputs = Outputs()
    let good = server.address("/two")
    home.write("\(good)\n\(address)\n", to: "list.txt")
    home.write(
      #"{"format":"prefetch-manifest","version":1,"items":["\#(good)",{"url":"\#(address)"}]}"#,
      to: "list.json"
    )
    for list in ["list.txt", "list.json"] {
      home.configure("cache: { min_free: 0 }\nsegments: [{ name: s, manifest: \(list) }]")
      for command in [
        ["run"] + Self.loud, ["run", "--json"], ["plan"], ["plan", "--json"], ["check"], ["log"],
        ["log", "--json"], ["status", "--json"], ["list", "--json", "--state", "failed"],
        ["explain", good], ["manifest", "check", list], ["doctor"], ["stats"],
        ["verify", "--json"],
        ["run", "--log-format", "json", "-v"],
      ] {
        try play(command, outputs)
      }
      let text = home.read(list) ?? ""
      try play(["get", "-", "-o", "out/"], input: text, outputs)
      try play(["get", "-", "-o", "out/", "--json"], input: text, outputs)
      try play(["manifest", "check", "-"], input: text, outputs)
    }
    for word in [address, "\(Self.user.text):\(Self.password.text)@127.0.0.1:3128"] {
      for words in [
        [], ["get"], ["explain"], ["path"], ["path", "--or-url"], ["pause"], ["resume"], ["lock"],
        ["unlock"], ["rm"], ["log"], ["pins"], ["event", "consume"], ["run"], ["plan"], ["publish"],
        ["env"], ["status"],
        ["subscribe", "--no-run"], ["manifest", "check"], ["manifest", "build"], ["help"], ["-c"],
        ["--manifests"], ["run", "--report"], ["serve", "--origin"], ["gc", "--forget"],
        ["serve", "--listen"], ["import", "list.txt", "--url"], ["list", "--url"],
        ["path", "x", "--under"], ["get", "-", "--base-url"], ["run", "--deadline"], ["config"],
        ["manifest", "build", ".", "--base-url"], ["--network"], ["run", "-j"],
        ["--no-such-option"],
      ] {
        try play(words + [word], outputs)
        try play(words + [word, "--json"], outputs)
      }
      for key in ["segments.x.manifest", "segments.s.urls", "network.proxy", "x.y", "name", "vars"]
      {
        try play(["check", "--set", "\(key)=\(word)"], outputs)
      }
      try play(["with-lock", word, "--", "true"], outputs)
      for line in [
        "segments: [{ name: s, urls: [\"\(word)\"] }]",
        "segments: [{ name: s, manifest: \"\(address)\" }]", "registration: { url: \"\(word)\" }",
        "segments: [{ name: s, urls: [{ url: \"\(good)\", alternates: [\"\(word)\"] }] }]",
        "manifests: \"\(address)/{segment}\"\nsegments: [s]", "\"\(word)\": 1",
        "segments: [{ name: s, urls: [ \"\(word)\" ]", "hooks: { run.started: \"\(word)\" }",
      ] {
        home.configure(line)
        for command in [["check"], ["check", "--json"], ["config"], ["run", "-vv"], ["doctor"]] {
          try play(command, outputs)
        }
      }
    }
    try search(
      for: [Self.user, Self.password],
      in: outputs,
      excluding: ["/work/list.", "/work/prefetch.yaml"]
    )
    #expect(outputs.all.contains { $0.text.contains("***") })
  }

  @Test("The password of a proxy reaches that proxy only", .timeLimit(.minutes(10)))
  func proxy() throws {
    let proxy = server.address("").replacing("http://", with: "http://user:\(Self.password.text)@")
    let outputs = Outputs()
    home.write(
      """
      network: { proxy: "\(proxy)", retries: { items: 0, lookups: 0 } }
      segments: [{ name: s, urls: ["http://origin.test/one", "http://origin.test/gone"] }]
      transport_security: { NSExceptionDomains: { origin.test: { NSExceptionAllowsInsecureHTTPLoads: true } } }

      """
    )
    for command in [
      ["run"] + Self.loud, ["run", "--json"], ["plan", "--json"], ["check"], ["check", "--json"],
      ["config"], ["config", "--json", "--origins"], ["config", "--format", "json"], ["log"],
      ["explain", "http://origin.test/one"], ["explain", "--json", "http://origin.test/one"],
      ["get", "http://origin.test/two", "-vv"], ["doctor"], ["network"], ["status"], ["stats"],
      ["list", "--json"], ["verify"],
    ] {
      try play(command, outputs)
    }
    try search(for: [Self.password], in: outputs, excluding: ["/work/prefetch.yaml"])
  }

  @Test(
    "The signature of a URL is kept only where the URL is requested again from",
    .timeLimit(.minutes(10))
  )
  func signature() throws {
    let query = "?X-Amz-Signature=\(Self.signature.text)&a=b"
    let (one, two) = (server.address("/one\(query)"), server.address("/gone\(query)"))
    let outputs = Outputs()
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      segments:
        - { name: s, urls: ["\(one)", "\(two)"] }
        - { name: t, manifest: list.txt }
      """
    )
    home.write("\(server.address("/three\(query)"))\n", to: "list.txt")
    home.write("plain", to: "plain.txt")
    for command in [
      ["run"] + Self.loud, ["run", "--json"], ["run", "-vv", "--log-format", "json"],
      ["plan", "--json", "--items", "all"], ["check", "-vv"], ["check", "--json"], ["config"],
      ["config", "--json", "--origins"], ["list"], ["list", "--json"], ["explain", one],
      ["explain", "--json", one], ["explain", two], ["get", "-o", "body", one],
      ["get", "-o", "body", "--json", one], ["get", two], ["path", one], ["path", "--json", one],
      ["pause", one], ["resume", one], ["lock", one, "--json"], ["rm", one], ["unlock", one],
      ["rm", one], ["rm", "--json", one], ["run", "-v"], ["event", "consume", one],
      ["event", "list", "--json"], ["log"], ["log", "--json", one],
      ["log", one], ["status", "--json"], ["stats", "--json"], ["verify", "--json"], ["gc"],
      ["import", "plain.txt", "--url", one], ["list", "--state", "deleted"], ["doctor"],
      ["manifest", "check", "list.txt"], ["manifest", "check", one], ["get", "\(one)#sha256=zz"],
      ["explain", "ftp\(one.dropFirst(4))"],
      ["get", one.replacing(":\(server.port)/", with: ":0/")],
      [one],
    ] {
      try play(command, outputs)
    }
    try search(
      for: [Self.signature],
      in: outputs,
      // The index must contain the URL, from which the next request is made.
      excluding: ["/work/prefetch.yaml", "/work/list.txt", "/index."]
    )
    #expect(outputs.all.contains { $0.text.contains("X-Amz-Signature=***") })
    // A plan's list of items must contain the full URL, since pipes process it further.
    #expect(try home.run("plan", "--items", "all").output.contains(Self.signature.text))
    // Histories and uses are still found by the URL.
    #expect(try home.run("log", one).output.contains("added"))
  }
}
