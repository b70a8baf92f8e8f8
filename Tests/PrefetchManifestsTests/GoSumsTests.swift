import PrefetchCore
import Testing

@testable import PrefetchManifests

@Suite("go.sum") struct GoSumsTests {
  private static let sum = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
  private static let other = "h1:q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s="
  private static let proxy = "https://proxy.golang.org"

  @Test("Modules become files of the proxy, with escaped capital letters")
  func modules() {
    let text = """
      example.com/Left v1.0.0 \(Self.sum)
      example.com/Left v1.0.0/go.mod \(Self.other)\r
      example.com/right/v2 v2.0.0-RC1+incompatible/go.mod \(Self.sum)

      """
    #expect(
      LockReader.goSums.read(text, base: nil).lines == """
        \(Self.proxy)/example.com/!left/@v/v1.0.0.zip id=example.com/Left@v1.0.0.zip \
        path=example.com/!left/@v/v1.0.0.zip \(Self.sum) immutable
        \(Self.proxy)/example.com/!left/@v/v1.0.0.info id=example.com/Left@v1.0.0.info \
        path=example.com/!left/@v/v1.0.0.info immutable
        \(Self.proxy)/example.com/!left/@v/v1.0.0.mod id=example.com/Left@v1.0.0.mod \
        path=example.com/!left/@v/v1.0.0.mod \(Self.other) immutable
        \(Self.proxy)/example.com/right/v2/@v/v2.0.0-!r!c1+incompatible.mod \
        id=example.com/right/v2@v2.0.0-RC1+incompatible.mod \
        path=example.com/right/v2/@v/v2.0.0-!r!c1+incompatible.mod \(Self.sum) immutable
        """
    )
  }

  @Test("A module with a sum of the zip file only has a go.mod too")
  func zipOnly() {
    let lines = LockReader.goSums.read("example.com/left v1.0.0 \(Self.sum)", base: nil).lines
    let names = lines.split(separator: "\n").map { $0.prefix { $0 != " " }.suffix(4) }
    #expect(names == [".zip", "info", ".mod"])
    #expect(lines.contains("v1.0.0.mod id=example.com/left@v1.0.0.mod"))
  }

  @Test("Another proxy may have a path, and sums of one file are alternatives")
  func otherProxy() throws {
    var rules = ManifestRules()
    rules.goProxy = try WebURL("https://corp.example/go")
    let text = """
      x.example/a v1.0.0/go.mod \(Self.sum)
      x.example/a v1.0.0/go.mod \(Self.other)
      x.example/a v1.0.0/go.mod \(Self.sum)
      x.example/a v1.0.0/go.mod h2:abc
      """
    #expect(
      LockReader.goSums.read(text, rules: rules).lines == """
        https://corp.example/go/x.example/a/@v/v1.0.0.mod id=x.example/a@v1.0.0.mod \
        path=x.example/a/@v/v1.0.0.mod \(Self.sum) \(Self.other) immutable
        warning left out: `x.example/a v1.0.0/go.mod` of another function than `h1:`
        """
    )
  }

  @Test(
    "An unreadable go.sum is refused with position and reason",
    arguments: [
      (
        "a.example/a v1.0.0",
        "manifest_invalid: line 1, column 1: a line has three words, `MODULE VERSION h1:SUM`; this one has 2"
      ),
      (
        "\na.example/a v1.0.0 h1:xyz",
        "manifest_invalid: line 2, column 20: `h1:xyz` is not a sum: `h1:` and 44 characters of base64"
      ),
      (
        "../x v1.0.0/go.mod \(sum)",
        "manifest_invalid: line 1, column 1: `../x` is not a module's path"
      ),
      (
        "a.example/é v1.0.0/go.mod \(sum)",
        "manifest_invalid: line 1, column 1: `a.example/é` is not a module's path"
      ),
      (
        "a.example/a 1.0.0/go.mod \(sum)",
        "manifest_invalid: line 1, column 13: `1.0.0` is not a version of a module"
      ),
      (
        "a.example/a v1/../2/go.mod \(sum)",
        "manifest_invalid: line 1, column 13: `v1/../2` is not a version of a module"
      ),
    ]
  )
  func faults(_ text: String, _ message: String) {
    #expect(LockReader.goSums.read(text).lines == message)
  }

  @Test("A line that is not UTF-8 is named")
  func encoding() {
    #expect(
      LockReader.goSums.read(Array("a v1 h1:\n".utf8) + [0xFF]).lines
        == "manifest_invalid: line 2: it is not valid UTF-8"
    )
  }
}
