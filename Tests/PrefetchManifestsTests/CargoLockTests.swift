import PrefetchCore
import Testing

@testable import PrefetchManifests

@Suite("Cargo.lock") struct CargoLockTests {
  private static let digest = String(repeating: "9f", count: 32)
  private static let index = "registry+https://github.com/rust-lang/crates.io-index"

  private func package(_ name: String, _ version: String, _ more: String) -> String {
    "[[package]]\nname = \"\(name)\"\nversion = \"\(version)\"\n\(more)\n"
  }

  private func crate(
    _ name: String,
    _ version: String = "1.0.0",
    from source: String = index
  )
    -> String
  {
    package(name, version, "source = \"\(source)\"\nchecksum = \"\(Self.digest)\"")
  }

  @Test("Crates come from crates.io, and local ones have no file")
  func crates() {
    let text =
      "version = 4\n" + package("mine", "0.1.0", "dependencies = [\"left\"]") + crate("left")
      + crate("Right_2", "0.2.0-rc.1+build", from: "sparse+https://index.crates.io/")
      + package("forked", "1.0.0", "source = \"git+https://g.example/x?branch=a#0123\"")
      + crate("theirs", from: "registry+https://corp.example/index")
    #expect(
      LockReader.cargoLock.read(text).lines == """
        https://static.crates.io/crates/left/left-1.0.0.crate id=left@1.0.0 \
        path=left-1.0.0.crate sha256:\(Self.digest) immutable
        https://static.crates.io/crates/Right_2/Right_2-0.2.0-rc.1%2Bbuild.crate \
        id=Right_2@0.2.0-rc.1+build path=Right_2-0.2.0-rc.1+build.crate \
        sha256:\(Self.digest) immutable
        warning left out: `forked 1.0.0` from version control
        warning left out: `theirs 1.0.0` of `registry+https://corp.example/index`
        """
    )
  }

  @Test(
    "A configured address replaces every registry",
    arguments: [
      ("https://c.example/dl/", "https://c.example/dl/abcde/1.0.0/download"),
      ("https://c.example/{prefix}/{crate}.{version}", "https://c.example/ab/cd/abcde.1.0.0"),
      ("https://c.example/{sha256-checksum}", "https://c.example/\(digest)"),
    ]
  )
  func otherAddress(_ download: String, _ expected: String) throws {
    var rules = ManifestRules()
    rules.crateDownload = download
    let text = crate("abcde", from: "registry+https://corp.example/index")
    #expect(
      try LockReader.cargoLock.read(text, rules: rules).get().entries.first?.url.string == expected
    )
  }

  @Test("The folders of an index follow the length of the name")
  func prefixes() throws {
    var rules = ManifestRules()
    rules.crateDownload = "https://c.example/{lowerprefix}/{crate}"
    let text = ["a", "Ab", "aBc", "AbCd"].map { crate($0) }.joined()
    #expect(
      try LockReader.cargoLock.read(text, rules: rules).get().entries.map(\.url.path)
        == ["/1/a", "/2/Ab", "/3/a/aBc", "/ab/cd/AbCd"]
    )
  }

  @Test("The index of the crates is included, and requested again for other versions")
  func sparseIndex() throws {
    var rules = ManifestRules()
    rules.crateIndex = try WebURL("https://i.example/sparse")
    let text =
      crate("aBc", "1.0.0") + crate("aBc", "0.2.0") + crate("x")
      + crate("theirs", from: "registry+https://corp.example/index")
    #expect(
      LockReader.cargoLock.read(text, rules: rules).lines == """
        https://static.crates.io/crates/aBc/aBc-1.0.0.crate id=aBc@1.0.0 path=aBc-1.0.0.crate \
        sha256:\(Self.digest) immutable
        https://static.crates.io/crates/aBc/aBc-0.2.0.crate id=aBc@0.2.0 path=aBc-0.2.0.crate \
        sha256:\(Self.digest) immutable
        https://static.crates.io/crates/x/x-1.0.0.crate id=x@1.0.0 path=x-1.0.0.crate \
        sha256:\(Self.digest) immutable
        https://i.example/sparse/3/a/abc id=index/3/a/abc path=index/3/a/abc immutable \
        revision=0.2.0 1.0.0
        https://i.example/sparse/1/x id=index/1/x path=index/1/x immutable revision=1.0.0
        warning left out: `theirs 1.0.0` of `registry+https://corp.example/index`
        """
    )
  }

  @Test("The first versions of the format have their checksums in another table")
  func metadata() throws {
    let text =
      package("left", "1.0.0", "source = \"\(Self.index)\"")
      + "[metadata]\n\"checksum left 1.0.0 (\(Self.index))\" = \"\(Self.digest)\"\n"
    #expect(try LockReader.cargoLock.read(text).get().entries.first?.digests.count == 1)
  }

  @Test(
    "An unusable Cargo.lock is refused with a reason",
    arguments: [
      ("package = 1", "manifest_invalid: line 1, column 11: `package` must be a list of tables"),
      ("[[package]]\nname = \"../x\"\nversion = \"1\"", "a package is a table with a `name`"),
      ("[[package]]\nname = \"aa..b\"\nversion = \"1\"", "a package is a table with a `name`"),
      ("[[package]]\nname = \"a\"\nversion = \"..\"", "a package is a table with a `name`"),
      (
        "[[package]]\nname = \"x\"\nversion = \"1\"\nsource = \"\(index)\"\nchecksum = \"12\"",
        "`x@1` has no checksum, 64 hexadecimal digits"
      ),
    ]
  )
  func faults(_ text: String, _ message: String) {
    #expect(LockReader.cargoLock.read(text).lines.contains(message))
  }
}
