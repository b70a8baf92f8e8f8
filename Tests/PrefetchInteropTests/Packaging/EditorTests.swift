import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("Editing of a configuration", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct EditorTests {
  private let home: Home

  init() throws {
    home = try Home()
  }

  private static let hasValidator: Bool = {
    guard Tool.isInstalled("python3"), let home = try? Home() else { return false }
    return (try? home.tool("python3", "-c", "import jsonschema, yaml"))?.status == 0
  }()

  @Test(
    "An editor offers the keys with their meaning and underlines unknown ones",
    .enabled(if: hasValidator, "needs python3-jsonschema and python3-yaml")
  )
  func editor() throws {
    let run = try home.shell("\(RepositoryPage.path("examples/editor/run")) \"$prefetch\"")
    #expect(run.status == 0, "\(run)")
    #expect(run.output.contains("named as in the catalogue: yes"), "\(run)")
    let offered = run.lines.filter { $0.contains(" keys, ") }
    #expect(offered.count == 4, "\(run)")
    #expect(offered.allSatisfy { $0.hasSuffix(" 0 without a word") }, "\(run)")
    let faults = run.lines.filter { $0.hasPrefix("  ") }
    #expect(faults.count == 6 && !faults.contains("  nothing"), "\(run)")
    #expect(faults.first?.contains("segmants") == true, "\(run)")
    #expect(run.lines.count { $0.hasSuffix(": nothing to say") } > 8, "\(run)")
  }

  @Test("The hooks of pre-commit pass good files and refuse bad ones, each file by itself")
  func hooks() throws {
    let path = RepositoryPage.path(".pre-commit-hooks.yaml")
    let bytes = try #require(FileTree.read(path))
    let outcome = DocumentReader.read(bytes, source: path, syntax: .yaml)
    let hooks = try #require(outcome.node?.sequence)
    #expect(outcome.diagnostics.isEmpty && hooks.count == 2)
    let one = "segments: [{ name: a, urls: [{ url: 'https://a.example/x', sha256: SUM }] }]"
      .replacing("SUM", with: String(repeating: "a", count: 64))
    // The two files together would be invalid, since both declare the segment.
    for name in ["a.yaml", "b.yaml"] { home.write(one + "\n", to: name) }
    home.write("license: \"${env:NOT_SET}\"\n" + one + "\n", to: "c.yaml")
    home.write("segmants: []\n", to: "bad.yaml")
    let sum = String(repeating: "b", count: 64)
    home.write("\(sum)  x\n", to: "good.sums")
    home.write("nonsense\n", to: "bad.sums")
    let cases: [(hook: String, good: String, bad: String)] = [
      ("prefetch-check", "a.yaml b.yaml c.yaml", "bad.yaml a.yaml"),
      ("prefetch-manifest-check", "good.sums good.sums", "bad.sums good.sums"),
    ]
    for row in cases {
      let hook = try #require(hooks.first { $0.text("id") == row.hook })
      #expect(hook.text("language") == "system")
      let entry = try #require(hook.text("entry"))
      let begin = "mkdir -p bin && ln -sf \"$prefetch\" bin/prefetch && PATH=$PWD/bin:$PATH "
      let good = try home.shell("\(begin) \(entry) \(row.good)")
      #expect(good.status == 0, "\(good)")
      let bad = try home.shell("\(begin) \(entry) \(row.bad)")
      #expect(bad.status == 78 && bad.errors.contains("bad."), "\(bad)")
    }
  }
}
