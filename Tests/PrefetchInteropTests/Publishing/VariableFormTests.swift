import PrefetchCore
import PrefetchSystem
import PrefetchTestSupport
import Testing

@Suite("Variables for tools", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct VariableFormTests {
  private let home: Home
  private let site = Site(["/pub/six-1.0-py3-none-any.whl": Site.Page("six")])
  private let server: LoopbackServer

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home()
  }

  private func declare(_ segments: (name: String, layout: String, file: String)...) throws {
    let text = try segments.map { segment in
      """
        - name: \(segment.name)
          urls: ["\(try server.url("/pub/\(segment.file)"))"]
          publish: { dir: "trees/\(segment.name)", layout: \(segment.layout) }
      """
    }
    home.configure("cache: { min_free: 0 }\nsegments:\n\(text.joined(separator: "\n"))")
  }

  private let wheel = "six-1.0-py3-none-any.whl"

  @Test("`env` writes for `$GITHUB_ENV` with a safe delimiter, and for dotenv files")
  func forms() throws {
    try declare(("two words $x", "pip", wheel))
    #expect(try home.run("run").status == 0)
    let github = try home.run("env", "--shell", "github")
    #expect(github.status == 0, "\(github)")
    let lines = github.lines
    #expect(lines.count == 12)
    let delimiter = lines[0].split(separator: "<<").last.map(String.init) ?? ""
    #expect(delimiter.utf8.count > 30)
    #expect(lines[0] == "PIP_NO_INDEX<<\(delimiter)" && lines[1] == "1" && lines[2] == delimiter)
    #expect(!lines[3].contains(delimiter), "each variable has a delimiter of its own")
    #expect(lines[4].hasSuffix("/trees/two%20words%20%24x"))
    let dotenv = try home.run("env", "--shell", "dotenv")
    #expect(dotenv.lines.first == "PIP_NO_INDEX=1")
    #expect(try home.run("env", "--shell", "fish").status == 64)
  }

  @Test("`env` leaves the network to a tool with a missing tree, and `--strict` ends with 4")
  func withheld() throws {
    try declare(("here", "pip", wheel), ("gone", "pip", "none-1.0-py3-none-any.whl"))
    #expect(try home.run("run").status == 3)
    let run = try home.run("env")
    #expect(run.status == 0, "\(run)")
    #expect(!run.output.contains("PIP_NO_INDEX"))
    #expect(run.output.contains("PIP_FIND_LINKS="))
    #expect(run.errors.contains("segment `gone` gets no variable: 1 item failed"))
    #expect(try home.run("env", "--strict").status == 4)
    #expect(try home.run("env", "--strict", "here").status == 0)
    let whole = try home.run("env", "here")
    #expect(whole.output.contains("PIP_NO_INDEX=1"))
  }

  @Test("`env` separates several trees with blanks in their paths in every format")
  func severalTrees() throws {
    let other = "two-1.0-py3-none-any.whl"
    site["/pub/\(other)"] = Site.Page("two")
    try declare(("first tree", "pip", wheel), ("the second, x", "pip", other))
    #expect(try home.run("run").status == 0)
    let paths = ["first%20tree", "the%20second%2C%20x"].map {
      "file://\(home.path("trees"))/\($0)"
    }
    let joined = paths.joined(separator: " ")
    let shell = try home.shell("eval \"$(\"$prefetch\" env --strict)\"; echo \"$PIP_FIND_LINKS\"")
    #expect(shell.output == joined + "\n", "\(shell)")
    let github = try home.run("env", "--shell", "github").lines
    #expect(github.contains { $0 == joined }, "\(github)")
    let dotenv = try home.run("env", "--shell", "dotenv")
    #expect(dotenv.lines.contains("PIP_FIND_LINKS=\"\(joined)\""), "\(dotenv)")
  }

  @Test("`env` reports a missing tree although its segment is current")
  func tree() throws {
    try declare(("here", "pip", wheel))
    #expect(try home.run("run").status == 0)
    #expect(try home.tool("rm", "-rf", home.path("trees")).status == 0)
    let run = try home.run("env", "--strict")
    #expect(run.status == 4, "\(run)")
    #expect(run.errors.contains("its tree `\(home.path("trees/here"))` is missing"))
  }

  @Test("`env --strict` ends with 4 for a tree that lacks a file, and with 0 after the next run")
  func incompleteTree() throws {
    try declare(("here", "pip", wheel))
    #expect(try home.run("run").status == 0)
    #expect(try home.run("env", "--strict").status == 0)
    #expect(try home.tool("rm", home.path("trees/here/\(wheel)")).status == 0)
    let run = try home.run("env", "--strict")
    #expect(run.status == 4, "\(run)")
    #expect(run.errors.contains("1 file is missing from its tree"), "\(run)")
    #expect(try home.run("run", "-q").status == 0)
    #expect(try home.run("env", "--strict").status == 0)
  }

  @Test("`env --strict` ends with 4 for a configuration that publishes no tree")
  func noTree() throws {
    let bare = try home.run("env", "--strict")
    #expect(bare.status == 4, "\(bare)")
    #expect(bare.errors.contains("no segment publishes a tree"), "\(bare)")
    home.configure(
      "cache: { min_free: 0 }\nsegments: [{ name: a, urls: [\"\(try server.url("/pub/a"))\"] }]"
    )
    let run = try home.run("env", "--strict")
    #expect(run.status == 4, "\(run)")
    #expect(try home.run("env").status == 0)
  }

  @Test("`env` prints variables without the secrets that only runs need")
  func withoutSecrets() throws {
    try declare(("here", "pip", wheel))
    #expect(try home.run("run").status == 0)
    let text = try #require(home.read("prefetch.yaml"))
    home.write(
      text
        + "\ntransport: { rules: [{ match: \"https://x.example/**\", headers: { X-Key: \"${env:NOT_SET}\" } }] }\n"
    )
    #expect(try home.run("run").status == 78)
    let run = try home.run("env", "--strict")
    #expect(run.status == 0, "\(run)")
    #expect(run.output.contains("PIP_FIND_LINKS"), "\(run)")
  }
}
