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
}
