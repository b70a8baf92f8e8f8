import PrefetchCore
import PrefetchTestSupport
import Testing

/// Interpreter of a virtual environment with PyPI's `huggingface_hub`.
private let python =
  "\(#filePath)".split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
  + "/.build/hub/bin/python"

/// PyPI's `huggingface_hub` beside the same hub.
@Suite(
  "The hub's own library",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: FileTree.exists(python), "needs huggingface_hub, which `--slow` installs")
)
struct HubLibraryTests {
  /// Downloads or loads a snapshot; prints its folder and its configuration.
  private static let script = """
    import sys
    from huggingface_hub import snapshot_download, hf_hub_download
    path = snapshot_download('acme/tiny', revision=sys.argv[2], cache_dir=sys.argv[1])
    print(path)
    print(open(path + '/config.json').read(), end='')
    print(open(hf_hub_download('acme/tiny', 'sub dir/tok+.bin', revision=sys.argv[2],
        cache_dir=sys.argv[1])).read(), end='')
    """

  private let ground: HubGround

  init() throws {
    var ground = try HubGround()
    for name in ["HF_HUB_DISABLE_XET", "HF_HUB_DISABLE_TELEMETRY", "HF_HUB_DISABLE_UPDATE_CHECK"] {
      ground.set(name, "1")
    }
    self.ground = ground
    ground.publish()
  }

  private func load(
    _ folder: String,
    _ revision: String = "main",
    isOffline: Bool = false
  ) throws -> ProgramRun {
    var variables = ground.home.variables
    if isOffline { variables["HF_HUB_OFFLINE"] = "1" }
    return try RunningProgram(
      python,
      ["-c", Self.script, ground.home.path(folder), revision],
      environment: variables,
      folder: ground.home.work
    ).finish()
  }

  /// Returns a tree without the files that only the library's own work needs.
  private func tree(_ folder: String) -> [String: String] {
    ground.tree(folder).filter { name, _ in
      !name.hasPrefix(".locks/") && name != "CACHEDIR.TAG" && !name.contains("/trees/")
    }
  }

  private func night(_ folder: String = "dir") throws -> ProgramRun {
    ground.clear()
    return try ground.home.start(
      ground.mirror.arguments(["hf:\(HubGround.name)", folder, "--layout", "hf"])
    ).finish()
  }

  @Test("The library makes the same tree file by file, over two revisions")
  func sameTrees() throws {
    for files in [HubGround.files, HubGround.later] {
      ground.publish(files)
      let library = try load("library")
      #expect(library.status == 0, "\(library)")
      let run = try night()
      #expect(run.status == 0, "\(run)")
      #expect(tree("dir") == tree("library"))
    }
  }

  @Test("The library loads each kept revision offline, without a request")
  func offline() throws {
    #expect(try night().status == 0)
    let old = HubText.commit(of: HubGround.files)
    ground.publish(HubGround.later)
    #expect(try night().status == 0)
    ground.clear()
    let current = try load("dir", isOffline: true)
    #expect(current.status == 0, "\(current)")
    let folder = ground.home.path("dir/models--acme--tiny/snapshots")
    let commit = HubText.commit(of: HubGround.later)
    #expect(current.output == "\(folder)/\(commit)\n{\"layers\": 2}\ntokens of 2\n")
    let earlier = try load("dir", old, isOffline: true)
    #expect(earlier.output == "\(folder)/\(old)\n{\"layers\": 1}\ntokens of 1\n", "\(earlier)")
    #expect(ground.requests == [])
  }

  @Test("The library goes on in a tree of prefetch's, and prefetch in a tree of the library's")
  func together() throws {
    #expect(try night().status == 0)
    ground.publish(HubGround.later)
    let library = try load("dir")
    #expect(library.status == 0, "\(library)")
    let verify = try ground.home.run("verify", "--cache-dir", "dir/.prefetch")
    #expect(verify.status == 0, "\(verify)")
    let run = try night()
    #expect(run.status == 0, "\(run)")
    #expect(tree("dir") == HubGround.cache([HubGround.files, HubGround.later]))
    #expect(try load("library").status == 0)
    let over = try night("library")
    #expect(over.status == 0, "\(over)")
    #expect(tree("library") == HubGround.cache([HubGround.later]))
    #expect(try load("library", isOffline: true).status == 0)
  }
}
