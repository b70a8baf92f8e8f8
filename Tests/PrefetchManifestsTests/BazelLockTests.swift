import PrefetchCore
import PrefetchCrypto
import Testing

@testable import PrefetchManifests

@Suite("MODULE.bazel.lock") struct BazelLockTests {
  private static let sha256 = LockReader.sha256
  private static let base64 = LockReader.base64

  @Test("Registry files are read, and the file that names a module's source is requested too")
  func registryFiles() {
    let source = "https://r.example/modules/left/1.0/source.json"
    let text = """
      {"lockFileVersion": 13, "registryFileHashes": {
        "https://r.example/bazel_registry.json": "\(Self.sha256)",
        "\(source)": "\(Self.sha256)",
        "https://other.example/modules/left/1.0/MODULE.bazel": null,
        "file:///srv/registry/bazel_registry.json": "\(Self.sha256)"
      }, "moduleExtensions": {}}
      """
    #expect(
      LockReader.bazelLock.read(text).lines == """
        https://r.example/bazel_registry.json sha256:\(Self.sha256) immutable
        \(source) sha256:\(Self.sha256) immutable
        part \(source)
        note left out: `https://other.example/modules/left/1.0/MODULE.bazel` that the registry did not have
        note left out: `file:///srv/registry/bazel_registry.json` of a registry in a local folder
        """
    )
  }

  @Test("A module is its archive, its patches and its overlay")
  func moduleSource() throws {
    let text = """
      {"url": "https://a.example/left-1.0.tar.gz", "integrity": "sha256-\(Self.base64)",
       "mirror_urls": ["https://b.example/left-1.0.tar.gz", "ftp://c.example/x"],
       "patches": {"a+b.patch": "sha256-\(Self.base64)"},
       "overlay": {"d/BUILD.bazel": "sha256-\(Self.base64)", "../x": "sha256-\(Self.base64)"}}
      """
    let base = "https://r.example/modules/left/1.0/source.json"
    let reading = LockReader.moduleSource.read(
      text,
      base: base,
      documentRole: .moduleSource(SHA256.digest(of: text))
    )
    #expect(
      reading.lines == """
        https://a.example/left-1.0.tar.gz id=left@1.0 sha256:\(Self.sha256) immutable
        https://r.example/modules/left/1.0/patches/a%2Bb.patch sha256:\(Self.sha256) immutable
        https://r.example/modules/left/1.0/overlay/d/BUILD.bazel sha256:\(Self.sha256) immutable
        rejected ../x: unsafe_name: the name `../x` would leave the folder
        """
    )
    let archive = try #require(try reading.get().entries.first { _ in true })
    #expect(archive.alternates.map(\.string) == ["https://b.example/left-1.0.tar.gz"])
  }

  @Test("A registry's record of a module must match the locked digest")
  func otherSource() throws {
    let digest = SHA256.digest(of: "{}")
    let reading = LockReader.moduleSource.read("{ }", documentRole: .moduleSource(digest))
    #expect(reading.lines.hasPrefix("digest_mismatch: its sha256 is "))
    #expect(
      LockReader.moduleSource.read("{}", documentRole: .moduleSource(digest)).lines.contains(
        "`url`"
      )
    )
  }

  @Test(
    "An unusable lock file of Bazel is refused with a reason",
    arguments: [
      ("{}", "`registryFileHashes` is missing; Bazel 7.2 and later write it"),
      ("{\"registryFileHashes\": []}", "`registryFileHashes` must be a mapping of URLs to digests"),
      (
        "{\"registryFileHashes\": {\"https://r.example/a\": \"x\"}}",
        "a URL has a SHA-256 or null beside it, not text"
      ),
      ("{\"registryFileHashes\": {\"https://\": \"x\"}}", "bad_url"),
    ]
  )
  func faults(_ text: String, _ message: String) {
    #expect(LockReader.bazelLock.read(text).lines.contains(message))
  }

  @Test("Modules from repositories have no file")
  func repositories() {
    let lines = LockReader.moduleSource.read("{\"type\": \"git_repository\"}").lines
    #expect(
      lines.hasPrefix("warning left out: `") && lines.hasSuffix(" from git or a local folder")
    )
  }
}
