import PrefetchCore
import Testing

@testable import PrefetchManifests

@Suite("Python") struct PythonTests {
  private static let sha256 = LockReader.sha256
  private static let other = String(repeating: "cd", count: 32)
  private static let files = "https://f.example"

  private static func rules(_ platforms: [String] = [], index: String? = nil) -> ManifestRules {
    var rules = ManifestRules()
    rules.platforms = platforms
    rules.machine = MachinePlatform(
      system: "linux",
      machine: "x86_64",
      library: .glibc(major: 2, minor: 36)
    )
    rules.pipIndex = index.flatMap { try? WebURL($0) }
    return rules
  }

  // MARK: Wheels

  @Test(
    "A wheel is selected by its name",
    arguments: [
      ("left-1.0-py3-none-any.whl", [], true),
      ("left-1.0-py2.py3-none-any.whl", [], true),
      ("left-1.0-py2-none-any.whl", [], false),
      ("left-1.0-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", [], true),
      ("left-1.0-cp312-cp312-manylinux_2_39_x86_64.whl", [], false),
      ("left-1.0-cp312-cp312-manylinux1_x86_64.whl", [], true),
      ("left-1.0-cp312-cp312-linux_x86_64.whl", [], true),
      ("left-1.0-cp312-cp312-musllinux_1_2_x86_64.whl", [], false),
      ("left-1.0-cp312-cp312-manylinux_2_17_aarch64.whl", [], false),
      ("left-1.0-cp312-cp312-win_amd64.whl", [], false),
      ("left-1.0-cp313-cp313t-manylinux_2_17_x86_64.whl", [], false),
      ("left-1.0-pp310-pypy310_pp73-manylinux_2_17_x86_64.whl", [], false),
      ("left-1.0-1-cp312-cp312-manylinux_2_17_x86_64.whl", ["cp312"], true),
      ("left-1.0-cp311-cp311-manylinux_2_17_x86_64.whl", ["cp312"], false),
      ("left-1.0-cp38-abi3-manylinux_2_17_x86_64.whl", ["cp312"], true),
      ("left-1.0-cp313-abi3-manylinux_2_17_x86_64.whl", ["cp312"], false),
      ("left-1.0-py310-none-any.whl", ["cp312"], true),
      ("left-1.0-cp311-none-any.whl", ["cp312"], false),
      ("left-1.0-cp312-cp312-musllinux_1_2_x86_64.whl", ["musllinux_1_2_x86_64"], true),
      ("left-1.0-cp312-cp312-musllinux_1_2_x86_64.whl", ["musllinux_1_1_x86_64"], false),
      ("left-1.0-cp312-cp312-macosx_11_0_arm64.whl", ["darwin-arm64"], true),
      ("left-1.0-cp312-cp312-macosx_10_9_universal2.whl", ["darwin-arm64"], true),
      ("left-1.0-cp312-cp312-win_amd64.whl", ["win_amd64", "cp312"], true),
      ("left-1.0-cp312-cp312-win32.whl", ["win_amd64"], false),
      ("left-1.0-cp312-cp312-manylinux_2_17_x86_64.whl", ["any"], false),
      ("left-1.0-py3-none-any.whl", ["any"], true),
      ("left-1.0-cp312-cp312-win32.whl", ["all"], true),
      ("left-1.0-cp312-cp312-win32.whl", ["all", "cp311"], false),
    ] as [(String, [String], Bool)]
  )
  func wheels(_ name: String, _ platforms: [String], _ fits: Bool) throws {
    let wheel = try #require(WheelName(name))
    #expect(try PlatformFilter(Self.rules(platforms)).admits(wheel) == fits)
  }

  @Test(
    "An invalid name of a wheel is refused",
    arguments: ["left-1.0.tar.gz", "left.whl", "a-b-c-d-e-f-g.whl", "left-1.0--none-any.whl"]
  )
  func noWheels(_ name: String) {
    #expect(WheelName(name) == nil)
  }

  // MARK: Markers

