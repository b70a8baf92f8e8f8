import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("A lock file in the project", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct LocalLockTests {
  private let home: Home
  private let site = Site()
  private let server: LoopbackServer

  init() throws {
    home = try Home()
    server = try LoopbackServer { [site] in site.respond(to: $0) }
  }

  private func configure(_ manifest: String, layout: String, _ more: String = "") {
    home.configure(
      """
      name: project
      segments:
        - name: packages
          manifest: \(manifest)
          publish: { dir: tree, layout: \(layout) }
          \(more)
      cache: { min_free: 0 }
      """
    )
  }

  private func wheel(_ name: String) -> String { "\(name)-1.0-py3-none-any.whl" }

  // MARK: Removals

  @Test("A local lock file may lose most of its items but not all of them")
  func massRemoval() throws {
    let names = (0..<8).map { "/f\($0)" }
    for name in names { site[name] = Site.Page("body of \(name)") }
    let urls = names.map { server.address($0) }
    home.write(urls.joined(separator: "\n"), to: "list.txt")
    configure("list.txt", layout: "basename")
    #expect(try home.run("-q").status == 0)
    home.write(urls[0], to: "list.txt")
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.json().number("totals.removed") == 7)
    #expect(FileTree.names(home.path("tree")) == ["f0"])
    home.write("", to: "list.txt")
    let empty = try home.run("--json")
    #expect(empty.status == 3, "\(empty)")
    #expect(try empty.json().text("segments.0.manifest.error.code") == "manifest_guard")
    #expect(FileTree.names(home.path("tree")) == ["f0"])
  }

  // MARK: Layouts

  private static let packageLock = """
    {"name": "demo", "lockfileVersion": 3, "packages": {"node_modules/left": {"version": "1.0.2",
      "resolved": "https://registry.npmjs.org/left/-/left-1.0.2.tgz", "integrity": "sha256-\
    n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="}}}
    """

  @Test("A layout that does not fit the lock file is refused by `check`, which names the right one")
  func layouts() throws {
    home.write(Self.packageLock, to: "package-lock.json")
    home.write(Self.packageLock, to: "renamed")
    for (manifest, layout, more) in [
      ("package-lock.json", "cargo", ""), ("renamed", "pip", ""), ("missing", "yarn", "declared"),
      ("https://www.example.org/package-lock.json", "go", ""),
    ] {
      let format = more.isEmpty ? "" : "format: package-lock"
      configure(manifest, layout: layout, format)
      let check = try home.run("check")
      #expect(check.status == 78, "\(manifest): \(check)")
      #expect(check.errors.contains("segment `packages` has layout `\(layout)`"), "\(check)")
      #expect(check.errors.contains("`layout: npm` is for that list"), "\(check)")
    }
    for layout in ["npm", "bazel", "url", "basename"] {
      configure("package-lock.json", layout: layout)
      let check = try home.run("check")
      #expect(check.status == 0, "\(check)")
    }
  }

  // MARK: Choices

  private static let uvLock = """
    version = 1
    requires-python = ">=3.8"

    [[package]]
    name = "demo"
    version = "0.1.0"
    source = { virtual = "." }
    dependencies = [{ name = "left" }, { name = "winner", marker = "sys_platform == 'win32'" }]

    [package.optional-dependencies]
    gui = [{ name = "left" }]

    [package.dev-dependencies]
    dev = [{ name = "left" }]

    [[package]]
    name = "left"
    version = "1.0"
    source = { registry = "https://pypi.org/simple" }
    wheels = [{ url = "ORIGIN/left-1.0-py3-none-any.whl", hash = "sha256:HASH" }]

    [[package]]
    name = "winner"
    version = "1.0"
    source = { registry = "https://pypi.org/simple" }
    wheels = [{ url = "ORIGIN/winner-1.0-py3-none-any.whl", hash = "sha256:HASH" }]

    """

  @Test("`plan` reports which groups, extras and platforms of a lock file are taken")
  func choices() throws {
    let lock = Self.uvLock.replacing("ORIGIN", with: server.address("")).replacing(
      "HASH",
      with: Digest.hexadecimal("wheel")
    )
    for name in ["left", "winner"] { site["/\(wheel(name))"] = Site.Page("wheel") }
    home.write(lock, to: "uv.lock")
    configure("uv.lock", layout: "pip", "platform: [linux-x64]")
    let plan = try home.run("plan")
    #expect(plan.status == 0, "\(plan)")
    #expect(
      plan.errors.contains(
        "segment `packages`: all groups are taken (`dev`); all extras are taken (`gui`); "
          + "1 package is left out by markers that no wanted platform meets"
      ),
      "\(plan)"
    )
    let hash = "--hash=sha256:\(Digest.hexadecimal("wheel"))"
    home.write(
      """
      left @ \(server.address("/\(wheel("left"))")) \(hash)
      winner @ \(server.address("/\(wheel("winner"))")) ; sys_platform == 'win32' \(hash)

      """,
      to: "requirements.txt"
    )
    configure("requirements.txt", layout: "pip", "platform: [linux-x64]")
    let other = try home.run("plan")
    #expect(other.status == 0, "\(other)")
    #expect(
      other.errors.contains("segment `packages`: 1 package is left out by markers"),
      "\(other)"
    )
    configure("requirements.txt", layout: "pip", "platform: [win32-x64]")
    #expect(!(try home.run("plan").errors.contains("left out by markers")))
  }

  // MARK: Indexes of packages

  @Test("A list of requirements with all bodies stored needs no index")
  func index() throws {
    var lines: [String] = []
    for name in ["left", "right"] {
      let body = "wheel \(name)"
      let digest = Digest.hexadecimal(body)
      site["/files/\(wheel(name))"] = Site.Page(body)
      site["/simple/\(name)/"] = Site.Page(
        "<!DOCTYPE html><a href='/files/\(wheel(name))#sha256=\(digest)'>\(wheel(name))</a>",
        headers: [HeaderField("Content-Type", "text/html")]
      )
      lines.append("\(name)==1.0 --hash=sha256:\(digest)\n")
    }
    home.write(lines[0], to: "requirements.txt")
    configure("requirements.txt", layout: "pip", "pip: { index: \"\(server.address("/simple"))\" }")
    let first = try home.run("--json")
    #expect(first.status == 0, "\(first)")
    #expect(try first.json().number("totals.requests") == 2)
    #expect(try home.run("--json").json().number("totals.requests") == 0)
    // Only the new requirement is looked up.
    home.write(lines.joined(), to: "requirements.txt")
    let before = server.requests.count
    #expect(try home.run().status == 0)
    #expect(
      Set(server.requests.dropFirst(before).map(\.path))
        == ["/simple/right/", "/files/\(wheel("right"))"]
    )
    let requestCount = server.requests.count
    #expect(try home.run("--revalidate").status == 0)
    let paths = Set(server.requests.dropFirst(requestCount).map(\.path))
    #expect(paths.isSuperset(of: ["/simple/left/", "/simple/right/"]), "\(paths)")
    for name in ["left", "right"] { site["/simple/\(name)/"] = nil }
    for words in [["run"], ["run", "--offline"], ["plan"]] {
      let run = try home.run(words)
      #expect(run.status == 0, "\(run)")
    }
    let variables = try home.run("env", "--strict")
    #expect(variables.status == 0, "\(variables)")
    #expect(variables.output.contains("PIP_FIND_LINKS=file://\(home.path("tree"))\n"))
    // A body that is lost has to be looked up again.
    let object = "\(home.cache)/objects/sha256/\(Digest.hexadecimal("wheel left").prefix(2))"
    #expect(try home.tool("rm", "-rf", object).status == 0)
    let lost = try home.run("--json")
    #expect(lost.status != 0, "\(lost)")
  }

  // MARK: init

  @Test(
    "`init` writes the layout of the lock file's tool and places all folders in the project",
    arguments: [
      ("package-lock.json", "npm", "npm", "1 item now"),
      ("requirements.txt", "pip", "wheels", "2 items now"),
      ("Cargo.lock", "cargo", "crates", "2 items now"), ("uv.lock", "pip", "wheels", "1 item now"),
    ]
  )
  func configuration(name: String, layout: String, segment: String, count: String) throws {
    let crate = "source = \"registry+https://github.com/rust-lang/crates.io-index\""
    let texts = [
      "package-lock.json": Self.packageLock,
      "requirements.txt": (1...2).map { "p\($0)==1.0 --hash=sha256:\(Digest.hexadecimal("a"))\n" }
        .joined(),
      "Cargo.lock": """
      # This file is automatically @generated by Cargo.
      version = 3

      [[package]]
      name = "left"
      version = "1.0.2"
      \(crate)
      checksum = "\(Digest.hexadecimal("a"))"

      """,
      "uv.lock": Self.uvLock.replacing("ORIGIN", with: "https://f.example").replacing(
        "HASH",
        with: Digest.hexadecimal("wheel")
      ),
    ]
    FileTree.makeFolder(home.path("site"))
    home.write(try #require(texts[name]), to: "site/\(name)")
    let run = try home.shell("cd site && \"$prefetch\" init --from \(name) && \"$prefetch\" check")
    #expect(run.status == 0, "\(run)")
    let text = try #require(home.read("site/prefetch.yaml"))
    #expect(text.contains("manifest: \"./\(name)\"   # \(count)"), "\(text)")
    let config = try home.run("config", "--json", "-c", "site/prefetch.yaml").json()
    #expect(config.text("config.name") == "site")
    #expect(config.text("config.segments.0.publish.layout") == layout)
    #expect(config.text("config.segments.0.publish.dir") == home.path("site/.cache/\(segment)"))
    #expect(config.text("config.segments.0.name") == segment)
    #expect(config.text("config.cache.dir") == home.path("site/.cache/prefetch"))
    #expect(config.text("config.state.dir") == home.path("site/.cache/state"))
  }
}
