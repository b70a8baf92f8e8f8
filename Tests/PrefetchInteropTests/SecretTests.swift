import PrefetchCore
import PrefetchManifests
import PrefetchTestSupport
import Testing

@Suite(
  "The license key",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Nginx.isInstalled, "needs nginx")
)
struct SecretTests {
  private static let license = "canary-7f3a9c51-license"
  private static let header = "canary-19d2e0b4-header"

  @Test("The license key is in no output, file, log or request", .timeLimit(.minutes(10)))
  func staysSecret() throws {
    var home = try Home()
    let nginx = try Nginx()
    nginx.write("one", to: "one")
    nginx.write(Manifest.text(["one", "none"]), to: "manifest.json")
    home.variables["PREFETCH_LICENSE"] = Self.license
    home.variables["HEADER"] = Self.header
    home.configure(
      """
      license: ${env:PREFETCH_LICENSE}
      segments:
        - name: basics
          manifest: \(nginx.url("manifest.json"))
          headers: { X-Key: "${env:HEADER}" }
        - name: broken
          urls: [http://127.0.0.1:\(LoopbackPort.free())/x]
      network: { retries: { items: 0, lookups: 0 } }
      """
    )
    let formats = ["json", "ndjson", "junit", "prometheus", "md", "html", "text"]
    var outputs: [String] = []
    let commands: [[String]] = [
      ["-vv", "--log-file", "run.log", "--events", "events.ndjson", "--items", "all"]
        + formats.flatMap { ["--report", "\($0)=report.\($0)"] },
      ["-vv", "--log-format", "json", "--json"], ["plan", "--items", "all"], ["plan", "--json"],
      ["config"], ["config", "--json", "--origins"], ["config", "--format", "yaml", "--origins"],
      ["check", "-vv"], ["list", "--json"], ["status", "--json"], ["verify", "--json"],
      ["explain", nginx.url("one"), "--json"], ["explain", nginx.url("one")],
      ["get", nginx.url("one"), "-vv"], ["--set", "nonsense=1"],
      ["--set", "license=\(Self.header)"],
    ]
    for command in commands {
      let run = try home.start(command).finish()
      outputs.append("\(command.first ?? ""): \(run)")
    }
    for output in outputs {
      #expect(!output.contains(Self.license), "\(output)")
      #expect(!output.contains(Self.header), "\(output)")
    }
    for (path, facts) in FileTree.listing(home.folder.path) where facts.mode & 0o170000 == 0o100000
    {
      let text = String(decoding: FileTree.read(path) ?? [], as: UTF8.self)
      #expect(!text.contains(Self.header), "\(path)")
      #expect(!text.contains(Self.license), "\(path)")
    }
    #expect(!nginx.logText.contains(Self.license))
    #expect(outputs[0].contains("basics"))
  }
}

@Suite("A secret in a URL", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct SecretURLTests {
  private static let secret = "canary-5b1e-url"

  @Test("A secret in a URL is masked wherever a command prints the URL of an item")
  func maskedInItemCommands() throws {
    let home = try Home(isInMemory: true)
    let server = try LoopbackServer { _ in .respond(200, text: "body") }
    home.write(Self.secret, to: "token")
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - { name: basics, urls: ["\(server.address("/feed"))/${file:token}/x"] }
      """
    )
    let id = ItemIdentifier.make(for: try WebURL(server.address("/feed/\(Self.secret)/x")))
    #expect(try home.run("-q").status == 0)
    let commands: [[String]] = [
      ["list"], ["list", "--json"], ["list", "--type", "file"], ["log"], ["log", "--json"],
      ["explain", id], ["explain", id, "--json"], ["path", id, "--json"], ["lock", id],
      ["unlock", id, "--json"], ["pause", id], ["resume", id, "--json"], ["status", "--json"],
      ["verify", "--json"], ["get", id, "-o", "out", "--json"], ["rm", id, "--files-only"],
      ["list", "--state", "idle"],
    ]
    let list = try home.run("list")
    #expect(list.output.contains("/feed/***/x"), "\(list)")
    for command in commands {
      let run = try home.run(command)
      #expect(run.status == 0, "\(command): \(run)")
      #expect(!"\(run)".contains(Self.secret), "\(command): \(run)")
    }
  }

  /// How the secret is kept, and what makes it unknown to later commands.
  enum Source: String, CaseIterable {
    case file = "${file:token}"
    case variable = "${env:TOKEN}"
    case credential = "${credential:token}"
  }

  @Test(
    "A secret in the path of a URL is masked by every command, also one that cannot read it",
    arguments: Source.allCases
  )
  func maskedInPath(_ source: Source) throws {
    var home = try Home(isInMemory: true)
    let site = Site(["/feed/\(Self.secret)/x": Site.Page("body")])
    let server = try LoopbackServer { site.respond(to: $0) }
    let known = home.variables
    home.write(Self.secret, to: "token")
    home.variables["TOKEN"] = Self.secret
    home.variables["CREDENTIALS_DIRECTORY"] = home.path("")
    let urls = ["x", "none"].map { "\"\(server.address("/feed"))/\(source.rawValue)/\($0)\"" }
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0 } }
      segments: [{ name: basics, urls: [\(urls.joined(separator: ", "))] }]
      """
    )
    let plan = try home.run("plan")
    #expect(plan.output.contains("/feed/***/x"), "\(plan)")
    let run = try home.run(
      "run",
      "--report",
      "json=report.json",
      "--events",
      "events.ndjson",
      "--items",
      "all"
    )
    #expect(run.status == 3, "\(run)")
    #expect(!"\(plan)\(run)".contains(Self.secret), "\(plan)\(run)")
    for file in ["report.json", "events.ndjson"] {
      let text = try #require(home.read(file))
      #expect(text.contains("/feed/***/x") && !text.contains(Self.secret), "\(text)")
    }
    let id = ItemIdentifier.make(for: try WebURL(server.address("/feed/\(Self.secret)/x")))
    let readers: [[String]] = [
      ["list"], ["list", "--json"], ["log"], ["log", "--json"], ["status"], ["status", "--json"],
      ["status", "--nagios"],
    ]
    for command in readers + [["explain", id], ["explain", id, "--json"]] {
      let shown = try home.run(command)
      #expect(!"\(shown)".contains(Self.secret), "\(command): \(shown)")
    }
    FileTree.remove(home.path("token"))
    home.variables = known
    for command in readers {
      let shown = try home.run(command)
      #expect(!"\(shown)".contains(Self.secret), "\(command): \(shown)")
    }
    let list = try home.run("list")
    #expect(list.output.contains("/feed/***"), "\(list)")
  }

  @Test(
    "A variable that holds the beginning of a URL is shown, and hides nothing where it is unset"
  )
  func addressInVariable() throws {
    var home = try Home(isInMemory: true)
    let site = Site(["/feed/x": Site.Page("body")])
    let server = try LoopbackServer { site.respond(to: $0) }
    let known = home.variables
    home.variables["BASE"] = server.address("/feed")
    home.configure(
      "cache: { min_free: 0 }\nsegments: [{ name: basics, urls: [\"${env:BASE}/x\"] }]"
    )
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("list").output.contains(server.address("/feed/x")))
    home.variables = known
    #expect(try home.run("list").output.contains(server.address("/feed/x")))
  }
}
