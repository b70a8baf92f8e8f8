import PrefetchCore
import PrefetchCrypto
import Testing

@Suite("Subresource integrity")
struct IntegrityTests {
  private static let sha256 = "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
  private static let empty = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
  private static let sha1 = "sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0="

  @Test("A digest is read with its algorithm, without options")
  func single() throws {
    let expected = ExpectedDigest(algorithm: .sha256, bytes: SHA256.digest(of: "abc").bytes)
    for text in [Self.sha256, " \(Self.sha256)?ct=image/png\n", "sha3-AAAA \(Self.sha256)"] {
      #expect(try Integrity.expectedDigests(in: text) == [expected])
    }
  }

  @Test("The strongest algorithm counts, with any of its digests")
  func strongest() throws {
    let found = try Integrity.expectedDigests(in: "\(Self.sha1) \(Self.sha256) \(Self.empty)")
    #expect(found.map(\.algorithm) == [.sha256, .sha256])
    #expect(found.last?.bytes == SHA256.digest(of: "").bytes)
    #expect(try Integrity.expectedDigests(in: Self.sha1).map(\.algorithm) == [.sha1])
  }

  @Test(
    "A malformed digest of a known algorithm is a fault, never skipped",
    arguments: ["sha256-AAAA", "sha256", "sha512-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="]
  )
  func malformed(token: String) {
    #expect(throws: Integrity.Fault.malformed(token)) {
      try Integrity.expectedDigests(in: "\(Self.sha256) \(token)")
    }
  }

  @Test("A text without any known digest is a fault", arguments: ["", "  ", "sha3-AAAA"])
  func nothingKnown(text: String) {
    #expect(throws: Integrity.Fault.nothingKnown) { try Integrity.expectedDigests(in: text) }
  }
}
