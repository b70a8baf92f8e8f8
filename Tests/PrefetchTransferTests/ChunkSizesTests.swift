import Testing

@testable import PrefetchTransfer

@Suite("Sizes of chunks")
struct ChunkSizesTests {
  @Test(
    "Chunk sizes are read as RFC 9112 defines them, with blanks after them",
    arguments: [
      "5\r\nhello\r\n0\r\n\r\n", "5;a=b\r\nhello\r\n0;c\r\n\r\n",
      "5 \t\r\nhello\r\n00 \r\nA: b\r\n\r\n",
      "a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", "5\nhello\n0\n\n", "0\r\n0x5\r\n\r\n",
      "0000000000000005\r\nhello\r\n0\r\n\r\n",
    ]
  )
  func sizes(text: String) {
    #expect(read(text, by: text.utf8.count) == nil)
    for size in 1...3 { #expect(read(text, by: size) == nil) }
  }

  @Test(
    "Invalid chunk sizes are quoted",
    arguments: [
      ("0x5\r\nhello\r\n0\r\n\r\n", "0x5"), ("5g\r\nhello", "5g"), ("\r\n", ""), ("-5\r\n", "-5"),
      ("5\r\nhello\r\n0x0\r\n\r\n", "0x0"), ("5\r\nhello\r\n\r\n", ""), ("+5\r\n", "+5"),
      (String(repeating: "0", count: 99), String(repeating: "0", count: 32)),
    ]
  )
  func noSizes(text: String, quoted: String) {
    #expect(read(text, by: text.utf8.count) == quoted)
    // Read byte by byte, the quoted text ends where it stops being a size.
    let found = read(text, by: 1)
    #expect(found.map { quoted.hasPrefix($0) } == true)
  }

  private func read(_ text: String, by size: Int) -> String? {
    var sizes = ChunkSizes()
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
      let piece = Array(bytes[start..<min(start + size, bytes.count)])
      if let word = unsafe sizes.read(piece.span.bytes) { return word }
    }
    return nil
  }
}
