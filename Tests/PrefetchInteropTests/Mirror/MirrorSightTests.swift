@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

/// Commands beside `mirror`, and its own dry run, see the mirror as its runs do.
@Suite("Reports about a mirror", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct MirrorSightTests {
  private let ground: MirrorGround

  init() throws {
    ground = try MirrorGround()
    ground.publish(files: ["a": "one", "b": "two"])
  }

  private var list: String { ground.server.address("/pub/SHA256SUMS") }

  private func explain(_ path: String) throws -> String {
    let run = try ground.home.run(
      "explain",
      ground.server.address(path),
      "--cache-dir",
      "dir/.prefetch",
      "--set",
      "transport_security.NSAllowsLocalNetworking=true"
    )
    #expect(run.status == 0, "\(run)")
    return run.output
  }

  @Test("A dry run counts files that were removed from the folder or replaced")
  func missingInPlan() throws {
    #expect(try ground.mirror(list, "dir").status == 0)
    let before = try ground.mirror(list, "dir", "-n")
    #expect(!before.errors.contains("publish.differs"), "\(before)")
    try #require(unsafe unlink(ground.home.path("dir/a")) == 0)
    try #require(unsafe unlink(ground.home.path("dir/b")) == 0)
    ground.home.write("other", to: "dir/b")
    let plan = try ground.mirror(list, "dir", "-n")
    #expect(plan.errors.contains("1 missing, 1 replaced by another file"), "\(plan)")
    #expect(ground.files() == ["b": "other"])
    try #require(unsafe unlink(ground.home.path("dir/b")) == 0)
    #expect(try ground.mirror(list, "dir").status == 0)
    #expect(ground.files() == ["a": "one", "b": "two"])
  }

  @Test("A dry run of an atomic mirror counts files that were removed from the current tree")
  func missingInAtomicPlan() throws {
    #expect(try ground.mirror(list, "dir", "--atomic").status == 0)
    try #require(unsafe unlink(ground.home.path("dir/current/a")) == 0)
    let plan = try ground.mirror(list, "dir", "--atomic", "-n")
    #expect(plan.errors.contains("1 missing"), "\(plan)")
    #expect(try ground.mirror(list, "dir", "--atomic").status == 0)
    #expect(try !ground.mirror(list, "dir", "--atomic", "-n").errors.contains("publish.differs"))
  }

  @Test("`explain` judges an item of a mirror by the mirror's list")
  func itemExplained() throws {
    #expect(try ground.mirror(list, "dir").status == 0)
    let text = try explain("/pub/a")
    #expect(text.contains("decision   keep: digest matches"), "\(text)")
    #expect(text.contains("require_digest (applies)"), "\(text)")
  }

  @Test("`explain` knows the list of a mirror and the time of its last request")
  func listExplained() throws {
    #expect(try ground.mirror(list, "dir").status == 0)
    let text = try explain("/pub/SHA256SUMS")
    #expect(
      text.contains("decision   revalidate: the list of segment `mirror`, asked for in every run"),
      "\(text)"
    )
    #expect(text.contains("last success at "), "\(text)")
  }

  @Test("The command that a failed mirror of a local list suggests explains the item")
  func localListExplained() throws {
    let digest = Digest.hexadecimal(Array("one".utf8))
    ground.home.write("\(digest)  a\n\(digest)  b\n", to: "SUMS")
    let base = ground.server.address("/pub/")
    let run = try ground.mirror("SUMS", "dir", "--base-url", base)
    #expect(run.status == 5, "\(run)")
    let told = try #require(
      run.errors.split(separator: "`").first { $0.hasPrefix("prefetch explain") }
    )
    let words = told.split(separator: " ").dropFirst().map(String.init)
    let explained = try ground.home.run(words.map { $0 == "URL" ? base + "a" : $0 })
    #expect(explained.output.contains("decision   keep: digest matches"), "\(explained)\n\(told)")
  }

  @Test("Metrics of two mirrors differ by the label of their folder")
  func labels() throws {
    for folder in ["one", "two"] {
      let run = try ground.mirror(list, folder, "-q", "--report", "prometheus=\(folder).prom")
      #expect(run.status == 0, "\(run)")
      let text = try #require(ground.home.read("\(folder).prom"))
      let label = "{configuration=\"\(ground.home.path(folder))\""
      let samples = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
      #expect(!samples.isEmpty && samples.allSatisfy { $0.contains(label) }, "\(text)")
    }
  }

  @Test(
    "A run without `--atomic` names the atomic tree that it leaves, and vice versa"
  )
  func otherTree() throws {
    #expect(try ground.mirror(list, "dir", "--atomic").status == 0)
    let plain = try ground.mirror(list, "dir")
    #expect(plain.status == 0, "\(plain)")
    #expect(plain.errors.contains("dir/current` was made with `--atomic`"), "\(plain)")
    #expect(try ground.mirror(list, "dir", "--atomic").errors == "")
    #expect(try ground.mirror(list, "other").errors == "")
    let atomic = try ground.mirror(list, "other", "--atomic")
    #expect(atomic.errors.contains("other` was made without `--atomic`"), "\(atomic)")
    #expect(try ground.mirror(list, "other", "--atomic").errors == "")
  }

  @Test("Existing files are reported with `--adopt`, which adopts them")
  func adoptNamed() throws {
    FileTree.makeFolder(ground.home.path("dir"))
    ground.home.write("one", to: "dir/a")
    let run = try ground.mirror(list, "dir")
    #expect(run.errors.contains("mirror again with `--adopt`"), "\(run)")
    #expect(try ground.mirror(list, "dir", "--adopt").errors == "")
    ground.publish(["b"])
    #expect(try ground.mirror(list, "dir").status == 0)
    #expect(ground.files() == ["b": "two"])
  }

  @Test("A foreign file in the way of an offline run is not blamed on `--offline`")
  func foreignOffline() throws {
    #expect(try ground.mirror(list, "dir").status == 0)
    try #require(unsafe unlink(ground.home.path("dir/a")) == 0)
    ground.home.write("other", to: "dir/a")
    let run = try ground.mirror(list, "dir", "--offline")
    #expect(run.status == 3, "\(run)")
    #expect(run.errors.contains("move it away"), "\(run)")
    #expect(!run.errors.contains("--offline"), "\(run)")
  }
}
