import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import Testing

/// Keys and signatures made by minisign 0.11; they sign `hi` with a line end by default.
private enum Made {
  static let message = Array("hi\n".utf8)
  static let publicKey = "RWQTgP3aCEdsVTXCc/fJD0Mc7szeT9rb2OaP4Oulk51LJqJkVPlfU9re"
  static let publicKeyFile =
    "untrusted comment: minisign public key 556C4708DAFD8013\n\(publicKey)\n"
  static let otherKey = "RWTfdbLkeVCOj6sIhHOhqxca238+finlENOfZY9TMxDUrSJqeOdlaekl"
  static let otherID = "8F8E5079E4B275DF"
  static let secretKey = """
    untrusted comment: minisign encrypted secret key
    RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE4D92ghHbFUd3doXuZA0Uh6Y0us7MZSUEtPss6x3D6ErbeyyWlfYUjXCc/fJD0Mc7szeT9rb2OaP4Oulk51LJqJkVPlfU9reAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=

    """
  /// Secret key of `otherKey`, encrypted with the password `secret words`.
  static let encryptedKey = """
    untrusted comment: minisign encrypted secret key
    RWRTY0IyBmpzGjqSiafMGZDD7k1Cb3BfoolHjS3xKJdYFh92MkEAAAACAAAAAAAAAEAAAAAAh+99ouM8cpUcF25pfPAT1JG8lnKe5yovr8KroqyPEDmxDOzczYqYc1EQnVSDDci6X8UBQTezFoXHyRFsigCObKM24qlRSydhvN9I2guL4VAEeW0g961hMsuC0tpQIRYh26Pq2P6D6rI=

    """
  /// `secretKey` with the same password and various costs, made from the format's description.
  static let cheapKeys = [
    "RWRTY0IyAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8AgAAAAAAAAAAAEAAAAAAAX2Ruo1PyIqnJIK0zkBbGLuwcQgeLIczEKBVTMt7j3UEVrg4JI1bstwTwe+Ui8tIHWiySnEmoSMvM9vkPF3yb39SU7s2ytcRQOjsFDCOaq8yU01e1zZ6HkEwdJSvaSRHPzCotSHbFN+w=",
    "RWRTY0IyAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8AAAQAAAAAAAAAAAEAAAAA7MUYnTps4mI7SoSuHSgRBLZ7aupFsC8aVvsPf8Ke2s9IXgDv4AliyM2qq/6vOqhRZ2EX3EWbYm8goj5bY0tzJTnc02utSmpU5yEYEZjBG8eAEsXfgmRodilZn8BkNLw1rQMpGzfS9Xc=",
    "RWRTY0IyAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8AAAIAAAAAAAAAEAAAAAAAQ5H55OFinmJmWRQOWKk6AJcOTgFcF25UM3MODUEXbj2mRiHgIF47G/+qzFGA/5pKJFwDOQUOUtABoOkwcaWz5Q2TjxThiP04EHhL8A1t5SYkL38LrsX7i0hrpF56gwFdVUW7ImBmYRw=",
  ].map { "untrusted comment: cheap\n\($0)\n" }
  static let signature = """
    untrusted comment: signature from minisign secret key
    RUQTgP3aCEdsVXChmjwebOzGGHKkpozUZVZHcC7S/FD+acCbaPuOJNO1aOvH5cgKm4NXcoFW8SVLJHkFvjlbPbRC5qGMfwgzWw8=
    trusted comment: timestamp:1795327479\tfile:m\thashed
    J3MaIBfPgOXI7eop7RYxFOybqdzuZDZHeSjH6Wlu8ikNRdB3ESpHElyzK9mCHwIpCPPsCHK2H5Bi7JyymhdYBg==

    """
  static let legacySignature = """
    untrusted comment: signature from minisign secret key
    RWQTgP3aCEdsVcWZA6rR+iWmdVR39Gq+X/2t+6esdEeJntoSWO0T/Yrb/Cy1lULju23DVA3xE9M5Ur/pk12wOKgiVUfLiZsMvwY=
    trusted comment: Grüße
    E7MxYK9G9/UAf7K0nkvTSsJxdNdNW6LJ/pG1sPnCJCaVNH/Wn0P8XHnxm7DnX2ZR6Em0JjGaAMYj0NBvYVRDBw==

    """
  static let otherSignature = """
    untrusted comment: signature from minisign secret key
    RWTfdbLkeVCOj8m9NMHEgfYK49LYYhs6leN2loQ4FLBEvqYVDKFBnPqrO7/08TioRGXLVv3uZhfMw/Kw8tnTkABaI8UxI5urmwg=
    trusted comment: timestamp:1\tfile:m\texpires:2
    5MMLMuuB96yUDnHtsr2a4txDKgclfaCIuyyVKZSD5MBllLMjblHbHSC95lqy6SaZZlZELk7N64iAy1LNW1vRAA==

    """
  static let emptySignature = """
    untrusted comment: signature from minisign secret key
    RUQTgP3aCEdsVWFQzonqaV9phErgm1NdRpit5OfXo0FU2O7kWLN6zN5Im+M9Telmar7lkMUsnG8MhjS3AxAeH7gD5MAoWOSfww0=
    trusted comment: timestamp:1795327515\tfile:e\thashed
    ZUydO6DKTzXgPcjFxBHCL/hEAa5DhErl+DTEOdQnECO/jGTq4GAc1qURl7/Gp1WIXbHXjqZpqAOiwN9d9AK6CA==

    """

