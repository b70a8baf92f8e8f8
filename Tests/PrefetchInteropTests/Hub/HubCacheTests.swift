@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchTestSupport
import Testing

/// The layout `hf`.
@Suite("The cache of a hub's tools", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct HubCacheTests {
  private let ground: HubGround

  init() throws {
    ground = try HubGround()
    ground.publish()
  }

  private func night(_ words: String...) throws -> ProgramRun {
    ground.clear()
    return try ground.home.start(
      ground.mirror.arguments(["hf:\(HubGround.name)", "dir", "--layout", "hf"] + words)
    ).finish()
  }

  private func declare(_ rules: String = "dir: dir") {
    ground.declare("publish: { layout: hf, \(rules) }")
  }

  private func verify() throws -> ProgramRun {
    try ground.home.run("verify", "--cache-dir", "dir/.prefetch")
  }

  private var files: [[HubText.File]] { [HubGround.files, HubGround.later] }
  private let folder = "dir/models--acme--tiny"

  @Test("A revision has the names that the hub's tools give it, and its bodies are hard links")
  func names() throws {
    let run = try night()
    #expect(run.status == 0, "\(run)")
    #expect(ground.tree() == HubGround.cache([files[0]]))
    for name in FileTree.names(ground.home.path("\(folder)/blobs")) {
      let path = ground.home.path("\(folder)/blobs/\(name)")
      let status = try #require(FileTree.status(path))
      #expect(status.st_mode & 0o7777 == 0o444 && status.st_nlink == 2, "\(name)")
    }
    let reference = try #require(FileTree.status(ground.home.path("\(folder)/refs/main")))
    #expect(reference.st_mode & 0o7777 == 0o644)
    #expect(try night().status == 0)
    #expect(ground.requests.count == 1)
    let verify = try verify()
    #expect(verify.status == 0 && verify.output.contains("9 published files"), "\(verify)")
  }

  @Test("The next revision joins the last one, and the one before goes")
  func revisions() throws {
    #expect(try night().status == 0)
    ground.publish(files[1])
    #expect(try night().status == 0)
    #expect(ground.tree() == HubGround.cache(files))
    let third = [HubText.File("config.json", "{}"), files[1][1]]
    ground.publish(third)
    #expect(try night("--allow", "mass-removal").status == 0)
    #expect(ground.tree() == HubGround.cache([files[1], third]))
    #expect(try verify().status == 0)
  }

  @Test("A revision that comes back, and a lost cache, find the links of last time in place")
  func reverted() throws {
    #expect(try night().status == 0)
    ground.publish(files[1])
    #expect(try night().status == 0)
    ground.publish(files[0])
    let back = try night("--allow", "mass-removal")
    #expect(back.status == 0 && back.errors.isEmpty, "\(back)")
    #expect(ground.tree() == HubGround.cache([files[1], files[0]]))
    #expect(try verify().status == 0)
  }

  @Test("An incomplete revision leads no reader to it, and keeps the one that readers use")
  func incomplete() throws {
    #expect(try night().status == 0)
    let commit = HubText.commit(of: files[0])
    // Two revisions in a row that are never complete.
    for text in ["a", "b"] {
      var next = files[1]
      next[0] = HubText.File("config.json", text)
      let broken = ground.publish(next)
      ground.refuse(HubGround.path("sub dir/tok+.bin", broken), 500)
      let run = try night("--set", "network.retries.items=0")
      #expect(run.status == 3, "\(run)")
      #expect(ground.home.read("\(folder)/refs/main") == commit)
      let tree = ground.tree()
      for (name, content) in HubGround.cache([files[0]]) {
        #expect(tree[name] == content, "\(name)")
      }
    }
    ground.publish(files[1])
    #expect(try night().status == 0)
    #expect(ground.home.read("\(folder)/refs/main") == HubText.commit(of: files[1]))
  }

  @Test("A reference that the hub's tools have moved is no damage, and a later revision moves it")
  func movedReference() throws {
    #expect(try night().status == 0)
    ground.home.write(HubText.name("other"), to: "\(folder)/refs/main")
    #expect(try verify().status == 0)
    #expect(try night().status == 0)
    #expect(ground.home.read("\(folder)/refs/main") == HubText.name("other"))
    ground.publish(files[1])
    let run = try night()
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    #expect(ground.home.read("\(folder)/refs/main") == HubText.commit(of: files[1]))
  }

  @Test("A link or body that was changed or lost is reported, and made again")
  func damage() throws {
    declare()
    #expect(try ground.run().status == 0)
    let commit = HubText.commit(of: files[0])
    let link = ground.home.path("\(folder)/snapshots/\(commit)/README.md")
    let blob = ground.home.path("\(folder)/blobs/\(files[0][0].cacheName)")
    FileTree.remove(link)
    FileTree.remove(blob)
    let verify = try ground.run("verify")
    #expect(verify.status == 74, "\(verify)")
    #expect(verify.errors.contains("README.md") && verify.errors.contains(files[0][0].blob))
    let run = try ground.run("publish")
    #expect(run.status == 0, "\(run)")
    #expect(ground.tree() == HubGround.cache([files[0]]))
    #expect(try ground.run("verify").status == 0)
  }

  @Test("A link to another place is reported, and stays until it is moved away")
  func foreignLink() throws {
    declare()
    #expect(try ground.run().status == 0)
    let commit = HubText.commit(of: files[0])
    let link = ground.home.path("\(folder)/snapshots/\(commit)/README.md")
    FileTree.remove(link)
    unsafe symlink("/etc/passwd", link)
    #expect(try ground.run("verify").status == 74)
    let run = try ground.run("publish")
    #expect(run.status == 3 && run.errors.contains("README.md"), "\(run)")
    FileTree.remove(link)
    #expect(try ground.run("publish").status == 0)
    #expect(ground.tree() == HubGround.cache([files[0]]))
  }

  @Test("Several repositories share the folder, and one with equal bodies shares their blocks")
  func shared() throws {
    #expect(try night().status == 0)
    ground.publish(files[0], as: "main", "acme/copy")
    ground.clear()
    let run = try ground.home.start(
      ground.mirror.arguments(["hf:acme/copy", "dir", "--layout", "hf"])
    ).finish()
    #expect(run.status == 0, "\(run)")
    #expect(ground.storage.requests.isEmpty)
    let tree = ground.tree()
    #expect(tree.count == 2 * HubGround.cache([files[0]]).count)
    for (name, content) in HubGround.cache([files[0]]) {
      #expect(tree[name] == content)
      #expect(tree[name.replacing("acme--tiny", with: "acme--copy")] == content)
    }
    #expect(try night().status == 0)
    #expect(ground.tree() == tree)
  }

  @Test("`adopt` takes a cache of the hub's tools over, and removes its revisions in time")
  func adopted() throws {
    for (name, content) in HubGround.cache([files[0]]) {
      let path = ground.home.path("dir/\(name)")
      #expect(try ground.home.tool("mkdir", "-p", "\(path)/..").status == 0)
      #expect(try ground.home.tool("rmdir", path).status == 0)
      if content.hasPrefix("-> ") {
        unsafe symlink(String(content.dropFirst(3)), path)
      } else {
        ground.home.write(content, to: "dir/\(name)")
      }
    }
    declare("dir: dir, adopt: true")
    let run = try ground.run()
    #expect(run.status == 0, "\(run)")
    #expect(ground.storage.requests.filter { $0.method == "GET" }.isEmpty)
    #expect(ground.tree() == HubGround.cache([files[0]]))
    for count in 1...2 {
      ground.publish(files[1] + [HubText.File("more", "\(count)")])
      #expect(try ground.run().status == 0)
    }
    let commit = HubText.commit(of: files[0])
    #expect(!ground.tree().keys.contains { $0.contains(commit) })
  }

  @Test("A tree that moved with its cache and state is whole, and follows its repository")
  func movedTree() throws {
    #expect(try night().status == 0)
    #expect(try ground.home.tool("cp", "-a", "dir", "copy").status == 0)
    #expect(try ground.home.tool("rm", "-r", "dir").status == 0)
    let verify = try ground.home.run("verify", "--cache-dir", "copy/.prefetch")
    #expect(verify.status == 0, "\(verify)")
    ground.publish(files[1])
    ground.clear()
    let run = try ground.home.start(
      ground.mirror.arguments(["hf:\(HubGround.name)", "copy", "--layout", "hf"])
    ).finish()
    #expect(run.status == 0, "\(run)")
    #expect(ground.storage.requests.count == 1)
    #expect(ground.tree("copy") == HubGround.cache(files))
  }

  @Test("A lock file keeps a whole commit, also after an update by a pattern")
  func lockedCommits() throws {
    declare()
    #expect(try ground.run().status == 0)
    #expect(try ground.run("freeze").status == 0)
    ground.publish(files[1])
    #expect(try ground.run("run", "--frozen").status == 0)
    #expect(ground.tree() == HubGround.cache([files[0]]))
    #expect(try ground.run("freeze", "--update", "*.json").status == 0)
    #expect(ground.tree() == HubGround.cache(files))
    #expect(try ground.run("run", "--frozen").status == 0)
    #expect(ground.tree() == HubGround.cache(files))
  }

  @Test("A folder that is not named is that of the hub's variables")
  func standardFolder() throws {
    var ground = ground
    ground.declare("publish: { layout: hf }")
    for (name, value, place) in [
      ("HF_HUB_CACHE", ground.home.path("a"), "a"), ("HF_HOME", ground.home.path("b"), "b/hub"),
    ] {
      ground.set("HF_HUB_CACHE", nil)
      ground.set(name, value)
      let run = try ground.run("run", "--json")
      #expect(run.status == 0, "\(run)")
      #expect(ground.tree(place) == HubGround.cache([files[0]]), "\(name)")
    }
  }

  @Test("`env` names the folder to the hub's tools, and forbids them the network")
  func variables() throws {
    declare()
    #expect(try ground.run().status == 0)
    let run = try ground.run("env")
    let lines = "HF_HUB_CACHE=\(ground.home.path("dir"))\nHF_HUB_OFFLINE=1\n"
    #expect(run.status == 0 && run.output == lines, "\(run)")
  }

  @Test("A commit as revision has no reference")
  func pinned() throws {
    let commit = HubText.commit(of: files[0])
    ground.clear()
    let run = try ground.home.start(
      ground.mirror.arguments(["hf:\(HubGround.name)@\(commit)", "dir", "--layout", "hf"])
    ).finish()
    #expect(run.status == 0, "\(run)")
    var expected = HubGround.cache([files[0]])
    expected["models--acme--tiny/refs/main"] = nil
    #expect(ground.tree() == expected)
  }

  @Test(
    "The layout is for repositories of a hub, and has a switch of its own",
    arguments: [
      (
        "manifest: https://cdn.example/list.json\n    publish: { layout: hf, dir: d }",
        "no repository"
      ),
      ("manifest: hf:a/b\n    publish: { layout: hf, dir: d, atomic: true }", "switches by a file"),
      ("manifest: hf:a/b\n    publish: { layout: url }", "has no `dir`"),
    ]
  )
  func refused(segment: String, words: String) throws {
    ground.home.configure("segments:\n  - name: tiny\n    \(segment)")
    let run = try ground.run("check")
    #expect(run.status == 78 && run.errors.contains(words), "\(run)")
  }

  @Test("A dry run makes nothing and finds what is in the way")
  func dryRun() throws {
    declare()
    let plan = try ground.run("plan")
    #expect(plan.status == 0 || plan.status == 2, "\(plan)")
    #expect(ground.tree().isEmpty)
    #expect(try ground.run().status == 0)
    #expect(try ground.run("plan").status == 0)
    ground.publish(files[1])
    let commit = HubText.commit(of: files[1])
    FileTree.makeFolder(ground.home.path("\(folder)/snapshots/\(commit)"))
    ground.home.write("mine", to: "\(folder)/snapshots/\(commit)/README.md")
    let blocked = try ground.run("run")
    #expect(blocked.status == 3 && blocked.errors.contains("README.md"), "\(blocked)")
    #expect(ground.home.read("\(folder)/refs/main") == HubText.commit(of: files[0]))
  }

  @Test(
    "A kill at any moment of a run leaves a whole revision in use, and the next run ends it",
    .enabled(if: Tracing.isPossible, "\(Tracing.absence)"),
    arguments: [
      ("linkat", 1), ("symlinkat", 1), ("renameat", 1), ("mkdirat", 1), ("syncfs", 1),
      ("pwrite64", 11),
    ]
  )
  func killed(_ call: String, _ step: Int) throws {
    var count = 0
    while try isKilled(at: call, 1 + count * (Campaign.isLong ? 1 : step)) { count += 1 }
    #expect(count > 0)
  }

  /// Kills the run that fetches the second revision; returns false if it ended before.
  private func isKilled(at call: String, _ moment: Int) throws -> Bool {
    let ground = try HubGround()
    ground.publish()
    ground.declare("publish: { layout: hf, dir: dir }")
    try #require(try ground.run().status == 0)
    ground.publish(files[1])
    let run = try ground.home.shell(
      """
      strace -f -qq -o /dev/null -e trace=\(call) \
      -e inject=\(call):signal=SIGKILL:when=\(moment) $prefetch run
      """
    )
    let current = ground.home.read("\(folder)/refs/main")
    let whole = try #require(files.first { HubText.commit(of: $0) == current })
    let tree = ground.tree()
    for (name, content) in HubGround.cache([whole]) {
      #expect(tree[name] == content, "\(call) \(moment): \(name)")
    }
    let next = try ground.run()
    #expect(next.status == 0, "\(call) \(moment): \(next)")
    #expect(ground.tree() == HubGround.cache(files), "\(call) \(moment)")
    #expect(try ground.run("verify").status == 0, "\(call) \(moment)")
    return run.status == 137
  }
}
