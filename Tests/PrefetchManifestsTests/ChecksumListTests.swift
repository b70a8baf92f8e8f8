import PrefetchCore
import Testing

@Suite struct ChecksumListTests {
  static let sha256 = String(repeating: "ab", count: 32)
  static let sha512 = String(repeating: "cd", count: 64)
  static let sha1 = String(repeating: "12", count: 20)
  static let md5 = String(repeating: "ef", count: 16)
  static let folder = "https://cdn.example/lists/"

  static let signed = """
    -----BEGIN PGP SIGNED MESSAGE-----
    Hash: SHA256

    # Some-1.iso: 1234 bytes
    SHA256 (Some-1.iso) = \(sha256)
    - # Some-2.iso: 5 bytes
    - SHA256 (Some-2.iso) = \(sha256)
    -----BEGIN PGP SIGNATURE-----

    \(sha256)  not-signed
    -----END PGP SIGNATURE-----
    """

  @Test(
    "Digests and names become items",
    arguments: [
      ("\(sha256)  a.iso\n", ["\(folder)a.iso path=a.iso sha256:abab"]),
      ("\(sha256) *./d/a.iso\r\n", ["\(folder)d/a.iso path=d/a.iso sha256:abab"]),
      ("\(sha256.uppercased()) a.iso", ["\(folder)a.iso path=a.iso sha256:abab"]),
      (
        "\(md5)  a\n\(sha1)  b\n\(sha512)  c",
        [
          "\(folder)a path=a md5:efef", "\(folder)b path=b sha1:1212",
          "\(folder)c path=c sha512:cdcd",
        ]
      ),
      (
        "\(sha256)  two words ä%41?#:[x].bin",
        [
          "\(folder)two%20words%20%C3%A4%2541%3F%23%3A%5Bx%5D.bin path=two words ä%41?#:[x].bin sha256:abab"
        ]
      ),
      ("\(sha256)   blank first", ["\(folder)%20blank%20first path= blank first sha256:abab"]),
      ("SHA256 (a (1).iso) = \(sha256)", ["\(folder)a%20%281%29.iso path=a (1).iso sha256:abab"]),
      (
        "SHA512 (a) = \(sha512)\nSHA256 (a) = \(sha256)\nMD5 (a) = \(md5)",
        ["\(folder)a path=a sha256:abab sha512:cdcd md5:efef"]
      ),
      (
        "BLAKE2s (a) = 12\nSHA1 (a) = \(sha1)\nSize (a) = 77 bytes",
        ["\(folder)a path=a size=77 sha1:1212"]
      ),
      (
        "# a: 5 bytes\nSHA256 (a) = \(sha256)\nSHA256 (b) = \(sha256)",
        ["\(folder)a path=a size=5 sha256:abab", "\(folder)b path=b sha256:abab"]
      ),
      ("# remark\n\n\(sha256)  a\n\(sha512)  a", ["\(folder)a path=a sha256:abab"]),
      ("\(sha256)  https://o.example/x", ["https://o.example/x sha256:abab"]),
      (
        signed,
        [
          "\(folder)Some-1.iso path=Some-1.iso size=1234 sha256:abab",
          "\(folder)Some-2.iso path=Some-2.iso size=5 sha256:abab",
          "warning: the list is signed; its OpenPGP signature was not verified",
        ]
      ),
    ] as [(String, [String])]
  )
  func good(text: String, expected: [String]) throws {
    #expect(try readText(text).get().everything == expected)
  }

