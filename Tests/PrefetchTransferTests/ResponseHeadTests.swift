import PrefetchCore
import Testing

@testable import PrefetchTransfer

@Suite("Heads of responses")
struct ResponseHeadTests {
  /// Feeds a text line by line, ends included.
  private func head(_ text: String) throws(ResponseFault) -> ResponseHead? {
    let parser = ResponseHeadParser()
    var line: [UInt8] = []
    var found: ResponseHead?
    for byte in text.utf8 {
      line.append(byte)
      guard byte == UInt8(ascii: "\n") else { continue }
      if let head = unsafe try parser.receive(line.span.bytes) { found = head }
      line = []
    }
    return found
  }

  @Test("Header fields keep their order, spelling and values")
  func fields() throws {
    let head = try #require(
      try head("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nx-B:\t two words \r\nEmpty:\r\n\r\n")
    )
    #expect(head.version == .http11)
    #expect(head.status == 200)
    let expected = [
      HeaderField("ETag", "\"a\""), HeaderField("x-B", "two words"), HeaderField("Empty", ""),
    ]
    #expect(head.headers.fields == expected)
  }

  @Test("Only the last head counts, and trailers are ignored")
  func informational() throws {
    let text = "HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\nHTTP/1.1 204 None\r\nA: 1\r\n\r\nB: 2\r\n"
    let head = try #require(try head(text))
    #expect(head.status == 204)
    #expect(head.headers.fields == [HeaderField("A", "1")])
  }

  @Test(
    "The framing of the body follows from version and headers",
    arguments: [
      ("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", ResponseHead.Framing.length(7)),
      ("HTTP/1.1 200 OK\r\nContent-Length: 7\r\ncontent-length: 7\r\n\r\n", .length(7)),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n", .chunked),
      ("HTTP/1.1 200 OK\r\n\r\n", .untilClose),
      ("HTTP/1.0 200 OK\r\n\r\n", .untilClose),
      ("HTTP/2 200 \r\n\r\n", .stream),
      ("HTTP/2 200\r\ncontent-length: 0\r\n\r\n", .length(0)),
    ]
  )
  func framing(text: String, expected: ResponseHead.Framing) throws {
    #expect(try head(text)?.framing == expected)
  }

  @Test(
    "An ambiguous head is refused",
    arguments: [
      ("HTTP/1.1 200 OK\n", ResponseFault.lineEnd),
      ("HTTP/2 200 \r\nA: 1\r\n\r\nHTTP/1.1 200 OK\r\n", .secondHead),
      ("HTTP/1.1 200 OK\r\nA: 1\n", .lineEnd),
      ("HTTP/1.1 999 Odd\r\n", .status(999)),
      ("HTTP/1.1 20 OK\r\n", .statusLine("HTTP/1.1 20 OK")),
      ("HTTP/1.1 0x1 OK\r\n", .statusLine("HTTP/1.1 0x1 OK")),
      ("HTTP/1.1 101 Switch\r\n\r\n", .protocolSwitch),
      ("HTTP/1.1 200 OK\r\nA: 1\r\n b\r\n", .foldedLine),
      ("HTTP/1.1 200 OK\r\nContent-Length : 5\r\n", .fieldName("Content-Length ")),
      ("HTTP/1.1 200 OK\r\n: 5\r\n", .fieldName("")),
      ("HTTP/1.1 200 OK\r\nno colon\r\n", .fieldName("no colon")),
      ("HTTP/1.1 200 OK\r\nA: b\u{0}c\r\n", .controlCharacter(field: "A")),
      ("HTTP/1.1 200 OK\r\nA: b\rc\r\n", .controlCharacter(field: "A")),
      (
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        .contentLength("5, 6")
      ),
      ("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n", .contentLength("5, 5")),
      ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", .contentLength("-1")),
      ("HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n", .contentLength("+1")),
      ("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", .contentLength("")),
      (
        "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\n",
        .contentLength("9223372036854775808")
      ),
      (
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        .lengthAndTransferCoding
      ),
      (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        .transferCoding("gzip, chunked")
      ),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n", .transferCoding("identity")),
      ("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", .transferCoding("chunked")),
    ]
  )
  func refused(text: String, fault: ResponseFault) {
    #expect(throws: fault) { try head(text) }
  }

  @Test("Header names have only the characters of a token", arguments: UInt8.min...UInt8.max)
  func tokenCharacters(byte: UInt8) {
    let letters = "abcdefghijklmnopqrstuvwxyz"
    let tokens = "!#$%&'*+-.^_`|~0123456789\(letters)\(letters.uppercased())"
    #expect(HeaderBytes.isToken(byte) == tokens.utf8.contains(byte))
  }

  @Test("A control character is found anywhere in a value", arguments: 0..<20)
  func controlCharacters(index: Int) {
    for byte in UInt8.min...UInt8.max {
      var value = Array(repeating: UInt8(ascii: "v"), count: 20)
      value[index] = byte
      let isHarmless = byte == 0x09 || (byte >= 0x20 && byte != 0x7F)
      #expect(unsafe HeaderBytes.areValue(value.span.bytes) == isHarmless)
    }
  }

  @Test(
    "Only supported versions are read",
    arguments: [
      "HTTP/1", "HTTP/1.", "HTTP/.1", "HTTP/1.2", "HTTP/0.9", "HTTP/1.10", "HTTP/22", "HTTP/",
    ]
  )
  func versions(version: String) {
    let line = "\(version) 200 OK"
    #expect(throws: ResponseFault.statusLine(line)) { try head("\(line)\r\n\r\n") }
  }

  @Test("Headers have limits, over all heads together")
  func bounds() {
    let many = String(repeating: "A: 1\r\n", count: ResponseHeadParser.maximumFields + 1)
    #expect(throws: ResponseFault.tooManyFields) { try head("HTTP/1.1 200 OK\r\n\(many)\r\n") }
    let endless = String(repeating: "HTTP/1.1 100 Go on\r\n\r\n", count: 10_000)
    #expect(throws: ResponseFault.tooManyBytes) { try head(endless) }
  }

  @Test("Codings are listed without `identity`, in any spelling")
  func codings() throws {
    let text = "HTTP/1.1 200 OK\r\nContent-Encoding: identity, GZip\r\nContent-Encoding: br\r\n\r\n"
    #expect(try head(text)?.codings == ["gzip", "br"])
  }
}
