import PrefetchCore
import PrefetchCrypto
import Testing

@Suite("Digests of bodies")
struct BodyHasherTests {
  private static let sha256OfAbc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
  private static let sha256OfNothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

  @Test(
    "A buffer in memory has its SHA-256",
    arguments: [("abc", sha256OfAbc), ("", sha256OfNothing)]
  )
  func oneShot(text: String, expected: String) {
    #expect(SHA256.digest(of: text).hexadecimal == expected)
    #expect(SHA256.digest(naming: text).hexadecimal == expected)
  }

  @Test("The digest is the same for any chunks")
  func pieces() throws {
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let hasher = try BodyHasher()
    for start in stride(from: 0, to: bytes.count, by: 4_099) {
      let piece = Array(bytes[start..<min(start + 4_099, bytes.count)])
      unsafe hasher.update(piece.span.bytes)
    }
    #expect(hasher.finish().sha256 == SHA256.digest(of: bytes))
  }

  @Test("One hasher serves one body after another")
  func reuse() throws {
    let hasher = try BodyHasher(alsoHashing: [.sha1])
    for text in ["abc", "", "abc"] {
      let bytes = Array(text.utf8)
      unsafe hasher.update(bytes.span.bytes)
      #expect(hasher.finish().sha256 == SHA256.digest(of: bytes))
    }
  }

  @Test(
    "Other algorithms are computed beside SHA-256",
    arguments: [
      (DigestAlgorithm.md5, "900150983cd24fb0d6963f7d28e17f72"),
      (.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
      (
        .sha384,
        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
          + "8086072ba1e7cc2358baeca134c825a7"
      ),
      (
        .sha512,
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
          + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
      ),
    ]
  )
  func others(algorithm: DigestAlgorithm, expected: String) throws {
    let hasher = try BodyHasher(alsoHashing: [algorithm, .sha256])
    let bytes = Array("abc".utf8)
    unsafe hasher.update(bytes.span.bytes)
    let digests = hasher.finish()
    #expect(digests.sha256.hexadecimal == Self.sha256OfAbc)
    #expect(digests.others.mapValues { Hexadecimal.encode($0) } == [algorithm: expected])
  }
}
