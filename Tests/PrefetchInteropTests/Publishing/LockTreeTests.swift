import Testing

/// Builds and installs from a warmed lock file, with the network cut.
@Suite(
  "The tree of a lock file",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Nginx.isInstalled, "needs nginx"),
  .enabled(if: Tool.isInstalled("python3"), "needs python3"),
  .enabled(if: ToolTreeTests.isCutOffPossible, "needs leave to make namespaces")
)
struct LockTreeTests {
  private let home: Home
  private let nginx: Nginx

  init() throws {
    home = try Home()
    nginx = try Nginx()
  }

  /// Runs a script that creates the origin's files; `ORIGIN` is its address.
  private func make(_ script: String) throws {
    home.write(script, to: "make.py")
    let run = try home.shell(
      "cd '\(nginx.files)' && ORIGIN='\(nginx.url(""))' python3 '\(home.path("make.py"))'"
    )
    try #require(run.status == 0, "\(run)")
  }

  private func fetch(_ names: String...) {
    for name in names { home.write(FileTree.read("\(nginx.files)/\(name)") ?? [], to: name) }
  }

  private func configure(_ layout: String, _ keys: String, isAtomic: Bool = false) {
    home.configure(
      """
      segments:
        - name: packages
          \(keys)
          publish: { dir: "tree of ours", layout: \(layout), atomic: \(isAtomic) }
      cache: { min_free: 0 }
      """
    )
  }

  /// Runs a script with the variables that `env` prints; nothing else points at the tree.
  private func cutOff(_ script: String) throws -> ProgramRun {
    try home.shell(
      """
      set -e; set -a; eval "$($prefetch env)"; set +a
      \(script)
      """,
      within: 300
    )
  }

  // MARK: Cargo

  private var cargoKeys: String {
    """
    manifest: Cargo.lock
        cargo: { download: "\(nginx.url("crates"))", index: "\(nginx.url("index"))" }
    """
  }

  @Test(
    "cargo builds from the tree of a lock file, with the features from the index",
    .enabled(if: Tool.isInstalled("cargo"), "needs cargo"),
    arguments: [false, true]
  )
  func cargo(isAtomic: Bool) throws {
    try make(LockOrigin.crates)
    fetch("Cargo.lock")
    configure("cargo", cargoKeys, isAtomic: isAtomic)
    let run = try home.run("--json")
    try #require(run.status == 0, "\(run)")
    #expect(try run.json().number("totals.fetched") == 4)
    let built = try cutOff(
      """
      cp -r '\(nginx.files)/app/.' . ; unshare -n cargo build --offline --locked >&2; target/debug/app
      """
    )
    #expect(built.status == 0, "\(built)")
    #expect(built.output == "42\n")
    // Files that Cargo added cause no trouble and no requests.
    let again = try home.run("--json")
    #expect(again.status == 0, "\(again)")
    #expect(try again.json().number("totals.requests") == 0)
    let elsewhere = try home.shell(
      """
      set -e; rm -rf target
      unshare -n cargo --config 'tree of ours/.cargo/config.toml' build --offline >&2
      target/debug/app
      """,
      within: 300
    )
    #expect(elsewhere.status == 0, "\(elsewhere)")
    #expect(elsewhere.output == "42\n")
    home.write(FileTree.read("\(nginx.files)/later.lock") ?? [], to: "Cargo.lock")
    let later = try home.run("--json")
    #expect(later.status == 0, "\(later)")
    let rebuilt = try cutOff("unshare -n cargo build --offline --locked >&2; target/debug/app")
    #expect(rebuilt.status == 0, "\(rebuilt)")
    #expect(rebuilt.errors.contains("Compiling left v1.0.3"), "\(rebuilt)")
  }

