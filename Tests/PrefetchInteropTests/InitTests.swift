import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("A configuration made by `init`", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct InitTests {
  private let home: Home

  init() throws {
    home = try Home(isInMemory: true)
  }

  @Test("A new configuration passes `check` and never overwrites a file")
  func nothing() throws {
    let run = try home.run("init")
    #expect(run.status == 0, "\(run)")
    #expect(run.output.isEmpty)
    let check = try home.run("check")
    #expect(check.status == 0, "\(check)")
    #expect(check.errors.isEmpty, "\(check)")
    home.write("mine: true", to: "prefetch.yaml")
    let again = try home.run("init")
    #expect(again.status == 64, "\(again)")
    #expect(home.read("prefetch.yaml") == "mine: true")
    let other = try home.run("init", "-o", "other.yaml", "--json")
    #expect(try other.json().text("path") == "other.yaml")
    #expect(try home.run("check", "-c", "other.yaml").status == 0)
    #expect(try home.run("init", "-o", "-").output == home.read("other.yaml"))
  }

  @Test("A configuration made from a list leads to a run that fetches its items")
  func list() throws {
    let server = try LoopbackServer { _ in .respond(200, [], text: "one") }
    home.write("\(Digest.hexadecimal(Array("one".utf8)))  a.txt\n", to: "SHA256SUMS")
    let base = server.address("/files/")
    let run = try home.run("init", "--from", "SHA256SUMS", "--base-url", base)
    #expect(run.status == 0, "\(run)")
    #expect(try home.run("check").status == 0)
    #expect(try home.run("--set", "cache.min_free=0").status == 0)
    #expect(try home.run("path", server.address("/files/a.txt")).status == 0)
  }

  @Test("A list whose names lead nowhere yet is accepted by `init`, with a hint about `--base-url`")
  func relative() throws {
    home.write("\(Digest.hexadecimal([]))  a b$.txt\n", to: "SUMS $1.sha256")
    let run = try home.run("init", "--from", "SUMS $1.sha256")
    #expect(run.status == 0, "\(run)")
    #expect(run.errors.contains("--base-url"))
    let check = try home.run("check")
    #expect(check.status == 0, "\(check)")
  }

  @Test("A configuration made from an Info.plist leaves out the license")
  func app() throws {
    home.write(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict>
      <key>CFBundleIdentifier</key><string>com.example.news</string>
      <key>com.akamai</key><dict><key>map</key><dict>
      <key>api_key</key><string>very-secret-key</string>
      <key>segments</key><array><string>basics</string><string>more</string></array>
      </dict></dict>
      <key>NSAppTransportSecurity</key><dict><key>NSExceptionDomains</key><dict>
      <key>legacy.example.com</key>
      <dict><key>NSExceptionAllowsInsecureHTTPLoads</key><true/></dict>
      </dict></dict>
      </dict></plist>
      """,
      to: "App.plist"
    )
    let run = try home.run("init", "--from", "App.plist")
    #expect(run.status == 0, "\(run)")
    let text = try #require(home.read("prefetch.yaml"))
    #expect(!text.contains("very-secret-key"))
    let check = try home.run("check")
    #expect(check.status == 0, "\(check)\n\(text)")
    let config = try home.run("config", "--json").json()
    #expect(config.list("config.segments").map { $0.text("name") } == ["basics", "more"])
    #expect(config.text("config.segments.1.manifest") == "https://www.example.org/more.json")
    #expect(config.text("config.bundle_id") == "com.example.news")
    #expect(config.text("config.subscriptions") == "remembered")
    let domains = "config.transport_security.NSExceptionDomains"
    #expect(config.at(domains)?.mapping?.map(\.key) == ["legacy.example.com"])
  }

  @Test(
    "A written configuration passes `check`, also with plain http to unusual hosts",
    arguments: [
      ("http://[::1]/list", "::1"), ("http://nas.lan./list", "nas.lan"),
      ("http://nas.lan.:8080/list", "nas.lan"), ("http://10.0.0.1/list", "10.0.0.1"),
    ]
  )
  func plainHosts(url: String, host: String) throws {
    let template = url.replacing("list", with: "{segment}.json")
    home.write(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict><key>com.akamai</key><dict><key>map</key><dict>
      <key>segments</key><array><string>basics</string></array>
      </dict></dict></dict></plist>
      """,
      to: "App.plist"
    )
    home.write("a\n", to: "names.urls")
    for (number, words) in [
      ["--from", url], ["--from", "App.plist", "--manifests", template],
      ["--from", "names.urls", "--base-url", "\(url)/"],
    ].enumerated() {
      let file = "made-\(number).yaml"
      let run = try home.run(["init", "-o", file] + words)
      #expect(run.status == 0, "\(run)")
      let check = try home.run("check", "-c", file)
      #expect(check.status == 0, "\(words): \(check)")
      #expect(home.read(file)?.contains("allow_http:\n  - ") == true)
      #expect(home.read(file)?.contains(host) == true)
    }
    // The option that `check` suggests is accepted.
    home.write("segments: [{ name: a, urls: [\"http://[::1]/x\"] }]\n")
    let refused = try home.run("check")
    #expect(refused.errors.contains("`--set allow_http=::1`"), "\(refused)")
    #expect(try home.run("check", "--set", "allow_http=::1").status == 0)
  }

  @Test("An unreadable source is refused with 78, and nothing is written")
  func refused() throws {
    home.write("{ \"no\": list", to: "broken.json")
    for name in ["broken.json", "missing", "."] {
      let run = try home.run("init", "--from", name)
      #expect(run.status == 78, "\(run)")
    }
    #expect(FileTree.names(home.work) == ["broken.json"])
  }

  @Test("A list that can be read only once is refused, since every run reads it")
  func streams() throws {
    try #require(home.tool("mkfifo", home.path("pipe")).status == 0)
    for line in [
      "echo https://e.example/a | \"$prefetch\" init --from -",
      "echo https://e.example/a | \"$prefetch\" init --from /dev/stdin",
      "echo https://e.example/a >pipe & \"$prefetch\" init --from pipe",
      "\"$prefetch\" init --from <(echo https://e.example/a)",
    ] {
      let run = try home.shell(line, within: 20)
      #expect(run.status == 78 && run.errors.contains("save it as a file"), "\(line): \(run)")
      #expect(FileTree.names(home.work) == ["pipe"])
    }
  }

  @Test("A list without items is accepted with a warning, since `check` refuses it")
  func empty() throws {
    home.write("", to: "urls.txt")
    let run = try home.run("init", "--from", "urls.txt")
    #expect(run.status == 0 && run.errors.contains("`urls.txt` has no items now"), "\(run)")
    #expect(try home.run("check").status == 78)
  }

  @Test(
    "A list beside the written file is named relative to it",
    arguments: ["prefetch.yaml", "./prefetch.yaml", "sub/../prefetch.yaml"]
  )
  func nextToFile(path: String) throws {
    FileTree.makeFolder(home.path("sub"))
    home.write("https://e.example/a\n", to: "urls.txt")
    #expect(try home.run("init", "--from", "urls.txt", "-o", path).status == 0)
    #expect(home.read("prefetch.yaml")?.contains("manifest: \"./urls.txt\"") == true)
  }

  @Test("`get` takes a digest for the body beside its URL")
  func digest() throws {
    let server = try LoopbackServer { _ in .respond(200, [], text: "one") }
    let url = server.address("/a")
    let rules = ["--set", "transport_security.NSAllowsLocalNetworking=true"]
    let right = Digest.hexadecimal(Array("one".utf8))
    let wrong = Digest.hexadecimal(Array("two".utf8))
    let kept = try home.run(["get", url, "--sha256", right] + rules)
    #expect(kept.status == 0, "\(kept)")
    #expect(kept.output == "one")
    let other = server.address("/b")
    let refused = try home.run(["get", other, "--sha256", wrong] + rules)
    #expect(refused.status == 5, "\(refused)")
    #expect(refused.output.isEmpty)
    for words in [[url, other], ["\(url)#sha256=\(wrong)"], ["-"]] {
      #expect(try home.run(["get"] + words + ["--sha256", right] + rules).status == 64)
    }
    #expect(try home.run("get", url, "--sha256", "abc").status == 64)
  }
}
