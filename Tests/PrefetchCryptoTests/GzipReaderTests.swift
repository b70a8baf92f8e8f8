import PrefetchCore
import Testing

@testable import PrefetchCrypto

@Suite("Gzip")
struct GzipReaderTests {
  private static let text = "hello, compressed world\n"
  /// The text, compressed by `gzip -9 -n`.
  private static let coded: [UInt8] = [
    0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0xD7,
    0x51, 0x48, 0xCE, 0xCF, 0x2D, 0x28, 0x4A, 0x2D, 0x2E, 0x4E, 0x4D, 0x51, 0x28, 0xCF, 0x2F, 0xCA,
    0x49, 0xE1, 0x02, 0x00, 0x3F, 0xBA, 0x39, 0x3C, 0x18, 0x00, 0x00, 0x00,
  ]

  /// Returns the output and whether the stream is complete; nil after a fault.
  private func read(_ pieces: [ArraySlice<UInt8>]) throws -> (text: String, isWhole: Bool)? {
    let reader = try GzipReader()
    var bytes: [UInt8] = []
    for piece in pieces {
      let fault = try unsafe reader.read(piece.span.bytes) { made in
        unsafe made.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
      }
      guard fault == nil else { return nil }
    }
    return (String(decoding: bytes, as: UTF8.self), reader.isWhole)
  }

  @Test("A stream reads the same wherever it is cut into pieces", arguments: 0...coded.count)
  func pieces(cut: Int) throws {
    let read = try #require(try read([Self.coded[..<cut], Self.coded[cut...]]))
    #expect(read.text == Self.text)
    #expect(read.isWhole)
  }

  @Test("A truncated stream is never complete", arguments: 1..<coded.count)
  func tooShort(count: Int) throws {
    let read = try read([Self.coded[..<count]])
    #expect(read?.isWhole != true)
  }

  @Test("An empty input is an empty body")
  func empty() throws {
    let read = try #require(try read([]))
    #expect(read.text.isEmpty)
    #expect(read.isWhole)
  }

  @Test("Consecutive members are one body")
  func members() throws {
    let both = Self.coded + Self.coded
    for cut in 0...both.count {
      let read = try #require(try read([both[..<cut], both[cut...]]))
      #expect(read.text == Self.text + Self.text)
      #expect(read.isWhole)
    }
  }

  @Test("Bytes after the stream are a fault", arguments: ["j", "junk", "a longer piece of junk"])
  func junk(text: String) throws {
    let read = try read([Self.coded[...], Array(text.utf8)[...]])
    #expect(read?.isWhole != true)
  }

  @Test("No byte of the checksum, the size or the magic number may differ")
  func changed() throws {
    for index in Array(0..<3) + Array(Self.coded.count - 8..<Self.coded.count) {
      var damaged = Self.coded
      damaged[index] ^= 0x10
      let read = try read([damaged[...]])
      #expect(read == nil, "byte \(index)")
    }
  }

  @Test("A small stream may produce more than one chunk")
  func growth() throws {
    // A deflate block of 4 MiB of zeros in runs of 258.
    var bits: [UInt8] = []
    func append(_ value: UInt32, _ count: Int) {
      for bit in (0..<count).reversed() { bits.append(UInt8(value >> UInt32(bit) & 1)) }
    }
    bits += [1, 1, 0]
    append(0x30, 8)
    for _ in 0..<16_256 {
      append(0xC5, 8)
      append(0, 5)
    }
    append(0, 7)
    while bits.count % 8 != 0 { bits.append(0) }
    let deflated = stride(from: 0, to: bits.count, by: 8).map { start in
      (0..<8).reduce(UInt8(0)) { $0 | bits[start + $1] << UInt8($1) }
    }
    let reader = try GzipReader()
    var count = 0
    let stream = Self.coded.prefix(10) + deflated
    let fault = try unsafe reader.read(stream.span.bytes) {
      count += $0.byteCount
    }
    #expect(fault == nil)
    #expect(count == 1 + 16_256 * 258)
    #expect(!reader.isWhole)
  }

  @Test("A failure of the receiver ends the reading")
  func refused() throws {
    let reader = try GzipReader()
    #expect(throws: Failure(.diskFull, "full")) {
      _ = try unsafe reader.read(Self.coded.span.bytes) { _ throws(Failure) in
        throw Failure(.diskFull, "full")
      }
    }
  }
}
