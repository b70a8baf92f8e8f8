import PrefetchCore
import Testing

@testable import PrefetchManifests

@Suite("package-lock") struct PackageLockTests {
  private static let registry = "https://registry.npmjs.org"
  private static let sha256 = LockReader.sha256
  private static let base64 = LockReader.base64

  private static func packages(_ text: String, version: Int = 3) -> String {
    "{\"lockfileVersion\": \(version), \"packages\": {\"\": {\"name\": \"demo\"}, \(text)}}"
  }

  private static func package(_ name: String, _ members: String = "") -> String {
    let file = name.split(separator: "/").last ?? ""
    return """
      "node_modules/\(name)": {"version": "1.0.0",
      "resolved": "\(registry)/\(name)/-/\(file)-1.0.0.tgz"\(members.isEmpty ? "" : ", \(members)")}
      """
  }

  private static func names(_ result: Result<Manifest, Failure>) throws -> String {
    try result.get().entries.compactMap { $0.id?.split(separator: "@").first }
      .joined(separator: " ")
  }

  @Test("Packages of a package-lock become files of their registry", arguments: [2, 3])
  func ofRegistry(_ version: Int) {
    let text = Self.packages(
      Self.package("left", "\"integrity\": \"sha256-\(Self.base64)\"") + ", "
        + Self.package("@s/right") + ", "
        + "\"node_modules/a/node_modules/left\": {\"version\": \"1.0.0\", \"resolved\": "
        + "\"\(Self.registry)/left/-/left-1.0.0.tgz\"}",
      version: version
    )
    #expect(
      LockReader.packageLock.read(text, base: nil).lines == """
        \(Self.registry)/left/-/left-1.0.0.tgz id=left@1.0.0 path=left-1.0.0.tgz \
        sha256:\(Self.sha256) immutable
        \(Self.registry)/@s/right/-/right-1.0.0.tgz id=@s/right@1.0.0 path=s-right-1.0.0.tgz immutable
        """
    )
  }

  @Test("Version 1 of a package-lock is a tree of dependencies")
  func tree() {
    let text = """
      {"lockfileVersion": 1, "dependencies": {
        "a": {"version": "1.0.0", "resolved": "\(Self.registry)/a/-/a-1.0.0.tgz", "dependencies": {
          "b": {"version": "2.0.0", "resolved": "\(Self.registry)/b/-/b-2.0.0.tgz"}}},
        "c": {"version": "https://x.example/c.tgz"},
        "d": {"version": "3.0.0", "bundled": true},
        "e": {"version": "git+ssh://git@x.example/e.git#0123"},
        "f": {"version": "file:../f"}
      }}
      """
    #expect(
      LockReader.packageLock.read(text, base: nil).lines == """
        \(Self.registry)/a/-/a-1.0.0.tgz id=a@1.0.0 path=a-1.0.0.tgz immutable
        \(Self.registry)/b/-/b-2.0.0.tgz id=b@2.0.0 path=b-2.0.0.tgz immutable
        https://x.example/c.tgz path=c.tgz immutable
        note left out: `d` without a file of its own
        warning left out: `e` and `f` from git or local files
        """
    )
  }

  @Test("Packages without a file are counted")
  func leftOut() {
    let text = Self.packages(
      Self.package("left") + """
        ,
        "packages/w": {"version": "0.1.0"},
        "node_modules/w": {"resolved": "packages/w", "link": true},
        "node_modules/b": {"version": "1.0.0", "inBundle": true},
        "node_modules/n": {"version": "1.0.0"},
        "node_modules/g": {"version": "1.0.0", "resolved": "git+ssh://git@x.example/g.git#01"}
        """
    )
    #expect(
      LockReader.packageLock.read(text, base: nil).lines == """
        https://registry.npmjs.org/left/-/left-1.0.0.tgz id=left@1.0.0 path=left-1.0.0.tgz immutable
        note left out: `w` and `b` without a file of its own
        warning left out: `n` without `resolved`
        warning left out: `g` from git or local files
        """
    )
  }

  @Test("Another registry replaces npm's own only")
  func otherRegistry() throws {
    var rules = ManifestRules()
    rules.npmRegistry = try WebURL("https://npm.corp.example/mirror/")
    let text = Self.packages(
      Self.package("left")
        + ", \"node_modules/x\": {\"version\": \"1.0.0\", \"resolved\": \"https://x.example/x.tgz\"}"
    )
    let urls = try LockReader.packageLock.read(text, rules: rules).get().entries.map(\.url.string)
    #expect(
      urls == [
        "https://npm.corp.example/mirror/left/-/left-1.0.0.tgz", "https://x.example/x.tgz",
      ]
    )
  }

  @Test(
    "Omitted packages are those that npm omits",
    arguments: [
      ([], "d do o p x n"), (["dev"], "do o p n"), (["optional"], "d do p n"),
      (["dev", "optional"], "p n"), (["peer"], "d do o x n"), (["DEV", "peer"], "do o n"),
    ] as [([String], String)]
  )
  func omitted(_ omitted: [String], _ names: String) throws {
    var rules = ManifestRules()
    rules.omitted = omitted
    let text = Self.packages(
      [
        Self.package("d", "\"dev\": true"), Self.package("do", "\"devOptional\": true"),
        Self.package("o", "\"optional\": true"), Self.package("p", "\"peer\": true"),
        Self.package("x", "\"dev\": true, \"optional\": true"),
        Self.package("n", "\"dev\": false"),
      ].joined(separator: ", ")
    )
    #expect(try Self.names(LockReader.packageLock.read(text, rules: rules)) == names)
  }

  @Test(
    "Packages for other platforms are left out",
    arguments: [
      ([], "l lm lg nw any"), (["linux-x64"], "l lm lg nw any"),
      (["linux-x64-musl"], "l lm nw any"), (["darwin-arm64"], "nw a any"), (["win32-x64"], "w any"),
      (["any"], "any"), (["all"], "l lm lg w nw a any"),
      (["manylinux_2_28_x86_64", "win_amd64"], "l lg w nw any"),
    ] as [([String], String)]
  )
  func platforms(_ platforms: [String], _ names: String) throws {
    var rules = ManifestRules()
    rules.platforms = platforms
    rules.machine = MachinePlatform(system: "linux", machine: "x86_64")
    let text = Self.packages(
      [
        Self.package("l", "\"os\": [\"linux\"], \"cpu\": [\"x64\"]"),
        Self.package("lm", "\"os\": [\"linux\"], \"libc\": [\"musl\"]"),
        Self.package("lg", "\"os\": [\"linux\"], \"libc\": \"glibc\""),
        Self.package("w", "\"os\": [\"win32\"], \"cpu\": [\"x64\"]"),
        Self.package("nw", "\"os\": [\"!win32\"]"),
        Self.package("a", "\"cpu\": [\"arm64\"]"),
        Self.package("any"),
      ].joined(separator: ", ")
    )
    #expect(try Self.names(LockReader.packageLock.read(text, rules: rules)) == names)
  }

  @Test(
    "An unreadable package-lock is refused with position and reason",
    arguments: [
      (
        #"{"packages": {}}"#,
        "manifest_invalid: line 1, column 1: `lockfileVersion` is missing; a package-lock has 1, 2 or 3 there"
      ),
      (
        "{\n\"lockfileVersion\": 4}",
        "manifest_invalid: line 2, column 20: `lockfileVersion` is 4; 1, 2 and 3 are read"
      ),
      (
        #"{"lockfileVersion": 3}"#,
        "manifest_invalid: line 1, column 1: `packages` must be a mapping of folders to packages"
      ),
      (
        #"{"lockfileVersion": 3, "packages": {"node_modules/a": 7}}"#,
        "manifest_invalid: line 1, column 55: `node_modules/a` must be a mapping, not a number"
      ),
      (
        #"{"lockfileVersion": 1, "dependencies": []}"#,
        "manifest_invalid: line 1, column 40: `dependencies` must be a mapping of names to packages"
      ),
      (
        packages(package("a", "\"integrity\": \"sha512-x\"")),
        "manifest_invalid: line 2, column 72: `integrity` holds `sha512-x`, which is not an algorithm, dash and base64 digest"
      ),
    ]
  )
  func faults(_ text: String, _ message: String) {
    #expect(LockReader.packageLock.read(text).lines == message)
  }

  @Test(
    "A bundled package has no file of its own, with quotes or without",
    arguments: ["true", "\"true\""]
  )
  func bundled(flag: String) {
    let text =
      #"{"lockfileVersion": 1, "dependencies": {"a": {"version": "1", "#
      + #""resolved": "https://r.example/a.tgz", "bundled": \#(flag)}}}"#
    #expect(
      LockReader.packageLock.read(text).lines
        == "note left out: `a` without a file of its own"
    )
  }

  @Test("An unknown platform is named")
  func unknownPlatform() {
    var rules = ManifestRules()
    rules.platforms = ["amiga"]
    #expect(
      LockReader.packageLock.read(Self.packages(Self.package("a")), rules: rules).lines
        == "manifest_invalid: `platform` names `amiga`, which is none that is known; write "
        + "`linux-x64`, `manylinux_2_17_x86_64`, `cp312`, `any` or `all`"
    )
  }
}
