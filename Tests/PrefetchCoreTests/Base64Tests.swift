import PrefetchCore
import Testing

@Suite("Base64")
struct Base64Tests {
  @Test(
    "The vectors of RFC 4648 hold in both directions",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
      ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ]
  )
  func vectors(decoded: String, encoded: String) {
    #expect(Base64.encode(decoded.utf8) == encoded)
    #expect(Base64.decode(encoded) == Array(decoded.utf8))
  }

  @Test(
    "A non-canonical encoding is refused",
    arguments: [
      "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Z", "Zm9v\n", "Zm 9v", "Z=g=", "-_-_", "====",
    ]
  )
  func refused(encoded: String) {
    #expect(Base64.decode(encoded) == nil)
  }

  @Test("The URL-safe form reads both alphabets, with padding or without")
  func urlSafe() {
    let bytes: [UInt8] = [0xFB, 0xFF, 0xBF, 0x01]
    #expect(Base64.encode(bytes, as: .urlSafe) == "-_-_AQ")
    for text in ["-_-_AQ", "-_-_AQ==", "+/+/AQ==", "+/+/AQ"] {
      #expect(Base64.decode(text, as: .urlSafe) == bytes)
    }
    #expect(Base64.decode("-_-_A", as: .urlSafe) == nil)
    #expect(Base64.decode("-_-_AQ=", as: .urlSafe) == nil)
  }

  @Test("Every byte survives encoding and decoding")
  func roundTrip() {
    let bytes = (0...255).map { UInt8($0) }
    for form in [Base64.Form.standard, .urlSafe] {
      #expect(Base64.decode(Base64.encode(bytes, as: form), as: form) == bytes)
    }
  }
}