  @Test(
    "An invalid line of a checksum list fails alone with its number",
    arguments: [
      (
        "\(sha256)  ../a",
        "https://cdn.example/a: unsafe_name: line 2, column 67: the name `../a` would leave the folder"
      ),
      (
        "\(sha256) */etc/passwd",
        "https://cdn.example/etc/passwd: unsafe_name: line 2, column 67: the name `/etc/passwd` is absolute"
      ),
      (
        "\(sha256)  a//b",
        "\(folder)a//b: bad_name: line 2, column 67: the name `a//b` has an empty part"
      ),
      (
        "\(sha256)  a\\b",
        "\(folder)a%5Cb: bad_name: line 2, column 67: the name `a\\b` has a backslash, which some take for a slash"
      ),
      (
        "\\\(sha256)  a\\nb",
        "\(folder)a%5Cnb: bad_name: line 2, column 68: the name `a\u{FFFD}b` has the control character U+000A"
      ),
      (
        "\(sha256)  a/./b",
        "https://cdn.example/lists/a/b: bad_name: line 2, column 67: the name `a/./b` has the part `.`, which names no file"
      ),
      (
        "\(sha256)  a\tb",
        "\(folder)a%09b: bad_name: line 2, column 67: the name `a\u{FFFD}b` has the control character U+0009"
      ),
      (
        "\\\(sha256)  a\\xb",
        "\(folder)a%5Cxb: manifest_invalid: line 2, column 68: its name has an escape that is not known"
      ),
      (
        "\(sha256)  -",
        "\(folder)-: manifest_invalid: line 2, column 67: standard input has no name"
      ),
      (
        "\(sha256)0  a",
        "\(folder)a: manifest_invalid: line 2, column 1: 65 digits are no digest that is known"
      ),
      (
        "\(sha256.prefix(56))  a",
        "\(folder)a: manifest_invalid: line 2, column 1: SHA224 digests are not checked by this program"
      ),
      (
        "SHA256 (a) = 12",
        "\(folder)a: manifest_invalid: line 2, column 14: this is not a sha256 in hexadecimal or base64"
      ),
      (
        "SM3 (a) = 12",
        "\(folder)a: manifest_invalid: line 2, column 1: SM3 digests are not checked by this program"
      ),
      ("SIZE (a) = 12", "\(folder)a: manifest_invalid: line 2, column 1: it has no digest"),
      ("hello", "\(folder)hello: manifest_invalid: line 2, column 1: it is not a digest and name"),
    ]
  )
  func refused(line: String, refusal: String) throws {
    let manifest = try readText("\(Self.sha256)  x\n\(line)\n\(Self.sha256)  z").get()
    #expect(manifest.entries.map(\.path) == ["x", "z"])
    #expect(manifest.refusals == [refusal])
  }

  @Test(
    "Lists of unsupported hash functions are refused by name",
    arguments: [
      ("https://a.example/B2SUMS", "BLAKE2"), ("x.b2", "BLAKE2"), ("B3SUMS?x", "BLAKE3"),
      ("SHA3-512SUMS", "SHA-3"),
    ]
  )
  func functions(name: String, function: String) {
    #expect(
      throws: Failure(
        .unsupported,
        "it is a list of \(function) digests, which are not checked; use the list of SHA-256 or SHA-512"
      )
    ) { try readText("\(Self.sha512)  x", name: name).get() }
  }

  @Test("A signed text is read without its signature")
  func cut() {
    let text = String(
      Self.signed.prefix { $0 != "N" || true }.split(separator: "-----BEGIN PGP SIGNATURE")[0]
    )
    #expect(
      throws: Failure(
        .manifestInvalid,
        "line 1, column 1: the signed text that begins here has no signature, so its end is missing"
      )
    ) { try readText(text).get() }
  }

  @Test("A list of names without an address is refused")
  func homeless() throws {
    let manifest = try readText("\(Self.sha256)  x\n\(Self.sha256)  https://o.example/y", base: nil)
      .get()
    #expect(manifest.lines == ["https://o.example/y sha256:abab"])
    #expect(
      manifest.refusals == [
        "x: bad_url: line 1, column 67: it is a relative name, and no base URL is set; set `base`"
      ]
    )
  }

  @Test("Digests of many files are read into columns")
  func columns() throws {
    var text = ""
    for number in 0..<20_000 { text += "\(Self.sha256)  d/file-\(number).tar.gz\n" }
    let manifest = try readText(text).get()
    #expect(manifest.entries.count == 20_000)
    #expect(!manifest.entries.indices.contains { manifest.entries.hasExtras(at: $0) })
    #expect(manifest.entries[777].path == "d/file-777.tar.gz")
    #expect(manifest.entries[777].url.string == "\(Self.folder)d/file-777.tar.gz")
  }
}