  static func verify(
    _ signature: String,
    of message: [UInt8] = message,
    keys: [String] = [publicKey]
  ) throws -> TrustedComment {
    try verify(Array(signature.utf8), of: message, keys: keys)
  }

  static func verify(
    _ signature: [UInt8],
    of message: [UInt8] = message,
    keys: [String] = [publicKey]
  ) throws -> TrustedComment {
    unsafe try Minisign.verify(message.span.bytes, signature: signature, keys: keys)
  }

  static func sign(_ comment: TrustedComment, _ untrusted: String = "ours") throws -> String {
    let key = try MinisignSecretKey(Array(secretKey.utf8))
    return unsafe Minisign.sign(
      message.span.bytes,
      with: key,
      trustedComment: comment,
      untrustedComment: untrusted
    )
  }
}

@Suite("Signatures in minisign's format")
struct MinisignTests {
  @Test("Signatures of minisign are verified, prehashed, legacy and empty")
  func verified() throws {
    let comment = try Made.verify(Made.signature)
    #expect(comment.text == "timestamp:1795327479\tfile:m\thashed")
    #expect(comment.timestamp == Instant(seconds: 1_795_327_479))
    #expect(comment.file == "m")
    #expect(comment.expires == nil)
    #expect(try Made.verify(Made.legacySignature).text == "Grüße")
    #expect(try Made.verify(Made.emptySignature, of: []).file == "e")
    let other = try Made.verify(Made.otherSignature, keys: [Made.publicKey, Made.otherKey])
    #expect(other.expires == Instant(seconds: 2))
  }

  @Test("A key may be the text of its file, with spaces and CRLF")
  func keyFiles() throws {
    for key in [Made.publicKeyFile, " \(Made.publicKey)\r\n", "\(Made.publicKeyFile)\n\n"] {
      #expect(try Made.verify(Made.signature, keys: [key]).file == "m")
    }
    let windows = Made.signature.split(separator: "\n").joined(separator: "\r\n")
    #expect(try Made.verify(windows).file == "m")
  }

