import PrefetchCore
import PrefetchTestSupport
import Testing

/// First use of `prefetch` with the lock files of a project.
@Suite("A project's lock files", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct LockMorningTests {
  private let home: Home
  private let site = Site()
  private let server: LoopbackServer

  init() throws {
    home = try Home()
    server = try LoopbackServer { [site] in site.respond(to: $0) }
  }

  private static let free = ["--set", "cache.min_free=0"]

  private func wheel(_ name: String) -> String { "\(name)-1.0-py3-none-any.whl" }

  /// Returns a requirement that names its file.
  private func requirement(_ name: String) -> String {
    site["/\(wheel(name))"] = Site.Page("wheel \(name)")
    let digest = Digest.hexadecimal("wheel \(name)")
    return "\(name) @ \(server.address("/\(wheel(name))")) --hash=sha256:\(digest)\n"
  }

  private func packageLock(_ name: String) -> String {
    site["/\(name).tgz"] = Site.Page("package \(name)")
    let integrity = Base64.encode(Hexadecimal.decode(Digest.hexadecimal("package \(name)")) ?? [])
    return """
      {"name": "demo", "lockfileVersion": 3, "packages": {"node_modules/\(name)": {
        "version": "1.0.2", "resolved": "\(server.address("/\(name).tgz"))",
        "integrity": "sha256-\(integrity)"}}}
      """
  }

  private func configure(_ list: String, _ more: String = "", layout: String = "pip") {
    home.configure(
      """
      name: project
      segments:
        - name: wheels
          manifest: \(list)
          publish: { dir: tree, layout: \(layout) }
          \(more)
      cache: { min_free: 0 }
      """
    )
  }

  // MARK: Two lists in one folder

  @Test("Lock files of two tools get two configurations whose runs keep each other's items")
  func twoConfigurations() throws {
    home.write(packageLock("left"), to: "package-lock.json")
    home.write(requirement("right"), to: "requirements.txt")
    let files = ["prefetch.yaml": "package-lock.json", "python.yaml": "requirements.txt"]
    for (file, list) in files {
      let run = try home.run("init", "-o", file, "--from", list)
      #expect(run.status == 0, "\(run)")
    }
    for _ in 0..<2 {
      for file in files.keys.sorted() {
        let run = try home.run(["run", "--json", "-c", file] + Self.free)
        #expect(run.status == 0, "\(run)")
        #expect(try run.json().number("totals.removed") == 0, "\(run)")
      }
    }
    #expect(server.requests.count == 2, "\(server.requests.map(\.path))")
    let config = try home.run("config", "--json", "-c", "python.yaml").json()
    #expect(config.text("config.segments.0.name") == "wheels")
    #expect(config.text("config.name")?.hasSuffix("-python") == true)
    #expect(try home.run("config", "--json").json().text("config.segments.0.name") == "npm")
  }

  @Test("A second lock file joins a configuration by the segment that `init` prints")
  func secondSegment() throws {
    home.write(packageLock("left"), to: "package-lock.json")
    home.write(requirement("right"), to: "requirements.txt")
    home.write(requirement("other"), to: "dev.txt")
    #expect(try home.run("init", "--from", "package-lock.json").status == 0)
    for name in ["wheels", "wheels-dev"] {
      let list = name == "wheels" ? "requirements.txt" : "dev.txt"
      let before = try #require(home.read("prefetch.yaml"))
      let refused = try home.run("init", "--from", list)
      #expect(refused.status == 64, "\(refused)")
      #expect(home.read("prefetch.yaml") == before)
      let lines = refused.errors.split(separator: "\n", omittingEmptySubsequences: false)
      let start = try #require(
        lines.firstIndex { $0.hasPrefix("  - name: \(name) ") },
        "\(refused)"
      )
      let segment = lines[start...].prefix { $0.hasPrefix("  ") }.joined(separator: "\n")
      home.write(
        before.replacing("segments:\n", with: "segments:\n\(segment)\n"),
        to: "prefetch.yaml"
      )
    }
    let known = try home.run("init", "--from", "dev.txt")
    #expect(
      known.errors.contains("declares this list already, as segment `wheels-dev`"),
      "\(known)"
    )
    #expect(!known.errors.contains("- name:"), "\(known)")
    let check = try home.run("check")
    #expect(check.status == 0, "\(check)")
    let run = try home.run(["run", "--json"] + Self.free)
    #expect(run.status == 0, "\(run)")
    #expect(try run.json().number("totals.fetched") == 3)
  }

  @Test("Two configurations with one name cause a warning, and a moved project does not")
  func sharedName() throws {
    for name in ["left", "right"] {
      home.write(requirement(name), to: "\(name).txt")
      home.write(
        """
        name: project
        segments: [{ name: wheels, manifest: \(name).txt }]
        allow_http: [127.0.0.1]
        cache: { min_free: 0, dir: .cache/prefetch }
        state: { dir: .cache/state }
        """,
        to: "\(name).yaml"
      )
    }
    #expect(try home.run("run", "-c", "left.yaml").errors.contains("shared-name") == false)
    let second = try home.run("run", "-c", "right.yaml")
    #expect(second.errors.contains("[store.shared-name]"), "\(second)")
    #expect(second.errors.contains("`\(home.path("left.txt"))` in the last run"), "\(second)")
    #expect(try home.run("run", "-c", "left.yaml").errors.contains("shared-name"))
    let moved = try home.shell(
      "mkdir moved && cp -r .cache left.* moved && cd moved && \"$prefetch\" run -c left.yaml"
    )
    #expect(moved.status == 0 && !moved.errors.contains("shared-name"), "\(moved)")
  }

  // MARK: env

  @Test(
    "A lock file that changed since the last run gets no variables, and `env --strict` ends with 4"
  )
  func changedList() throws {
    home.write(requirement("left"), to: "requirements.txt")
    configure("requirements.txt", "required: true")
    #expect(try home.run("run").status == 0)
    #expect(try home.run("env", "--strict").status == 0)
    home.write(requirement("left") + requirement("right"), to: "requirements.txt")
    let changed = try home.run("env", "--strict")
    #expect(changed.status == 4, "\(changed)")
    #expect(changed.output.isEmpty, "\(changed)")
    #expect(changed.errors.contains("has changed since the last run"), "\(changed)")
    #expect(try home.run("env").status == 0)
    #expect(try home.run("run").status == 0)
    #expect(try home.run("env", "--strict").output.contains("PIP_FIND_LINKS"))
    #expect(try home.tool("rm", home.path("requirements.txt")).status == 0)
    let missing = try home.run("env", "--strict")
    #expect(missing.status == 4 && missing.errors.contains("does not exist"), "\(missing)")
  }

  @Test("`env` points pip and uv to a tree, and `--shell sh` exports the variables")
  func shells() throws {
    home.write(requirement("left"), to: "requirements.txt")
    configure("requirements.txt")
    #expect(try home.run("run").status == 0)
    let links = "file://\(home.path("tree"))"
    let exported = try home.shell("eval \"$(\"$prefetch\" env --shell sh)\"; env | sort")
    for line in [
      "PIP_NO_INDEX=1", "UV_OFFLINE=1", "PIP_FIND_LINKS=\(links)", "UV_FIND_LINKS=\(links)",
    ] {
      #expect(exported.output.contains("\(line)\n"), "\(exported)")
    }
    #expect(try home.run("env").lines.first == "PIP_NO_INDEX=1")
    home.write(packageLock("left"), to: "package-lock.json")
    configure("package-lock.json", layout: "npm")
    #expect(try home.run("run").status == 0)
    #expect(try home.run("env").lines.contains("npm_config_audit=false"))
  }

  // MARK: Plain http

  @Test("An index over plain http gets `allow_http` from `init`, and a refusal names that key")
  func plainIndex() throws {
    let hash = Digest.hexadecimal("wheel")
    home.write(
      "--index-url http://pypi.lan/simple\nleft==1.0 --hash=sha256:\(hash)\n",
      to: "requirements.txt"
    )
    #expect(try home.run("init", "--from", "requirements.txt").status == 0)
    let text = try #require(home.read("prefetch.yaml"))
    #expect(text.contains("allow_http:\n  - \"pypi.lan\""), "\(text)")
    #expect(try home.run("check").status == 0)
    configure("requirements.txt")
    for words in [["check"], ["run"]] {
      let refused = try home.run(words)
      #expect(refused.status == (words == ["check"] ? 78 : 5), "\(refused)")
      #expect(refused.errors.contains("--set allow_http=pypi.lan"), "\(refused)")
    }
  }

  // MARK: check

  @Test("`check` opens lock files and reports everything that a run could not read")
  func check() throws {
    home.write("{\"lockfileVersion\": 3, \"packages\": {", to: "package-lock.json")
    home.write("{\"some\": \"thing\"}", to: "other.json")
    home.write("", to: "empty.txt")
    FileTree.makeFolder(home.path("folder"))
    let lists = ["package-lock.json", "other.json", "empty.txt", "folder", "missing.txt"]
    home.configure(
      "segments:\n"
        + lists.map { "  - { name: \"\($0)\", manifest: \"\($0)\" }\n" }.joined()
    )
    let check = try home.run("check", "--json")
    #expect(check.status == 78, "\(check)")
    let found = try check.json().list("diagnostics").filter { $0.text("code") == "config.list" }
    #expect(found.count == lists.count, "\(check)")
    for list in lists {
      #expect(
        found.contains { $0.text("message")?.contains("segment `\(list)`") == true },
        "\(list)"
      )
    }
    #expect(found.first?.text("message")?.contains("line 1, column") == true, "\(check)")
    configure("missing.txt", layout: "basename")
    #expect(try home.run("check").status == 78)
    let elsewhere = try home.run("check", "--no-secrets")
    #expect(elsewhere.status == 0, "\(elsewhere)")
    #expect(elsewhere.errors.contains("does not exist"))
  }

  @Test("`check` does not read a list from a pipe or from standard input")
  func streams() throws {
    #expect(try home.tool("mkfifo", home.path("list.fifo")).status == 0)
    for list in ["list.fifo", "/dev/stdin"] {
      configure(list, layout: "basename")
      let check = try home.shell("echo unread | { \"$prefetch\" check; echo $?; cat; }")
      #expect(check.output == "0\nunread\n", "\(check)")
    }
  }

  // MARK: Requirements

  @Test(
    "Requirements with `--no-index` send no request to an index, and ignored lines are reported"
  )
  func noIndex() throws {
    let hash = Digest.hexadecimal("wheel")
    let digest = "--hash=sha256:\(hash)"
    home.write(
      "--no-index\n-f \(server.address("/links/"))\n--extra-index-url \(server.address("/extra"))\n"
        + "left==1.0 \(digest)\n\(requirement("right"))",
      to: "requirements.txt"
    )
    configure("requirements.txt", "# strict: true")
    let run = try home.run("run")
    #expect(run.status == 3, "\(run)")
    #expect(server.requests.map(\.path) == ["/\(wheel("right"))"])
    #expect(run.errors.contains("the list has `--no-index`"), "\(run)")
    #expect(run.errors.contains("of `--find-links`  [manifest.left-out]"), "\(run)")
    #expect(run.errors.contains("of `--extra-index-url`  [manifest.left-out]"), "\(run)")
    home.write("-f ./wheels\n\(requirement("right"))", to: "requirements.txt")
    #expect(try home.run("run").status == 0)
    let strict = try home.run("run", "--set", "defaults.strict=true")
    #expect(strict.status == 3 && strict.errors.contains("left_out"), "\(strict)")
  }

  // MARK: Offline

  @Test("A hint for missing items of a lock file names a run without `--offline`")
  func offline() throws {
    home.write(requirement("left"), to: "requirements.txt")
    configure("requirements.txt")
    let run = try home.run("run", "--offline")
    #expect(run.status != 0, "\(run)")
    #expect(run.errors.contains("next: run it without `--offline`"), "\(run)")
    #expect(!run.errors.contains("run it again"))
  }
}
