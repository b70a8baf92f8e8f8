import PrefetchCore
import Testing

@testable import PrefetchManifests

@Suite("uv.lock") struct UVLockTests {
  private static let sha256 = LockReader.sha256
  private static let files = "https://f.example"

  private static func rules(_ platforms: String...) -> ManifestRules {
    var rules = ManifestRules()
    rules.platforms = platforms
    return rules
  }

  private static func package(_ name: String, source: String, _ more: String = "") -> String {
    "\n[[package]]\nname = \"\(name)\"\nversion = \"1.0\"\nsource = { \(source) }\n\(more)\n"
  }

  private static func file(_ name: String) -> String {
    "{ url = \"\(files)/\(name)\", hash = \"sha256:\(sha256)\", size = 5 }"
  }

  private static let index = "registry = \"https://pypi.org/simple\""

  @Test("The fitting files of each package are taken from the lock's URLs")
  func packages() {
    let text =
      "version = 1\nrevision = 3\nrequires-python = \">=3.12\"\n"
      + Self.package("mine", source: "editable = \".\"")
      + Self.package(
        "left",
        source: Self.index,
        "sdist = \(Self.file("left-1.0.tar.gz"))\nwheels = [\n"
          + "  \(Self.file("left-1.0-cp312-cp312-manylinux_2_17_x86_64.whl")),\n"
          + "  \(Self.file("left-1.0-cp312-cp312-win_amd64.whl")),\n]"
      )
      + Self.package(
        "right",
        source: "url = \"\(Self.files)/right%2B1.zip\"",
        "sdist = { hash = \"sha256:\(Self.sha256)\" }"
      ) + Self.package("forked", source: "git = \"https://g.example/x?rev=1#0123\"")
      + Self.package("near", source: "directory = \"../near\"")
      + Self.package("flat", source: "registry = \"../flat\"", "wheels = [{ path = \"x.whl\" }]")
    #expect(
      LockReader.uvLock.read(text, rules: Self.rules("linux-x64", "cp312")).lines == """
        \(Self.files)/left-1.0-cp312-cp312-manylinux_2_17_x86_64.whl \
        id=left-1.0-cp312-cp312-manylinux_2_17_x86_64.whl \
        path=left-1.0-cp312-cp312-manylinux_2_17_x86_64.whl sha256:\(Self.sha256) size=5 immutable
        \(Self.files)/right%2B1.zip id=right+1.zip path=right+1.zip sha256:\(Self.sha256) immutable
        warning left out: `forked` and `near` from version control or local folders
        warning left out: `x.whl` beside the lock file
        """
    )
  }

  @Test("A package for other versions of Python or other systems is left out")
  func markers() throws {
    let wheel = "wheels = [\(Self.file("NAME-1.0-py3-none-any.whl"))]"
    let markers = ["sys_platform == 'win32'", "python_full_version < '3.10'"]
    let text =
      "version = 1\n"
      + ["a", "b", "c"].enumerated().map { number, name in
        let all = number == 2 ? markers + ["python_full_version >= '3.12'"] : markers
        let line = "resolution-markers = [\(all.map { "\"\($0)\"" }.joined(separator: ", "))]\n"
        return Self.package(
          name,
          source: Self.index,
          (number == 0 ? "" : line) + wheel.replacing("NAME", with: name)
        )
      }.joined()
    let manifest = try LockReader.uvLock.read(text, rules: Self.rules("linux-x64", "cp312")).get()
    #expect(
      manifest.entries.map(\.path) == ["a-1.0-py3-none-any.whl", "c-1.0-py3-none-any.whl"]
    )
  }

  @Test(
    "An unusable uv.lock is refused with a reason",
    arguments: [
      ("requires-python = \"x\"", "`version` is missing; a uv.lock says `version = 1`"),
      ("version = 2", "line 1, column 11: `version` is 2; this program reads version 1"),
      ("version = 1\npackage = 1", "`package` must be a list of tables, `[[package]]`"),
      ("version = 1\n[[package]]\nversion = \"1\"", "a package is a table with a `name`"),
      (
        "version = 1"
          + package(
            "a",
            source: index,
            "wheels = [{ url = \"https://f.example/a.whl\", hash = \"x\" }]"
          ),
        "`hash` must be the name of a function, a colon and its digest"
      ),
      (
        "version = 1" + package("a", source: index, "sdist = { url = \"https://f.example/\" }"),
        "its URL ends in no file name"
      ),
      (
        "version = 1" + package("a", source: index, "sdist = { url = \"ftp://f.example/a\" }"),
        "rejected ftp://f.example/a: bad_url"
      ),
    ]
  )
  func faults(_ text: String, _ message: String) {
    #expect(LockReader.uvLock.read(text).lines.contains(message))
  }
}