  @Test(
    "A marker leaves out a package only if it is certainly false",
    arguments: [
      ("sys_platform == 'linux'", true), ("sys_platform == \"win32\"", false),
      ("'linux' in sys_platform", true), ("platform_system != 'Linux'", false),
      ("os_name == 'nt' or platform_machine == 'x86_64'", true),
      ("os_name == 'nt' and platform_machine == 'x86_64'", false),
      ("python_version < '3.11'", false), ("python_version >= '3.8'", true),
      ("'3.11' > python_version", false), ("python_full_version < '3.12.4'", true),
      ("python_full_version < '3.11.4'", false), ("python_version == '3.*'", true),
      ("python_version != '3.12'", false), ("python_version ~= '3.8'", true),
      ("extra == 'x'", true), ("'x' in extras", true),
      ("sys_platform == 'win32' and extra == 'x'", false),
      ("(sys_platform == 'win32' or python_version < '3') and os_name == 'posix'", false),
      ("implementation_name == 'pypy'", false), ("nonsense", true), ("", true), ("((((", true),
      ("sys_platform == 'win32' )", true), ("sys_platform not in 'linux darwin'", false),
      (String(repeating: "(", count: 100_000), true),
    ]
  )
  func markers(_ text: String, _ mayHold: Bool) throws {
    #expect(
      try Marker.mayHold(text, on: PlatformFilter(Self.rules(["linux-x64", "cp312"]))) == mayHold
    )
  }

  @Test(
    "A requirement on Python's version is met, not met, or open",
    arguments: [
      (">=3.8", true), (">=3.8,<3.12", false), ("!=3.12.*", false), ("<4", true), (">=3.13", false),
      ("==3.12.1", nil), (">=3.12.1", nil), ("~=3.11", true), ("~=2.7", false), ("", true),
      ("> 3.12", false), ("strange", nil), ("==3.*,>=3.8", true), ("<=3.12", true),
    ] as [(String, Bool?)]
  )
  func demands(_ text: String, _ isMet: Bool?) {
    #expect(PythonVersions.satisfies(text, minor: 12) == isMet)
  }

  // MARK: pylock.toml

  @Test("Every form of a file's address in a lock is read")
  func lock() {
    let text = """
      lock-version = "1.0"
      created-by = "test"
      [[packages]]
      name = "left"
      version = "1.0"
      sdist = { name = "left-1.0.tar.gz", url = "\(Self.files)/l", hashes = { sha256 = "\(Self.other)" } }
      [[packages.wheels]]
      url = "\(Self.files)/left-1.0-py3-none-any.whl#x"
      upload-time = 2026-01-02T03:04:05Z
      size = 1_234
      hashes = { sha256 = "\(Self.sha256)", blake2b = "x" }
      [[packages.wheels]]
      url = "\(Self.files)/left-1.0-cp312-cp312-win_amd64.whl"
      hashes = { sha256 = "\(Self.sha256)" }
      [[packages]]
      name = "only-source"
      [packages.sdist]
      url = "\(Self.files)/only_source-2.0.tar.gz"
      hashes.sha256 = "\(Self.other)"
      [[packages]]
      name = "arch"
      archive = { url = "\(Self.files)/arch%2B1.zip", hashes = { sha256 = "\(Self.other)" } }
      [[packages]]
      name = "windows-only"
      marker = "sys_platform == 'win32'"
      archive = { url = "\(Self.files)/w.zip", hashes = {} }
      [[packages]]
      name = "git"
      vcs = { type = "git", url = "https://g.example/x", commit-id = "0" }
      [[packages]]
      name = "beside"
      wheels = [{ path = "beside-1-py3-none-any.whl", hashes = {} }]
      """
    #expect(
      LockReader.pythonLock.read(text, rules: Self.rules(), base: nil).lines == """
        \(Self.files)/left-1.0-py3-none-any.whl id=left-1.0-py3-none-any.whl \
        path=left-1.0-py3-none-any.whl sha256:\(Self.sha256) size=1234 immutable \
        published=2026-01-02T03:04:05.000Z
        \(Self.files)/only_source-2.0.tar.gz id=only_source-2.0.tar.gz \
        path=only_source-2.0.tar.gz sha256:\(Self.other) immutable
        \(Self.files)/arch%2B1.zip id=arch+1.zip path=arch+1.zip sha256:\(Self.other) immutable
        note 1 package is left out by markers that no wanted platform meets
        warning left out: `git` from version control or local folders
        warning left out: `beside-1-py3-none-any.whl` beside the lock file
        """
    )
  }

  @Test(
    "An unreadable lock is refused with position and reason",
    arguments: [
      ("", "manifest_invalid: the document is empty"),
      (
        "x = 1\nx = 2",
        "manifest_invalid: line 2, column 1: duplicate key `x`, first written on line 1"
      ),
      (
        "created-by = 'x'",
        "manifest_invalid: line 1, column 1: `lock-version` is missing; a pylock.toml says "
          + "`lock-version = \"1.0\"`"
      ),
      (
        "lock-version = \"2.0\"",
        "manifest_invalid: line 1, column 16: `lock-version` is 2.0; this program reads version 1"
      ),
      (
        "lock-version = \"1.0\"\npackages = 7",
        "manifest_invalid: line 2, column 12: `packages` must be a list of tables, `[[packages]]`, "
          + "not a number"
      ),
      (
        "lock-version = \"1.0\"\n[[packages]]\nversion = '1'",
        "manifest_invalid: line 2, column 3: a package is a table with a `name`"
      ),
      (
        "lock-version = \"1.0\"\n[[packages]]\nname = 'a'\nsdist = { hashes = {} }",
        "manifest_invalid: line 4, column 9: a file has a `url` or a `path`"
      ),
      (
        """
        lock-version = "1.0"
        [[packages]]
        name = 'a'
        sdist = { url = 'https://f.example/a.tar.gz', hashes = { sha256 = 'x' } }
        """,
        "manifest_invalid: line 4, column 56: `hashes` holds a digest that is none of its function"
      ),
      (
        """
        lock-version = "1.0"
        [[packages]]
        name = 'a'
        sdist = { url = 'https://f.example/a.tar.gz', hashes = {}, size = -1 }
        """,
        "manifest_invalid: line 4, column 67: `size` must be a number of bytes"
      ),
      (
        """
        lock-version = "1.0"
        [[packages]]
        name = 'a'
        [[packages.wheels]]
        url = 'https://f.example/a-1-cp312-cp312-win32.whl'
        """,
        "manifest_invalid: line 2, column 3: none of its 1 file is for a wanted platform"
      ),
    ]
  )
  func lockFaults(_ text: String, _ message: String) {
    #expect(LockReader.pythonLock.read(text, rules: Self.rules()).lines == message)
  }

  @Test(
    "All platforms include sources, one includes its wheels only, and archives are always included",
    arguments: [
      (
        ["all"],
        [
          "a-1.tar.gz", "a-1-cp312-cp312-win32.whl", "a-1-py3-none-any.whl", "b-1.zip",
          "b-1-py3-none-any.whl",
        ]
      ),
      (["linux-x64"], ["a-1-py3-none-any.whl", "b-1.zip", "b-1-py3-none-any.whl"]),
      (["all", "cp311"], ["a-1-py3-none-any.whl", "b-1.zip", "b-1-py3-none-any.whl"]),
    ] as [([String], [String])]
  )
  func sources(platforms: [String], names: [String]) throws {
    let text = """
      lock-version = "1.0"
      [[packages]]
      name = 'a'
      sdist = { url = 'https://f.example/a-1.tar.gz', hashes = {} }
      wheels = [
        { url = 'https://f.example/a-1-cp312-cp312-win32.whl', hashes = {} },
        { url = 'https://f.example/a-1-py3-none-any.whl', hashes = {} },
      ]
      [[packages]]
      name = 'b'
      archive = { url = 'https://f.example/b-1.zip', hashes = {} }
      wheels = [{ url = 'https://f.example/b-1-py3-none-any.whl', hashes = {} }]
      """
    let manifest = try LockReader.pythonLock.read(text, rules: Self.rules(platforms)).get()
    #expect(manifest.entries.map { $0.path ?? "" }.sorted() == names.sorted())
  }

  // MARK: Requirements

  @Test("Exact requirements are looked up in the index, and URLs are used as they are")
  func requirements() {
    let text = """
      # a comment
      --require-hashes
      --index-url https://i.example/simple/ # ours
      Left_Pad[a,b] == 1.0 ; python_version >= "3.8" \\
          --hash=sha256:\(Self.sha256) \\
          --hash sha256:\(Self.other)
      gone==1 --hash=sha256:\(Self.sha256) ; sys_platform == 'win32'
      windows==1; sys_platform == 'win32' --hash=sha256:\(Self.sha256)
      direct @ \(Self.files)/direct-1.0.tar.gz#egg=direct&sha256=\(Self.sha256)
      \(Self.files)/bare-1.0-py3-none-any.whl --hash=sha256:\(Self.other)
      local @ file:///x.whl
      ./other.whl
      --find-links ./wheels
      """
    #expect(
      LockReader.requirements.read(text, rules: Self.rules(), base: nil).lines == """
        \(Self.files)/direct-1.0.tar.gz id=direct-1.0.tar.gz path=direct-1.0.tar.gz \
        sha256:\(Self.sha256) immutable
        \(Self.files)/bare-1.0-py3-none-any.whl id=bare-1.0-py3-none-any.whl \
        path=bare-1.0-py3-none-any.whl sha256:\(Self.other) immutable
        part https://i.example/simple/left-pad/ left-pad==1.0 sha256:\(Self.sha256),sha256:\(Self.other)
        part https://i.example/simple/gone/ gone==1 sha256:\(Self.sha256)
        note 1 package is left out by markers that no wanted platform meets
        warning left out: `./wheels` of `--find-links`
        warning left out: `local` and `./other.whl` from version control or local files
        """
    )
  }

  @Test("The configured index precedes the file's, and PyPI is the last")
  func indexes() {
    let text = "-i https://i.example/simple\na===1.0.post1 --hash=sha256:\(Self.sha256)"
    #expect(
      LockReader.requirements.read(text, rules: Self.rules(index: "https://c.example/p")).lines
        == "part https://c.example/p/a/ a==1.0.post1 sha256:\(Self.sha256)"
    )
    #expect(
      LockReader.requirements.read("a (==1.0) --hash=sha256:\(Self.sha256)").lines
        == "part https://pypi.org/simple/a/ a==1.0 sha256:\(Self.sha256)"
    )
    #expect(
      LockReader.requirements.read("-ihttps://i.example/x=y/\na==1 --hash=sha256:\(Self.sha256)")
        .lines == "part https://i.example/x=y/a/ a==1 sha256:\(Self.sha256)"
    )
  }

  @Test(
    "A requirement that is not exact fails alone with its line",
    arguments: [
      (
        "a>=1 --hash=sha256:\(sha256)",
        "rejected a>=1: manifest_invalid: line 2, column 1: it is not pinned; write `a==` and one version"
      ),
      (
        "a==1.* --hash=sha256:\(sha256)",
        "rejected a==1.*: manifest_invalid: line 2, column 1: it is not pinned; write `a==` and one version"
      ),
      (
        "a==1,<2 --hash=sha256:\(sha256)",
        "rejected a==1,<2: manifest_invalid: line 2, column 1: it is not pinned; write `a==` and one version"
      ),
      (
        "A.b==1",
        "rejected a-b==1: manifest_invalid: line 2, column 1: it has no `--hash` to identify its files "
          + "in the index; `pip-compile --generate-hashes` writes them"
      ),
      (
        "  a==1 --hash=sha256:12",
        "rejected a==1: manifest_invalid: line 2, column 3: a `--hash` is not `sha256:` and 64 "
          + "hexadecimal digits, or the like"
      ),
      (
        "a @ https://${HOST}/a.whl",
        "rejected a: manifest_invalid: line 2, column 1: `${…}` in it is not replaced; write what is meant"
      ),
      (
        "a @ https://x.example/a.whl#sha256=12",
        "rejected a: manifest_invalid: line 2, column 1: the digest after `#` in its URL is malformed"
      ),
      (
        "a[b==1",
        "rejected a[b==1: manifest_invalid: line 2, column 1: the list of extras is not closed"
      ),
      ("é==1", "rejected é==1: manifest_invalid: line 2, column 1: `é` is not a name of a project"),
    ]
  )
  func inexact(_ line: String, _ rejected: String) {
    let text = "good==1 --hash=sha256:\(Self.sha256)\n\(line)"
    #expect(
      LockReader.requirements.read(text).lines
        == "part https://pypi.org/simple/good/ good==1 sha256:\(Self.sha256)\n\(rejected)"
    )
  }

  @Test(
    "A requirements file that needs others is refused",
    arguments: [
      (
        "a==1\n-r base.txt",
        "manifest_invalid: line 2, column 1: `-r base.txt` names another file; put all requirements "
          + "into one, or make a segment of each file"
      ),
      (
        "--index-url https://${X}@i.example/",
        "manifest_invalid: line 1, column 1: `${…}` in it is not replaced; set `pip.index`"
      ),
      (
        "--index-url=https://u:p@i.example/",
        "manifest_invalid: line 1, column 1: the address of the index holds user-info; put "
          + "credentials into `headers`"
      ),
    ]
  )
  func refused(_ text: String, _ message: String) {
    #expect(LockReader.requirements.read(text).lines == message)
  }

  // MARK: The index

  private static let requirement = FurtherDocument.Role.packageIndex(
    PackageRequirement(
      project: "left-pad",
      version: "1.0",
      digests: [ExpectedDigest(algorithm: .sha256, bytes: [UInt8](repeating: 0xAB, count: 32))]
    )
  )

  private static func page(_ files: String, version: String = "1.1") -> String {
    "{\"meta\": {\"api-version\": \"\(version)\"}, \"name\": \"left-pad\", \"files\": [\(files)]}"
  }

  private static func file(_ name: String, _ digest: String = sha256) -> String {
    """
    {"filename": "\(name)", "url": "../../f/\(name)", "hashes": {"sha256": "\(digest)"},
     "size": 5, "upload-time": "2026-01-02T03:04:05.678Z", "yanked": "bad", "core-metadata": true}
    """
  }

  @Test("The files of an index are selected by requirement and platform")
  func json() {
    let page = Self.page(
      [
        Self.file("left_pad-1.0-py3-none-any.whl"), Self.file("left_pad-1.0.tar.gz"),
        Self.file("left_pad-1.0-cp312-cp312-win32.whl"),
        Self.file("left_pad-1.1-py3-none-any.whl", Self.other),
        Self.file("other-1.0-py3-none-any.whl"),
      ].joined(separator: ",")
    )
    #expect(
      LockReader.packageIndex.read(
        page,
        rules: Self.rules(),
        base: "https://i.example/simple/left-pad/",
        documentRole: Self.requirement
      ).lines == """
        https://i.example/f/left_pad-1.0-py3-none-any.whl id=left_pad-1.0-py3-none-any.whl \
        path=left_pad-1.0-py3-none-any.whl sha256:\(Self.sha256) size=5 immutable \
        published=2026-01-02T03:04:05.678Z
        """
    )
  }

  @Test("HTML is read where an index has no JSON")
  func html() {
    let page = """
      <!DOCTYPE html>
      <html><head><META name='pypi:repository-version' content="1.3"><base href="/b/"></head><body>
      <!-- <a href="no">no</a> --><script>if (a<b) "<a href=x>"</script>
      <a href="left_pad-1.0.tar.gz?a=1&amp;b=2#sha256=\(Self.sha256)" data-requires-python="&gt;=3.8">
      left_pad-1.0.tar.gz</a><br/>
      <A HREF=https://f.example/left_pad-1.1.tar.gz#sha256=\(Self.other)>left_pad-1.1.tar.gz</A>
      <a data-yanked>nothing</a><a href="javascript:x">x</a></body></html>
      """
    #expect(
      LockReader.packageIndex.read(
        page,
        rules: Self.rules(),
        base: "https://i.example/simple/left-pad/",
        documentRole: Self.requirement
      ).lines == """
        https://i.example/b/left_pad-1.0.tar.gz?a=1&b=2 id=left_pad-1.0.tar.gz \
        path=left_pad-1.0.tar.gz sha256:\(Self.sha256) immutable
        rejected javascript:x: bad_url: the index names it, but it is not a URL to fetch
        """
    )
  }

  @Test(
    "An index without the right file, or in another format, is refused",
    arguments: [
      (
        page(file("left_pad-1.0.tar.gz", other)),
        "rejected left-pad==1.0: not_found: none of the 1 file of `left-pad` in the index has a "
          + "declared digest"
      ),
      (
        page(file("left_pad-1.0-cp312-cp312-win32.whl")),
        "rejected left-pad==1.0: not_found: none of the 1 files in the index with a declared digest "
          + "is for a wanted platform"
      ),
      (
        page(file("x/../../y.tar.gz")),
        "rejected https://cdn.example/y.tar.gz: unsafe_name: the name `x/../../y.tar.gz` would leave the folder"
      ),
      (
        page("", version: "2.0"),
        "manifest_invalid: line 1, column 26: the index speaks version 2.0 of its format; this program "
          + "reads version 1"
      ),
      (
        "{\"files\": []}",
        "manifest_invalid: line 1, column 1: `meta.api-version` is missing; an index says `1.0` or "
          + "later there"
      ),
      (
        "<html>Please log in</html>",
        "rejected left-pad==1.0: not_found: none of the 0 files of `left-pad` in the index has a "
          + "declared digest"
      ),
    ] as [(String, String)]
  )
  func indexFaults(_ page: String, _ message: String) {
    #expect(
      LockReader.packageIndex.read(page, rules: Self.rules(), documentRole: Self.requirement).lines
        == message
    )
  }
}
