import PrefetchTestSupport
import Testing

/// Lists of other tools are read completely or refused by name, never taken for empty lists.
@Suite("A lock file or feed of another tool", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct LockFileTests {
  private let home: Home

  init() throws {
    home = try Home(isInMemory: true)
  }

  private static let bun = """
    {
      "lockfileVersion": 1,
      "configVersion": 1,
      "workspaces": { "": { "name": "app", "dependencies": { "left": "^1.0.0" } } },
      "packages": { "left": ["left@1.0.2", "", {}, "sha256-n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="] }
    }
    """
  private static let feed = """
    <rss version="2.0"><channel><title>News</title>
    <item><title>One</title><link>https://f.example/one</link></item>
    <item><title>Two</title><link>https://f.example/two</link></item></channel></rss>
    """
  private static let atom = """
    <feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>
    <entry><title>One</title><link href="https://f.example/one"/></entry></feed>
    """
  private static let sitemap = """
    <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
    <sitemap><loc>https://f.example/a.xml</loc></sitemap></urlset>
    """
  private static let uvWithoutFiles = """
    version = 1
    requires-python = ">=3.12"

    [[package]]
    name = "left"
    version = "1.0"
    source = { registry = "https://f.example/simple" }
    """
  private static let git = """
    version = 4

    [[package]]
    name = "left"
    version = "1.0.0"
    source = "git+https://f.example/left#0123456789"
    """

  @Test(
    "A lock file with nothing to fetch is not taken for an empty list",
    arguments: [
      ("bun.lock", bun, "it is a bun.lock, which this version does not read; write a yarn.lock"),
      (
        "bun.lock", bun.replacing("\n    }", with: ",\n    }").replacing(" } }\n", with: " } },\n"),
        "it is a bun.lock, which this version does not read"
      ),
      ("list", bun, "it is a bun.lock"),
      ("package-lock.json", bun, "the first bytes a bun.lock"),
      ("feed.rss", feed, "nothing in it can be fetched; it has 2 entries without an enclosure"),
      ("feed", atom, "nothing in it can be fetched; it has 1 entry without an enclosure"),
      ("sitemap.xml", sitemap, "`sitemap` has no place in a `urlset`"),
      ("uv.lock", uvWithoutFiles, "nothing in it can be fetched; it has 1 package without files"),
      ("Cargo.lock", git, "nothing in it can be fetched; it has 1 package from version control"),
    ]
  )
  func nothingToFetch(name: String, text: String, message: String) throws {
    home.write(text, to: name)
    let check = try home.run("manifest", "check", name)
    #expect(check.status == 78, "\(check)")
    #expect(check.errors.contains(message), "\(check)")
    home.configure(
      """
      segments: [{ name: s, manifest: "./\(name)", allow_empty: true }]
      cache: { min_free: 0 }
      """
    )
    let run = try home.run("--json")
    #expect(run.status == 4, "\(run)")
    let code = try run.json().text("segments.0.manifest.error.code") ?? "none"
    #expect(["manifest_invalid", "unsupported"].contains(code), "\(run)")
    let mirror = try home.run("mirror", name, "copy", "--set", "defaults.allow_empty=true")
    #expect(mirror.status == 78, "\(mirror)")
    #expect(mirror.errors.contains(message), "\(mirror)")
  }

  @Test("A lock file of uv leaves out packages for other platforms, by the condition of their use")
  func uvConditions() throws {
    let server = try LoopbackServer { .respond(200, text: "wheel \($0.path)") }
    func package(_ name: String, needs: String, wheel: String) -> String {
      let url = server.address("/\(name)-1.0-\(wheel).whl")
      return """
        [[package]]
        name = "\(name)"
        version = "1.0"
        source = { registry = "https://pypi.org/simple" }
        dependencies = [\(needs)]
        wheels = [{ url = "\(url)" }]


        """
    }
    home.write(
      """
      version = 1
      requires-python = ">=3.12"

      [[package]]
      name = "app"
      version = "0.1"
      source = { virtual = "." }
      dependencies = [
          { name = "left" },
          { name = "pywin32", marker = "sys_platform == 'win32'" },
      ]

      [package.optional-dependencies]
      all = [{ name = "app", extra = ["more"] }]

      [package.dev-dependencies]
      dev = [{ name = "right" }]


      """
        + package("left", needs: "", wheel: "py3-none-any")
        + package("right", needs: "{ name = \"left\" }", wheel: "py3-none-any")
        + package("pywin32", needs: "{ name = \"winonly\" }", wheel: "cp312-cp312-win_amd64")
        + package("winonly", needs: "{ name = \"left\" }", wheel: "cp312-cp312-win_amd64"),
      to: "uv.lock"
    )
    home.configure(
      """
      segments: [{ name: s, manifest: ./uv.lock, platform: [linux-x64, cp312] }]
      cache: { min_free: 0 }
      """
    )
    let run = try home.run()
    #expect(run.status == 0, "\(run)")
    #expect(
      server.requests.map(\.path).sorted()
        == ["/left-1.0-py3-none-any.whl", "/right-1.0-py3-none-any.whl"]
    )
  }

  @Test("A lock file of pnpm is read in all its documents")
  func pnpmDocuments() throws {
    let sum = "resolution: {integrity: sha256-n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=}"
    home.write(
      """
      ---
      lockfileVersion: '9.0'

      importers:
        .:
          packageManagerDependencies:
            pnpm: {specifier: 12.3.4, version: 12.3.4}

      packages:
        pnpm@12.3.4:
          \(sum)

      snapshots:
        pnpm@12.3.4: {}

      ---
      lockfileVersion: '9.0'

      packages:
        left@1.0.2:
          \(sum)
        right@1.0.0:
          \(sum)
      """,
      to: "pnpm-lock.yaml"
    )
    let check = try home.run("manifest", "check", "pnpm-lock.yaml")
    #expect(check.status == 0, "\(check)")
    #expect(check.output.contains("(`format: pnpm-lock`)\nitems:     3\n"), "\(check)")
    home.write((home.read("pnpm-lock.yaml") ?? "") + "\n  bad@1.0.0: 3\n", to: "list")
    let bad = try home.run("manifest", "check", "list")
    #expect(bad.errors.contains("line 24, column 14"), "\(bad)")
  }
}