  @Test("Another key, other bytes and another comment are distinguished")
  func refused() {
    let fault = #expect(throws: Minisign.Fault.self) {
      try Made.verify(Made.signature, keys: [Made.otherKey])
    }
    #expect(
      fault?.description
        == "it is signed with the key 556C4708DAFD8013, which is not one of the trusted keys (\(Made.otherID))"
    )
    #expect(
      Self.message { try Made.verify(Made.signature, keys: []) }
        == "it is signed with the key 556C4708DAFD8013, and no key is trusted"
    )
    #expect(
      Self.message { try Made.verify(Made.signature, of: Array("ho\n".utf8)) }
        == "the key 556C4708DAFD8013 did not sign these bytes"
    )
    // The key signed both comments, each with its own signature.
    let comment = Made.emptySignature.split(separator: "\n")
    var lines = Made.signature.split(separator: "\n")
    lines[2] = comment[2]
    lines[3] = comment[3]
    #expect(
      Self.message { try Made.verify(lines.joined(separator: "\n")) }
        == "the key 556C4708DAFD8013 did not sign the trusted comment"
    )
    // A legacy signature must not pass for a prehashed one.
    let disguised = Made.legacySignature.replacing("\nRW", with: "\nRU")
    #expect(throws: Minisign.Fault.self) { try Made.verify(disguised) }
  }

  private static func message(_ body: () throws -> TrustedComment) -> String? {
    do {
      _ = try body()
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test(
    "A malformed signature is named with its line",
    arguments: [
      ("", "line 1 of the signature is not valid in minisign: `untrusted comment: ` is missing"),
      ("hi", "line 1 of the signature is not valid in minisign: `untrusted comment: ` is missing"),
      (
        "untrusted comment: x",
        "line 2 of the signature is not valid in minisign: the signature is missing"
      ),
      (
        "untrusted comment: x\n%",
        "line 2 of the signature is not valid in minisign: it is not base64"
      ),
      (
        "untrusted comment: x\nRUQT",
        "line 2 of the signature is not valid in minisign: it holds 3 bytes instead of 74"
      ),
      (
        Made.signature.replacing("\nRU", with: "\nRV"),
        "line 2 of the signature is not valid in minisign: it is for another algorithm than Ed25519"
      ),
      (
        Made.signature.replacing("\ntrusted", with: "\nTrusted"),
        "line 3 of the signature is not valid in minisign: `trusted comment: ` is missing"
      ),
      (
        Made.signature.split(separator: "\n").dropLast().joined(separator: "\n"),
        "line 4 of the signature is not valid in minisign: the signature of the trusted comment is missing"
      ),
      (
        Made.signature + "more",
        "line 5 of the signature is not valid in minisign: nothing may follow here"
      ),
      (
        String(repeating: "x", count: 20_000),
        "line 1 of the signature is not valid in minisign: it is too long for minisign"
      ),
    ]
  )
  func malformed(signature: String, message: String) {
    #expect(Self.message { try Made.verify(signature) } == message)
  }

  @Test(
    "A malformed key is named, also beside a good one",
    arguments: [
      ("", "the key is missing"), ("RWQ", "it is not base64"),
      ("AAAA", "it holds 3 bytes instead of 42"),
      (Made.publicKey.replacing("RW", with: "RU"), "it is for another algorithm than Ed25519"),
      ("\(Made.publicKey)\n\(Made.otherKey)", "nothing may follow here"),
    ]
  )
  func malformedKeys(key: String, problem: String) {
    #expect(
      Self.message { try Made.verify(Made.signature, keys: [Made.publicKey, key]) }
        == "public key 2 is not valid in minisign: \(problem)"
    )
  }

  @Test("A changed bit anywhere but in the untrusted comment never verifies")
  func mutations() {
    let original = Array(Made.signature.utf8)
    let start = Made.signature.prefix { $0 != "\n" }.utf8.count + 1
    for index in start..<original.count - 1 {
      for bit in 0..<8 {
        var changed = original
        changed[index] ^= 1 << UInt8(bit)
        #expect(throws: Minisign.Fault.self, "bit \(bit) of byte \(index)") {
          try Made.verify(changed)
        }
      }
    }
  }

  @Test("Random damage never verifies and never crashes, as signature, key or secret key")
  func damage() {
    let samples = [Made.signature, Made.publicKeyFile, Made.secretKey].map { Array($0.utf8) }
    var mutators = samples.map { Mutator(seed: 0x5161 + UInt64($0.count), samples: [$0]) }
    for round in 0..<3 * Campaign.documents(usually: 2_000) {
      let sample = mutators[round % 3].next()
      let text = String(decoding: sample, as: UTF8.self)
      switch round % 3 {
      case 0:
        let isUntouched = text.hasSuffix(Made.signature.drop { $0 != "\n" })
        let comment = try? Made.verify(sample)
        // Damage to the untrusted comment or to a line end does not affect the proof.
        let isSame = comment?.text == "timestamp:1795327479\tfile:m\thashed"
        #expect(comment == nil || isSame || isUntouched, "\(text)")
      case 1: _ = try? Made.verify(Made.signature, keys: [text])
      default: _ = try? MinisignSecretKey(sample)
      }
    }
  }

  @Test("Our signatures are verified, and each comment says what it was made of")
  func signed() throws {
    let key = try MinisignSecretKey(Array(Made.secretKey.utf8))
    #expect(key.publicKey == Made.publicKey)
    let comment = TrustedComment(
      timestamp: Instant(seconds: 10),
      file: "a\tb\nc",
      expires: Instant(seconds: 20)
    )
    #expect(comment.text == "timestamp:10\tfile:a_b_c\texpires:20\thashed")
    let text = try Made.sign(comment)
    #expect(try Made.verify(text) == comment)
    // Ed25519 is deterministic, so that minisign's bytes are the same.
    let theirs = try Made.sign(
      TrustedComment(text: "timestamp:1795327479\tfile:m\thashed"),
      "signature from minisign secret key"
    )
    #expect(theirs == Made.signature)
  }

  @Test(
    "An unreadable date is refused and not treated as none",
    arguments: ["expires:soon", "expires:", "expires:-5", "expires:1\texpires:2", "timestamp:x"]
  )
  func unreadableDates(comment: String) throws {
    let text = try Made.sign(TrustedComment(text: comment))
    #expect(throws: Minisign.Fault.malformedSignature(line: 3, .unreadableDate)) {
      try Made.verify(text)
    }
  }

  @Test("An encrypted key opens with its password only")
  func encrypted() throws {
    let file = Array(Made.encryptedKey.utf8)
    #expect(try MinisignSecretKey.isEncrypted(file))
    #expect(throws: MinisignSecretKey.Fault.needsPassword) { try MinisignSecretKey(file) }
    let key = try MinisignSecretKey(file, password: Array("secret words".utf8))
    #expect(key.publicKey == Made.otherKey)
    #expect(key.id.description == Made.otherID)
  }

  @Test("Key derivation costs of all kinds are accepted, and a wrong password is refused")
  func costs() throws {
    for text in Made.cheapKeys {
      let file = Array(text.utf8)
      let key = try MinisignSecretKey(file, password: Array("secret words".utf8))
      #expect(key.publicKey == Made.publicKey)
      for password in ["", "secret word", "secret words "] {
        #expect(throws: MinisignSecretKey.Fault.wrongPassword) {
          try MinisignSecretKey(file, password: Array(password.utf8))
        }
      }
    }
  }

  @Test("An invalid secret key is refused with its reason, without excessive memory")
  func malformedSecretKeys() throws {
    #expect(try !MinisignSecretKey.isEncrypted(Array(Made.secretKey.utf8)))
    let lines = Made.encryptedKey.split(separator: "\n")
    var bytes = try #require(Base64.decode(lines[1]))
    bytes[52] = 0xFF
    let greedy = "\(lines[0])\n\(Base64.encode(bytes))\n"
    let table: [(String, MinisignSecretKey.Fault)] = [
      ("", .malformed(line: 1, .missing("`untrusted comment: `"))),
      (Made.publicKeyFile, .malformed(line: 2, .byteCount(found: 42, expected: 158))),
      (String(lines[0]), .malformed(line: 2, .missing("the key"))),
      (Made.secretKey + "more", .malformed(line: 3, .surplus)),
      (Made.secretKey.replacing("EIyAA", with: "EIzAA"), .malformed(line: 2, .unknownAlgorithm)),
      (Made.secretKey.replacing("RWQAA", with: "RWQAB"), .malformed(line: 2, .unknownAlgorithm)),
      (Made.secretKey.replacing("HbFUd3", with: "HbFUd4"), .damaged),
      (greedy, .tooExpensive),
    ]
    for (text, fault) in table {
      #expect(throws: fault, "\(text)") {
        try MinisignSecretKey(Array(text.utf8), password: Array("secret words".utf8))
      }
    }
  }
}
