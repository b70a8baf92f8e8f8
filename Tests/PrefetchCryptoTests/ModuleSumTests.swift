import PrefetchCore
import PrefetchTestSupport
import Testing

@testable import PrefetchCrypto

@Suite("Sums of Go's modules")
struct ModuleSumTests {
  /// A module of two files as a zip file, whose sum Go itself verified.
  static let zip: [UInt8] =
    Base64.decode(
      """
      UEsDBBQAAAAIAO4wdl0T51s9IwAAACEAAAAeAAAAZXhhbXBsZS5jb20vTGVmdEB2MS4wLjAvZ28ubW9ky81PKc1JVUitSMwt\
      yEnVS87P1fdJTSvh4krPVzDUM7TkAgBQSwMEFAAAAAgA7jB2XU0fVncwAAAAMgAAAB8AAABleGFtcGxlLmNvbS9MZWZ0QHYx\
      LjAuMC9sZWZ0LmdvK0hMzk5MT1XISU0r4UorzUtW8AGyNDQVikuKMvPSFaoVilJLSovyFJRAKpQUarkAUEsBAhQDFAAAAAgA\
      7jB2XRPnWz0jAAAAIQAAAB4AAAAAAAAAAAAAAIABAAAAAGV4YW1wbGUuY29tL0xlZnRAdjEuMC4wL2dvLm1vZFBLAQIUAxQA\
      AAAIAO4wdl1NH1Z3MAAAADIAAAAfAAAAAAAAAAAAAACAAV8AAABleGFtcGxlLmNvbS9MZWZ0QHYxLjAuMC9sZWZ0LmdvUEsF\
      BgAAAAACAAIAmQAAAMwAAAAAAA==
      """
    ) ?? []
  static let sum: String = "KfczR8qVcRBMbRG4ss6Gw2N2Sb+Qp9Aa3VfKM5EkroI="

  private static func sum(
    _ bytes: [UInt8],
    limit: Int64 = ModuleSum.maximumBytes
  ) -> Result<String, ZipReader.Fault> {
    do throws(ZipReader.Fault) {
      let sum = try ModuleSum.ofZip(unsafe bytes.span.bytes, maximumBytes: limit)
      return .success(Base64.encode(sum))
    } catch {
      return .failure(error)
    }
  }

  @Test("A module's zip file has the sum that Go computes")
  func wholeFile() {
    #expect(Self.sum(Self.zip) == .success(Self.sum))
  }

