import PrefetchCore
import Testing

@testable import PrefetchManifests

@Suite("pnpm-lock.yaml") struct PnpmLockTests {
  private static let registry = "https://registry.npmjs.org"
  private static let base64 = LockReader.base64

  /// Packages by their keys, each with further lines.
  private static func lock(_ version: String, _ packages: [(key: String, more: String)]) -> String {
    let entries = packages.map { package in
      let more = package.more.split(separator: "\n").map { "    \($0)\n" }.joined()
      return "  \(package.key):\n\(more)"
    }
    return "lockfileVersion: \(version)\n\npackages:\n\(entries.joined())"
  }

  private static let resolution = "resolution: {integrity: sha256-\(base64)}"

  @Test(
    "The key of a package determines its place in the registry",
    arguments: [
      ("5.4", "/left/1.0.2", "/@s/left/1.0.2_peer@2.0.0+other@1.0.0"),
      ("'6.0'", "/left@1.0.2", "/@s/left@1.0.2(peer@2.0.0)(@o/other@1.0.0)"),
      ("'9.0'", "left@1.0.2", "'@s/left@1.0.2'"),
    ]
  )
  func keys(_ version: String, _ key: String, _ scoped: String) {
    let text = Self.lock(version, [(key, Self.resolution), (scoped, Self.resolution)])
    let sum = "sha256:\(LockReader.sha256)"
    #expect(
      LockReader.pnpmLock.read(text).lines == """
        \(Self.registry)/left/-/left-1.0.2.tgz id=left@1.0.2 path=left-1.0.2.tgz \(sum) immutable
        \(Self.registry)/@s/left/-/left-1.0.2.tgz id=@s/left@1.0.2 path=s-left-1.0.2.tgz \
        \(sum) immutable
        """
    )
  }

  @Test("Packages from other places have their URL, or are counted")
  func addresses() throws {
    var rules = ManifestRules()
    rules.npmRegistry = try WebURL("https://corp.example/npm")
    let text = Self.lock(
      "5.3",
      [
        ("/a/1.0.0", "resolution: {integrity: sha256-\(Self.base64), tarball: a/-/a-1.0.0.tgz}"),
        ("'@c.example/b/0123'", "resolution: {tarball: 'https://c.example/b/0123'}\nname: b"),
        ("c.example/c/1.0.0", "resolution: {integrity: sha256-\(Self.base64)}"),
        ("g.example/d/0123", "resolution: {commit: x, repo: y, type: git}"),
        ("file:e", "resolution: {directory: e, type: directory}"),
        ("file:f.tgz", "resolution: {tarball: 'file:f.tgz'}"),
      ]
    )
    #expect(
      LockReader.pnpmLock.read(text, rules: rules).lines == """
        https://corp.example/npm/a/-/a-1.0.0.tgz id=a@1.0.0 path=a-1.0.0.tgz \
        sha256:\(LockReader.sha256) immutable
        https://c.example/b/0123 id=b@0123 path=0123 immutable
        warning left out: `c.example/c/1.0.0` without a URL
        warning left out: `g.example/d/0123`, `file:e` and `file:f.tgz` from git or local files
        """
    )
  }

  @Test("Packages for other machines, for development or optional are omitted as npm's are")
  func choice() throws {
    var rules = ManifestRules()
    rules.omitted = ["dev", "optional"]
    rules.platforms = ["linux-x64"]
    let text =
      Self.lock(
        "'9.0'",
        [
          ("a@1.0.0", Self.resolution), ("b@1.0.0", "\(Self.resolution)\nos: [darwin]"),
          ("c@1.0.0", Self.resolution), ("d@1.0.0", "\(Self.resolution)\ncpu: [x64]\ndev: true"),
          ("e@1.0.0", "\(Self.resolution)\nlibc: [musl]\nos: [linux]\ncpu: [arm64]"),
          ("f@1.0.0", Self.resolution),
        ]
      )
        + """
        snapshots:
          c@1.0.0(x@1.0.0):
            optional: true
          c@1.0.0(x@2.0.0):
            optional: true
          f@1.0.0(x@1.0.0):
            optional: true
          f@1.0.0(x@2.0.0): {}
        """
    let manifest = try LockReader.pnpmLock.read(text, rules: rules).get()
    #expect(manifest.entries.compactMap(\.id) == ["a@1.0.0", "f@1.0.0"])
    #expect(manifest.warnings.map(\.message).joined().contains("`omit: [dev]` leaves nothing"))
  }

  @Test("A pnpm-lock without packages is empty", arguments: ["", "packages: {}", "packages:\n"])
  func empty(_ packages: String) throws {
    let manifest = try LockReader.pnpmLock.read("lockfileVersion: '9.0'\n\(packages)").get()
    #expect(manifest.entries.isEmpty)
  }

  @Test(
    "An unusable pnpm-lock is refused with a reason",
    arguments: [
      ("packages: {}", "`lockfileVersion` is missing; a pnpm-lock.yaml has 5 to 9 there"),
      ("lockfileVersion: '10.0'", "column 18: `lockfileVersion` is 10.0; versions 5 to 9 are read"),
      ("lockfileVersion: [5]", "`lockfileVersion` is missing"),
      ("lockfileVersion: 9\npackages: x", "`packages` must be a mapping of names to packages"),
      ("lockfileVersion: 9\npackages: {a@1: x}", "`a@1` must be a mapping, not text"),
      ("lockfileVersion: 9\npackages: {a@1: {}}", "`a@1` has no `resolution`"),
      ("lockfileVersion: 9\npackages: {a: 1, a: 2}", "duplicate key `a`"),
      ("lockfileVersion: 9\npackages: {", "line 2"),
      (
        "lockfileVersion: 9\npackages: {a@1: {resolution: {integrity: sha512-AA}}}",
        "`integrity` holds `sha512-AA`"
      ),
      (
        "lockfileVersion: 9\npackages: {'../../a@1': {resolution: {integrity: sha512-AA}}}",
        "it has 1 package without a URL"
      ),
      (
        "lockfileVersion: 9\npackages: {'@../a@1': {resolution: {integrity: sha512-AA}}}",
        "it has 1 package without a URL"
      ),
    ]
  )
  func faults(_ text: String, _ message: String) {
    #expect(LockReader.pnpmLock.read(text).lines.contains(message))
  }
}
