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
    #expect(plan.status == 3, "\(plan)")
    #expect(plan.errors.contains("not as published: 1 missing, the first"), "\(plan)")
    #expect(plan.errors.contains("/b` stays as it is: it is not prefetch's"), "\(plan)")
    #expect(ground.files() == ["b": "other"])
    let run = try ground.mirror(list, "dir")
    #expect(run.status == 3, "\(run)")
    try #require(unsafe unlink(ground.home.path("dir/b")) == 0)
    #expect(try ground.mirror(list, "dir").status == 0)
    #expect(ground.files() == ["a": "one", "b": "two"])
  }

  @Test("`status` of a mirror says that files were taken out of the folder or replaced there")
  func changedInStatus() throws {
    func status(_ words: String...) throws -> ProgramRun {
      try ground.home.run(["status", "--cache-dir", "dir/.prefetch"] + words)
    }
    #expect(try ground.mirror(list, "dir").status == 0)
    #expect(try status("--nagios").status == 0)
    #expect(try status("--json").json().number("segments.0.published_files.missing") == 0)
    try #require(unsafe unlink(ground.home.path("dir/a")) == 0)
    let missing = try status()
    #expect(missing.output.contains("incomplete"), "\(missing)")
    #expect(missing.output.contains("files: 1 missing"), "\(missing)")
    #expect(missing.errors.contains("dir/a`"), "\(missing)")
    try #require(unsafe unlink(ground.home.path("dir/b")) == 0)
    ground.home.write("other", to: "dir/b")
    let line = try status("--nagios")
    #expect(line.status == 1, "\(line)")
    let text =
      "PREFETCH WARNING - segment `mirror` is incomplete: published files: 1 missing, 1 replaced"
    #expect(line.output.hasPrefix(text), "\(line)")
    let document = try status("--json").json()
    #expect(document.text("segments.0.state") == "incomplete")
    #expect(document.number("segments.0.published_files.replaced") == 1)
    try #require(unsafe unlink(ground.home.path("dir/b")) == 0)
    #expect(try ground.mirror(list, "dir").status == 0)
    #expect(try status("--nagios").status == 0)
  }

  @Test("`status` sees a file that is missing in the tree of an atomic mirror")
  func missingInAtomicStatus() throws {
    #expect(try ground.mirror(list, "dir", "--atomic").status == 0)
    try #require(unsafe unlink(ground.home.path("dir/current/a")) == 0)
    let run = try ground.home.run("status", "--cache-dir", "dir/.prefetch")
    #expect(run.output.contains("files: 1 missing"), "\(run)")
  }

  @Test("A dry run finds files that are in the way before the first run")
  func foreignBeforeFirstRun() throws {
    FileTree.makeFolder(ground.home.path("dir"))
    ground.home.write("other", to: "dir/a")
    let before = ground.facts()
    let plan = try ground.mirror(list, "dir", "-n")
    #expect(plan.status == 3, "\(plan)")
    #expect(plan.errors.contains("/a` stays as it is: it is not prefetch's"), "\(plan)")
    #expect(ground.facts() == before)
    let run = try ground.mirror(list, "dir")
    #expect(run.status == 3, "\(run)")
    #expect(ground.files() == ["a": "other", "b": "two"])
    #expect(try ground.mirror(list, "dir", "-n").status == 3)
    // A foreign file with the right bytes serves.
    ground.home.write("one", to: "dir/a")
    #expect(try ground.mirror(list, "dir", "-n").status == 0)
    #expect(try ground.mirror(list, "dir").status == 0)
  }

  @Test("A dry run compares sizes where no digest is declared, and doubts what it cannot compare")
  func foreignWithoutDigest() throws {
    for name in ["c", "d"] { ground.serve("body", at: "/\(name)") }
    let urls = ["c", "d"].map { ground.server.address("/\($0)") + "\n" }.joined()
    ground.home.write(urls, to: "urls.txt")
    FileTree.makeFolder(ground.home.path("dir"))
    ground.home.write("another size", to: "dir/c")
    let plan = try ground.mirror("urls.txt", "dir", "-n")
    #expect(plan.status == 3, "\(plan)")
    let unprobed = try ground.mirror("urls.txt", "dir", "-n", "--no-probe")
    #expect(unprobed.status == 0, "\(unprobed)")
    #expect(unprobed.errors.contains("[publish.in-the-way]"), "\(unprobed)")
    #expect(try ground.mirror("urls.txt", "dir").status == 3)
  }

  @Test("A dry run finds a link in the place of a folder, and ends as the run does")
  func linkInPlan() throws {
    ground.publish(files: ["sub/c": "three"])
    FileTree.makeFolder(ground.home.path("dir"))
    FileTree.makeFolder(ground.home.path("real"))
    try #require(unsafe symlink(ground.home.path("real"), ground.home.path("dir/sub")) == 0)
    let plan = try ground.mirror(list, "dir", "-n")
    let run = try ground.mirror(list, "dir")
    #expect(plan.status == 5 && run.status == 5, "\(plan)\n\(run)")
  }

  @Test("`explain` tells why a list from a server or from a file failed in the last run")
  func failedListExplained() throws {
    #expect(try ground.mirror(list, "dir").status == 0)
    ground.serve("<html>", at: "/pub/SHA256SUMS")
    #expect(try ground.mirror(list, "dir").status == 3)
    let failed = try explain("/pub/SHA256SUMS")
    #expect(failed.contains("; it failed at "), "\(failed)")
    #expect(failed.contains(" fail failed: "), "\(failed)")
    ground.publish(["a", "b"])
    #expect(try ground.mirror(list, "dir").status == 0)
    let good = try explain("/pub/SHA256SUMS")
    #expect(!good.contains("; it failed at "), "\(good)")
    #expect(good.contains("the list can be used again"), "\(good)")
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
    let line = try #require(
      run.errors.split(separator: "`").first { $0.hasPrefix("prefetch explain") }
    )
    let words = line.split(separator: " ").dropFirst().map(String.init)
    let explained = try ground.home.run(words)
    #expect(explained.output.contains("url        \(base)b"), "\(explained)\n\(line)")
    #expect(explained.output.contains("is declared [digest_mismatch]"), "\(explained)")
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
    let second = try ground.mirror(list, "dir")
    #expect(second.status == 0, "\(second)")
    #expect(second.errors.contains("dir/current` was made with `--atomic`"), "\(second)")
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

  @Test("`log` says when the tree was made, mended, changed or lost, and nothing of quiet nights")
  func treeHistory() throws {
    let words = [list, "dir", "--cache-dir", "cache", "--state-dir", "state"]
    func trees() throws -> [String] {
      let places = ["--cache-dir", "cache", "--state-dir", "state"]
      let run = try ground.home.run(["log", ground.home.path("dir")] + places)
      #expect(run.status == 0, "\(run)")
      let all = try ground.home.run(["log"] + places)
      #expect(run.lines.allSatisfy { all.lines.contains($0) }, "\(all)")
      return run.lines.map {
        $0.split(separator: "\t").map(String.init)[1...].joined(separator: " ")
      }
    }
    func entry(_ outcome: String, _ change: String) -> String {
      "\(outcome) \(ground.home.path("dir")) the tree of segment `mirror`: \(change)"
    }
    var expected = [entry("added", "2 files made")]
    for _ in 1...2 {
      #expect(try ground.mirror(words).status == 0)
      #expect(try trees() == expected)
    }
    FileTree.remove(ground.home.path("dir/a"))
    #expect(try ground.mirror(words).status == 0)
    expected.append(entry("updated", "1 missing file published again"))
    try #require(ground.home.tool("rm", "-r", ground.home.path("dir")).status == 0)
    #expect(try ground.mirror(words).status == 0)
    expected.append(entry("updated", "2 missing files published again"))
    ground.serve("three", at: "/pub/c")
    ground.publish(["b", "c"])
    #expect(try ground.mirror(words).status == 0)
    expected.append(entry("updated", "1 file made, 1 removed"))
    #expect(try ground.mirror(words).status == 0)
    #expect(try trees() == expected)
    let named = try ground.home.run([
      "log", "mirror", "--cache-dir", "cache", "--state-dir", "state",
    ])
    #expect(named.output.contains("mirror`: 2 files made"), "\(named)")
  }

  @Test("`log` says when an atomic tree was switched back, and when it went on")
  func switchedTree() throws {
    let home = ground.home
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - { name: s, manifest: "\(list)", publish: { dir: tree, atomic: true, keep_generations: 3 } }
      """
    )
    #expect(try home.run("-q").status == 0)
    ground.publish(files: ["a": "another", "b": "two"])
    #expect(try home.run("-q").status == 0)
    for words in [["publish", "--rollback", "s"], ["run", "-q"], ["publish"], ["publish"]] {
      #expect(try home.run(words).status == 0, "\(words)")
    }
    let log = try home.run("log", "tree").lines.map {
      String($0.split(separator: "`: ").last ?? "")
    }
    let made = "2 files made"
    #expect(log == [made, made, "switched back to generation 1", "switched to generation 2"])
  }

  @Test("`explain` of a mirror judges by the options of its last run, and asks for none of them")
  func explainedWithoutOptions() throws {
    #expect(try ground.mirror(list, "dir", "--set", "segments.mirror.exclude=b").status == 0)
    for path in ["/pub/SHA256SUMS", "/pub/a"] {
      let url = ground.server.address(path)
      let run = try ground.home.run("explain", url, "--cache-dir", "dir/.prefetch")
      #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
      #expect(run.output.contains("segments   mirror"), "\(run)")
      #expect(run.output.contains("security   allowed"), "\(run)")
      #expect(!run.output.contains("decision   fail"), "\(run)")
    }
    let excluded = ground.server.address("/pub/b")
    let run = try ground.home.run("explain", excluded, "--cache-dir", "dir/.prefetch")
    #expect(run.output.contains("left out: `include` or `exclude` does not match it"), "\(run)")
    let given = try ground.home.run(
      ["explain", excluded, "--cache-dir", "dir/.prefetch", "--set", "segments.mirror.exclude=c"]
    )
    #expect(given.output.contains("decision   fetch"), "\(given)")
  }

  @Test("A mirror records none of the options that may hold a secret")
  func secretOptions() throws {
    let run = try ground.mirror(
      [list, "dir", "--set", "network.proxy=http://user:hunter2@127.0.0.1:9"]
    )
    #expect(run.status != 64 && run.status != 78, "\(run)")
    let found = try ground.home.shell("grep -c hunter2 dir/.prefetch/state.sqlite*")
    #expect(found.status == 1, "\(found)")
    let options = try ground.home.shell(
      "sqlite3 dir/.prefetch/state.sqlite 'SELECT options FROM mirror_options'"
    )
    #expect(options.output.contains("NSAllowsLocalNetworking"), "\(options)")
  }

  @Test("An empty local list keeps the items of the last list, and the error says so")
  func emptiedList() throws {
    let digest = Digest.hexadecimal("one")
    ground.home.write("\(digest)  a\n", to: "SUMS")
    let base = ground.server.address("/pub/")
    #expect(try ground.mirror("SUMS", "dir", "--base-url", base).status == 0)
    ground.home.write("", to: "SUMS")
    let run = try ground.mirror("SUMS", "dir", "--base-url", base)
    #expect(run.status == 3, "\(run)")
    #expect(run.errors.contains("; the items of the last list are kept"), "\(run)")
    #expect(ground.files() == ["a": "one"])
  }

  @Test("A dry run that finds a foreign file does not say that it published")
  func nothingPublishedInPlan() throws {
    FileTree.makeFolder(ground.home.path("dir"))
    ground.home.write("other", to: "dir/a")
    let plan = try ground.mirror(list, "dir", "-n", "-v")
    #expect(plan.status == 3 && !plan.errors.contains("published, "), "\(plan)")
    #expect(try ground.mirror(list, "dir", "-v").errors.contains("published, 1 made"))
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