  @Test("Only the files of a module count, not their packing or order")
  func packing() {
    let files = [
      ("example.com/Left@v1.0.0/left.go", "package left\nfunc Left() string { return \"left\" }\n"),
      ("example.com/Left@v1.0.0/go.mod", "module example.com/Left\n\ngo 1.19\n"),
    ]
    #expect(Self.sum(Archive(files).bytes) == .success(Self.sum))
    #expect(
      Self.sum(Archive(files.reversed(), comment: "PK\u{5}\u{6}").bytes) == .success(Self.sum)
    )
    #expect(Self.sum(Archive(Array(files.prefix(1))).bytes) != .success(Self.sum))
  }

  @Test("A go.mod alone has a sum too")
  func goMod() {
    let text = Array("module example.com/Left\n\ngo 1.19\n".utf8)
    #expect(
      Base64.encode(ModuleSum.ofGoMod(unsafe text.span.bytes))
        == "7c/VL1xfRKDNXqFI0UI0G8diX/Rl3hpM0eRTYAFUBgU="
    )
  }

  @Test("A truncated zip file has no sum", arguments: 0..<zip.count)
  func truncated(_ count: Int) {
    guard case .failure = Self.sum(Array(Self.zip[..<count])) else {
      Issue.record("\(count) bytes have a sum")
      return
    }
  }

  @Test("A modified archive mostly has no sum and never crashes the reader")
  func mutations() {
    var mutator = Mutator(seed: 0x21B, samples: [Self.zip])
    let rounds = Campaign.documents(usually: 3_000)
    var refused = 0
    for _ in 0..<rounds {
      if case .failure = Self.sum(mutator.next(), limit: 1 << 20) { refused += 1 }
    }
    #expect(refused > rounds / 2)
  }

  @Test("A changed byte of a file or of its name gives another sum or none")
  func changed() {
    var random = SystemRandomNumberGenerator()
    // The first file's content without the padding bits of its last byte, and its name.
    for index in Array(60..<94) + Array(0xFA..<0x118) {
      var bytes = Self.zip
      bytes[index] ^= UInt8.random(in: 1...255, using: &random)
      #expect(Self.sum(bytes) != .success(Self.sum), "byte \(index)")
    }
  }

  @Test("An archive with a changed byte has a valid sum or none")
  func spoilt() {
    for index in Self.zip.indices {
      for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
        var bytes = Self.zip
        bytes[index] = value
        if case .success(let sum) = Self.sum(bytes) { #expect(sum.utf8.count == 44) }
      }
    }
  }

  @Test("An archive that would unpack to too much is refused first")
  func bombs() {
    let large = String(repeating: "x", count: 1000)
    #expect(Self.sum(Archive([("a", large)]).bytes, limit: 999) == .failure(.tooLarge(999)))
    // A declared size counts as much as a real one.
    var claims = Archive([("a", "x")])
    claims.claimedSize = 0x7FFF_0000
    let bound = Int64(claims.bytes.count) * 1000
    #expect(Self.sum(claims.bytes) == .failure(.tooLarge(bound)))
    // A stream that exceeds its declared size is cut off.
    var bytes = Self.zip
    let directory = 0xCC
    bytes[directory + 24] = 3
    #expect(Self.sum(bytes) == .failure(.damaged))
  }

  @Test("An ambiguous archive is refused")
  func doubtful() {
    #expect(Self.sum([]) == .failure(.noDirectory))
    #expect(Self.sum(Array("not a zip file at all, not at all".utf8)) == .failure(.noDirectory))
    #expect(Self.sum(Archive([("a", "1"), ("a", "2")]).bytes) == .failure(.twoFilesOfOneName))
    #expect(Self.sum(Archive([("a\nb", "1")]).bytes) == .failure(.badName))
    var coded = Archive([("a", "1")])
    coded.method = 12
    #expect(Self.sum(coded.bytes) == .failure(.unsupported))
    var secret = Archive([("a", "1")])
    secret.flags = 1
    #expect(Self.sum(secret.bytes) == .failure(.unsupported))
  }
}

/// A zip file of files that are not compressed.
private struct Archive {
  var files: [(String, String)]
  var comment = ""
  var method: UInt16 = 0
  var flags: UInt16 = 0
  var claimedSize: UInt32?

  init(_ files: [(String, String)], comment: String = "") {
    self.files = files
    self.comment = comment
  }

  var bytes: [UInt8] {
    var body: [UInt8] = []
    var directory: [UInt8] = []
    for (name, content) in files {
      let offset = UInt32(body.count)
      let sizes =
        Self.bytes(UInt32(0)) + Self.bytes(UInt32(content.utf8.count))
        + Self.bytes(claimedSize ?? UInt32(content.utf8.count))
      let common =
        Self.bytes(UInt16(20)) + Self.bytes(flags) + Self.bytes(method)
        + [0, 0, 0, 0] + sizes + Self.bytes(UInt16(name.utf8.count)) + Self.bytes(UInt16(0))
      body += [0x50, 0x4B, 3, 4] + common + name.utf8 + content.utf8
      directory += [0x50, 0x4B, 1, 2, 20, 0] + common + [UInt8](repeating: 0, count: 10)
      directory += Self.bytes(offset) + name.utf8
    }
    let count = Self.bytes(UInt16(files.count))
    let end: [UInt8] = [0x50, 0x4B, 5, 6, 0, 0, 0, 0] + count + count
    let extents = Self.bytes(UInt32(directory.count)) + Self.bytes(UInt32(body.count))
    return body + directory + end + extents + Self.bytes(UInt16(comment.utf8.count)) + comment.utf8
  }

  private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
    (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}