  @Test(
    "cargo builds from the tree after its folder was renamed, and when it is read-only",
    .enabled(if: Tool.isInstalled("cargo"), "needs cargo"),
    arguments: [false, true]
  )
  func movedCargo(isAtomic: Bool) throws {
    try make(LockOrigin.crates)
    fetch("Cargo.lock")
    home.configure(
      """
      name: crates
      segments:
        - name: packages
          \(cargoKeys)
          publish: { dir: "tree of ours", layout: cargo, atomic: \(isAtomic) }
      cache: { min_free: 0, dir: .cache/prefetch }
      state: { dir: .cache/state }
      """
    )
    let run = try home.run()
    try #require(run.status == 0, "\(run)")
    nginx.remove("index")
    nginx.remove("crates")
    let moved = try home.shell(
      """
      set -e; mv "$PWD" "$PWD.moved"; cd "$PWD.moved"
      cp -r '\(nginx.files)/app' .; cp Cargo.lock app
      env=$($prefetch env --strict); echo "$env" >&2
      (set -a; eval "$env"; cd app; unshare -n cargo build --offline --locked >&2)
      app/target/debug/app; rm -r app/target
      unshare -mn bash -ec '
        mount --bind "tree of ours" "tree of ours"
        mount -o remount,ro,bind "tree of ours"
        "$prefetch" env --strict
        cd app
        CARGO_HOME=$HOME/cargo cargo --config "../tree of ours/.cargo/config.toml" build \
          --offline --locked >&2'
      app/target/debug/app
      """,
      within: 300
    )
    #expect(moved.status == 0, "\(moved)")
    #expect(moved.errors.contains("CARGO_HOME='\(home.work).moved/tree of ours/.cargo'"))
    #expect(moved.output == "42\n42\n")
    #expect(
      moved.errors.contains(
        "`cargo --config '\(home.work).moved/tree of ours/.cargo/config.toml'` builds from it"
      )
    )
  }

  @Test("A changed version of a crate costs one request to the index and one for the crate")
  func otherVersion() throws {
    try make(LockOrigin.crates)
    fetch("Cargo.lock")
    configure("cargo", cargoKeys)
    try #require(try home.run().status == 0)
    let first = try #require(home.read("tree of ours/index/le/ft/left"))
    #expect(first.split(separator: "\n").count == 2)
    nginx.write(first + "{}\n", to: "index/le/ft/left")
    #expect(try home.run("--json").json().number("totals.requests") == 0)
    home.write(FileTree.read("\(nginx.files)/later.lock") ?? [], to: "Cargo.lock")
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.json().number("totals.requests") == 2)
    #expect(home.read("tree of ours/index/le/ft/left") == first + "{}\n")
    #expect(home.read("tree of ours/left-1.0.2.crate") == nil)
    #expect(home.read("tree of ours/left-1.0.3.crate") != nil)
  }

  @Test("A tree with a missing crate gets no variables")
  func incomplete() throws {
    try make(LockOrigin.crates)
    fetch("Cargo.lock")
    nginx.remove("index/ri/gh/right")
    configure("cargo", cargoKeys)
    #expect(try home.run().status == 3)
    let variables = try home.run("env")
    #expect(variables.output.isEmpty)
    #expect(variables.errors.contains("`packages` gets no variable: 1 item failed in the last run"))
  }

  // MARK: Yarn

  @Test(
    "yarn installs from the tree of its lock file, by SHA-512 or only by SHA-1",
    .enabled(if: Tool.isInstalled("yarnpkg"), "needs yarnpkg")
  )
  func yarn() throws {
    try make(LockOrigin.packages)
    fetch("yarn.lock", "package.json")
    configure("yarn", "manifest: yarn.lock\n    npm: { registry: \"\(nginx.url(""))\" }")
    let run = try home.run()
    try #require(run.status == 0, "\(run)")
    #expect(
      try home.run("env").output == "YARN_YARN_OFFLINE_MIRROR='\(home.path("tree of ours"))'\n"
    )
    // Debian's node finds Debian's modules by itself; other builds must be told their path.
    let installed = try cutOff(
      """
      NODE_PATH=/usr/share/nodejs unshare -n \
        yarnpkg install --offline --frozen-lockfile --non-interactive >&2
      node -e 'console.log(require("left") + require("@s/right"))'
      """
    )
    #expect(installed.status == 0, "\(installed)")
    #expect(installed.output == "42\n")
    #expect(FileTree.read(home.path("yarn.lock")) == FileTree.read("\(nginx.files)/yarn.lock"))
  }

  @Test("A package with another SHA-1 than its yarn.lock says is refused")
  func otherSum() throws {
    try make(LockOrigin.packages)
    fetch("yarn.lock")
    nginx.write("other", to: "left/-/left-1.0.2.tgz")
    configure("yarn", "manifest: yarn.lock\n    npm: { registry: \"\(nginx.url(""))\" }")
    let run = try home.run("--json")
    #expect(run.status == 5, "\(run)")
    #expect(run.output.contains("digest_mismatch"))
    #expect(home.read("tree of ours/left-1.0.2.tgz") == nil)
  }

  // MARK: pnpm, uv and Bazel

  @Test("The tree of a pnpm lock file has the files of its registry")
  func pnpm() throws {
    try make(LockOrigin.packages)
    fetch("pnpm-lock.yaml")
    configure("url", "manifest: pnpm-lock.yaml\n    npm: { registry: \"\(nginx.url(""))\" }")
    let run = try home.run()
    try #require(run.status == 0, "\(run)")
    for name in ["left-1.0.2.tgz", "s-right-1.0.2.tgz"] {
      #expect(FileTree.read(home.path("tree of ours/\(name)"))?.isEmpty == false, "\(name)")
    }
  }

  @Test(
    "pip installs from the tree of a uv.lock",
    .enabled(if: Tool.isInstalled("pip3"), "needs pip")
  )
  func uv() throws {
    try make(LockOrigin.wheel)
    fetch("uv.lock")
    configure("pip", "manifest: uv.lock")
    let run = try home.run()
    try #require(run.status == 0, "\(run)")
    let installed = try cutOff(
      """
      unshare -n pip3 install --quiet --target out left==1.0 >&2
      PYTHONPATH=out python3 -c 'import left; print(left.x)'
      """
    )
    #expect(installed.status == 0, "\(installed)")
    #expect(installed.output == "42\n")
  }

  @Test(
    "uv installs from the tree of a uv.lock by its export, and not by `uv sync --frozen`",
    .enabled(if: Tool.isInstalled("uv"), "needs uv")
  )
  func uvItself() throws {
    try make(LockOrigin.wheel)
    fetch("uv.lock", "pyproject.toml")
    configure("pip", "manifest: uv.lock")
    let run = try home.run()
    try #require(run.status == 0, "\(run)")
    let installed = try cutOff(
      """
      export UV_PYTHON_DOWNLOADS=never
      unshare -n uv export -q --frozen --offline --no-emit-project --format requirements-txt \
        -o requirements.txt
      unshare -n uv venv -q --offline >&2
      unshare -n uv pip sync -q --require-hashes --no-index --find-links 'tree of ours' --offline \
        requirements.txt >&2
      .venv/bin/python -c 'import left; print(left.x)'
      rm -r .venv; export UV_CACHE_DIR=$PWD/other
      ! unshare -n uv sync --frozen --no-index --find-links 'tree of ours' --offline >&2
      """
    )
    #expect(installed.status == 0, "\(installed)")
    #expect(installed.output == "42\n")
    #expect(
      installed.errors.contains("left-1.0-py3-none-any.whl"),
      "it asks the address in the lock"
    )
  }

  @Test(
    "uv installs requirements from the tree with the variables of `env`, and only with these",
    .enabled(if: Tool.isInstalled("uv"), "needs uv")
  )
  func uvRequirements() throws {
    try make(LockOrigin.wheel)
    let digest = Digest.hexadecimal(FileTree.read("\(nginx.files)/left-1.0-py3-none-any.whl") ?? [])
    for folder in ["simple", "simple/left"] { FileTree.makeFolder("\(nginx.files)/\(folder)") }
    home.write("left==1.0 --hash=sha256:\(digest)\n", to: "requirements.txt")
    nginx.write(
      "<!DOCTYPE html><a href='/left-1.0-py3-none-any.whl#sha256=\(digest)'>left-1.0-py3-none-any.whl</a>",
      to: "simple/left/index.html"
    )
    configure("pip", "manifest: requirements.txt\n    pip: { index: \"\(nginx.url("simple"))\" }")
    let run = try home.run()
    try #require(run.status == 0, "\(run)")
    let installed = try home.shell(
      """
      set -e; eval "$($prefetch env --strict --shell sh)"
      unshare -n uv pip install -q --target out --require-hashes -r requirements.txt >&2
      PYTHONPATH=out python3 -c 'import left; print(left.x)'
      """
    )
    #expect(installed.status == 0, "\(installed)")
    #expect(installed.output == "42\n")
  }

  @Test("The tree of a Bazel lock file has registry files and archives by their digests")
  func bazel() throws {
    try make(LockOrigin.registry)
    fetch("MODULE.bazel.lock")
    configure("bazel", "manifest: MODULE.bazel.lock")
    let run = try home.run("--json")
    try #require(run.status == 0, "\(run)")
    let folder = "tree of ours/content_addressable/sha256"
    for text in ["module(name = \"left\")", "archive", "patch"] {
      #expect(home.read("\(folder)/\(Digest.hexadecimal(text))/file") == text)
    }
    nginx.write("{}", to: "modules/left/1.0/source.json")
    let changed = try home.run("--json")
    #expect(changed.status == 5, "\(changed)")
    #expect(changed.output.contains("digest_mismatch"))
    #expect(home.read("\(folder)/\(Digest.hexadecimal("archive"))/file") == "archive")
  }

  @Test("`manifest check` names the kind of a lock file and the packages without a file")
  func check() throws {
    try make(LockOrigin.packages)
    fetch("yarn.lock")
    let lock = try #require(home.read("yarn.lock"))
    home.write(lock + "\n\"x@link:x\":\n  version \"0.0.0\"\n", to: "yarn.lock")
    let run = try home.run("-v", "manifest", "check", "yarn.lock")
    #expect(run.status == 0, "\(run)")
    #expect(run.output.contains("format:    a yarn.lock (`format: yarn-lock`)"))
    #expect(run.errors.contains("left out: `x` without `resolved`"))
    #expect(run.errors.contains("1 package has a SHA-1 only"))
  }
}
