import PrefetchCore
import Testing

/// Digests in the fragments of URLs.
@Suite("A digest in a fragment")
struct DeclaredURLTests {
  private static let sum = String(repeating: "ab", count: 32)
  private static let base64 = "q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s="

  @Test(
    "A digest in a fragment is declared in each of its forms",
    arguments: [
      ("sha256=\(sum)", ["sha256:\(sum)"]), ("SHA-256=\(sum.uppercased())", ["sha256:\(sum)"]),
      ("sha256=\(base64)", ["sha256:\(sum)"]), ("sha256=\(sum) \n", ["sha256:\(sum)"]),
      ("egg=name&sha256=\(sum)", ["sha256:\(sum)"]),
      ("sha256=\(sum)&sha256=\(base64)", ["sha256:\(sum)"]),
      (
        "md5=\(sum.prefix(32))&sha1=\(sum.prefix(40))",
        ["md5:\(sum.prefix(32))", "sha1:\(sum.prefix(40))"]
      ),
      ("sha384=\(sum)\(sum.prefix(32))", ["sha384:\(sum)\(sum.prefix(32))"]),
      ("sha512=\(sum)\(sum)", ["sha512:\(sum)\(sum)"]), ("", []), ("intro", []), ("t=30", []),
      ("h1-zip=\(sum)", []), ("sha256", []), ("=\(sum)", []),
    ] as [(String, [String])]
  )
  func reads(fragment: String, digests: [String]) throws {
    let declared = try DeclaredURL("https://a.example/x?y#\(fragment)")
    #expect(declared.url.string == "https://a.example/x?y")
    #expect(declared.digests.map(\.description) == digests)
  }

  @Test(
    "A malformed digest in a fragment is refused",
    arguments: [
      "sha256=zz", "sha256=", "sha256=\(sum)0", "sha256=\(sum.prefix(40))", "sha512=\(sum)",
      "x=1&md5=\(sum)", "sha1=\(base64)",
    ]
  )
  func refuses(fragment: String) {
    #expect(throws: WebURL.Fault.self) { try DeclaredURL("https://a.example/x#\(fragment)") }
  }

  @Test("A digest in a fragment is read in references too, and other fragments are reported")
  func references() throws {
    let base = try WebURL("https://a.example/dir/list")
    let declared = try DeclaredURL("x#part&sha256=\(Self.sum)", base: base)
    #expect(declared.url.string == "https://a.example/dir/x")
    #expect(declared.digests.count == 1)
    #expect(declared.otherFragment == "part")
    #expect(try DeclaredURL("x", base: base).otherFragment == nil)
  }

  @Test("A digest in a fragment holds beside others, unless they contradict it")
  func combinedWith() throws {
    let declared = try DeclaredURL("https://a.example/x#sha256=\(Self.sum)")
    let other = ExpectedDigest(algorithm: .sha256, bytes: [UInt8](repeating: 1, count: 32))
    let strong = ExpectedDigest(algorithm: .sha512, bytes: [UInt8](repeating: 1, count: 64))
    #expect(declared.digests(combinedWith: []) == declared.digests)
    #expect(declared.digests(combinedWith: declared.digests) == declared.digests)
    #expect(declared.digests(combinedWith: [strong]) == [strong] + declared.digests)
    #expect(declared.digests(combinedWith: [other]) == nil)
    #expect(DeclaredURL(declared.url).digests(combinedWith: [other]) == [other])
  }
}
