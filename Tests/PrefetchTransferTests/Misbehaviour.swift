import PrefetchCore
import PrefetchTestSupport
import Testing

/// An invalid response with the expected failure.
struct Misbehaviour: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var script: Script
  var code: ErrorCode

  var isTransient: Bool {
    code.category == .connectivity
  }

  init(_ description: String, _ code: ErrorCode, _ script: Script) {
    testDescription = description
    self.script = script
    self.code = code
  }

  init(_ description: String, _ code: ErrorCode, head: String, body: String = "hello") {
    self.init(description, code, .raw("HTTP/1.1 200 OK\r\n\(head)\r\n\(body)", then: .close))
  }

  static let all: [Misbehaviour] = framing + chunks + heads + cutBodies

  /// A body in chunks that are written as given.
  private init(
    _ description: String,
    _ code: ErrorCode,
    chunks: String,
    then end: Script.Step = .close
  ) {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    self.init(description, code, .raw(head + chunks, then: end))
  }

  /// Creates a chunked response with these trailer lines.
  private init(_ description: String, _ code: ErrorCode, trailers: String) {
    self.init(description, code, chunks: "5\r\nhello\r\n0\r\n\(trailers)\r\n")
  }

  private static let chunks: [Misbehaviour] = [
    Misbehaviour("an empty chunk size", .badResponse, chunks: "\r\nhello\r\n0\r\n\r\n"),
    Misbehaviour("a negative chunk size", .badResponse, chunks: "-5\r\nhello\r\n0\r\n\r\n"),
    Misbehaviour(
      "a chunk size beyond 64 bits",
      .badResponse,
      chunks: "FFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n"
    ),
    Misbehaviour(
      "a chunk longer than it says",
      .badResponse,
      chunks: "3\r\nhello\r\n0\r\n\r\n"
    ),
    Misbehaviour("a chunk size after a blank", .badResponse, chunks: " 5\r\nhello\r\n0\r\n\r\n"),
    Misbehaviour("a chunk size with a sign", .badResponse, chunks: "+5\r\nhello\r\n0\r\n\r\n"),
    Misbehaviour(
      "a chunk size of 17 digits",
      .badResponse,
      chunks: "00000000000000005\r\nhello\r\n0\r\n\r\n"
    ),
    Misbehaviour(
      "a chunk size of 2 to the 63",
      .badResponse,
      chunks: "8000000000000000\r\nhello\r\n0\r\n\r\n"
    ),
    Misbehaviour(
      "the largest chunk size",
      .badResponse,
      chunks: "FFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n"
    ),
    Misbehaviour(
      "a chunk that no line end follows",
      .badResponse,
      chunks: "5\r\nhello0\r\n\r\n"
    ),
    Misbehaviour("a trailer without a colon", .badResponse, trailers: "nothing\r\n"),
    Misbehaviour("a trailer without a name", .badResponse, trailers: ": b\r\n"),
    Misbehaviour("a trailer that is a zero byte", .badResponse, trailers: "\0\r\n"),
    Misbehaviour("a zero byte in a trailer's name", .badResponse, trailers: "A\0: b\r\n"),
    Misbehaviour("a zero byte in a trailer", .badResponse, trailers: "A: b\0c\r\n"),
    Misbehaviour("a folded first trailer", .badResponse, trailers: " A: b\r\n"),
    Misbehaviour("a folded trailer", .badResponse, trailers: "A: b\r\n c\r\n"),
    Misbehaviour("a carriage return in a trailer", .badResponse, trailers: "A: b\rc\r\n"),
    Misbehaviour(
      "a trailer of 5,000 bytes",
      .badResponse,
      trailers: "A: \(String(repeating: "a", count: 5_000))\r\n"
    ),
    Misbehaviour(
      "a trailer of 200,000 bytes",
      .badResponse,
      trailers: "A: \(String(repeating: "a", count: 200_000))\r\n"
    ),
    Misbehaviour(
      "1,000 trailers",
      .badResponse,
      trailers: String(repeating: "A: \(String(repeating: "a", count: 200))\r\n", count: 1_000)
    ),
    Misbehaviour("an end that is no end", .truncated, chunks: "5\r\nhello\r\n0\r\n"),
    Misbehaviour("an end within a trailer", .truncated, chunks: "5\r\nhello\r\n0\r\nA: b"),
    Misbehaviour("an end between trailers", .truncated, chunks: "5\r\nhello\r\n0\r\nA: b\r\n"),
    Misbehaviour("an end within a chunk size", .truncated, chunks: "5"),
    Misbehaviour("a reset within a chunk", .reset, chunks: "9\r\nhello", then: .reset),
    Misbehaviour("a reset within a trailer", .reset, chunks: "5\r\nhello\r\n0\r\nA", then: .reset),
    Misbehaviour(
      "endless trailers",
      .badResponse,
      Script([
        .send(Script.head(200, [("Transfer-Encoding", "chunked")])),
        .send(Array("5\r\nhello\r\n0\r\n".utf8)),
        .repeatForever(Array("A: b\r\n".utf8)),
      ])
    ),
  ]

  private static let framing: [Misbehaviour] = [
    Misbehaviour("two lengths", .badResponse, head: "Content-Length: 5\r\nContent-Length: 4\r\n"),
    Misbehaviour("a negative length", .badResponse, head: "Content-Length: -5\r\n"),
    Misbehaviour(
      "a length beyond 64 bits",
      .badResponse,
      head: "Content-Length: 99999999999999999999\r\n"
    ),
    Misbehaviour(
      "a length and chunks",
      .badResponse,
      head: "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
      body: "5\r\nhello\r\n0\r\n\r\n"
    ),
    Misbehaviour("a length in hexadecimal", .badResponse, head: "Content-Length: 0x5\r\n"),
    Misbehaviour("a signed length", .badResponse, head: "Content-Length: +5\r\n"),
    Misbehaviour("a list of lengths", .badResponse, head: "Content-Length: 5, 5\r\n"),
    Misbehaviour(
      "chunks twice",
      .badResponse,
      head: "Transfer-Encoding: chunked, chunked\r\n",
      body: "5\r\nhello\r\n0\r\n\r\n"
    ),
    Misbehaviour(
      "chunks of HTTP/1.0",
      .badResponse,
      .raw("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", then: .close)
    ),
    Misbehaviour("an unknown transfer coding", .badResponse, head: "Transfer-Encoding: cats\r\n"),
    Misbehaviour(
      "chunk sizes that are no numbers",
      .badResponse,
      head: "Transfer-Encoding: chunked\r\n",
      body: "zz\r\nhello\r\n"
    ),
    Misbehaviour(
      "an unknown content coding",
      .badResponse,
      head: "Content-Encoding: cats\r\nContent-Length: 5\r\n"
    ),
    Misbehaviour(
      "two content codings",
      .badResponse,
      head: "Content-Encoding: gzip, gzip\r\nContent-Length: 5\r\n"
    ),
    Misbehaviour(
      "a coding that the body does not have",
      .badResponse,
      head: "Content-Encoding: gzip\r\nContent-Length: 5\r\n"
    ),
  ]

  private static let heads: [Misbehaviour] = [
    Misbehaviour("a space before the colon", .badResponse, head: "Content-Length : 5\r\n"),
    Misbehaviour("a header without a name", .badResponse, head: ": x\r\nContent-Length: 5\r\n"),
    Misbehaviour("a control in a header", .badResponse, head: "A: \u{1}\r\nContent-Length: 5\r\n"),
    Misbehaviour("a folded header", .badResponse, head: "A: b\r\n c\r\nContent-Length: 5\r\n"),
    Misbehaviour("bare line feeds", .badResponse, .raw("HTTP/1.1 200 OK\nContent-Length: 1\n\nx")),
    Misbehaviour("status 999", .badResponse, .raw("HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n")),
    Misbehaviour("no HTTP at all", .badResponse, .raw("SSH-2.0-OpenSSH_9.2\r\n", then: .close)),
    Misbehaviour("an unknown version", .badResponse, .raw("HTTP/7.3 200 OK\r\n\r\n", then: .close)),
    Misbehaviour(
      "HTTP/2 that was not agreed upon",
      .badResponse,
      .raw("HTTP/2 200 \r\ncontent-length: 5\r\n\r\nhello")
    ),
    Misbehaviour("a blank first", .badResponse, head: " A: b\r\nContent-Length: 5\r\n"),
    Misbehaviour(
      "an unasked 206",
      .badResponse,
      .respond(206, [("Content-Range", "bytes 0-0/5")], text: "h")
    ),
    Misbehaviour("an unasked 304", .badResponse, .raw("HTTP/1.1 304 Not Modified\r\n\r\n")),
    Misbehaviour(
      "an unasked switch of protocols",
      .badResponse,
      .raw("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nx", then: .close)
    ),
    Misbehaviour(
      "one huge header",
      .badResponse,
      head: "A: \(String(repeating: "a", count: 200_000))\r\n"
    ),
    Misbehaviour(
      "endless headers",
      .badResponse,
      Script([.send(Array("HTTP/1.1 200 OK\r\n".utf8)), .repeatForever(Array("A: b\r\n".utf8))])
    ),
    Misbehaviour(
      "endless informational heads",
      .badResponse,
      Script([.repeatForever(Array("HTTP/1.1 100 Go on\r\n\r\n".utf8))])
    ),
  ]

  private static let cutBodies: [Misbehaviour] = [
    Misbehaviour("fewer bytes than announced", .truncated, head: "Content-Length: 6\r\n"),
    Misbehaviour(
      "a cut chunk",
      .truncated,
      head: "Transfer-Encoding: chunked\r\n",
      body: "9\r\nhello"
    ),
    Misbehaviour(
      "no last chunk",
      .truncated,
      head: "Transfer-Encoding: chunked\r\n",
      body: "5\r\nhello\r\n"
    ),
    Misbehaviour("an end that only the connection marks", .truncated, head: ""),
    Misbehaviour(
      "an HTTP/1.0 body without a length",
      .truncated,
      .raw("HTTP/1.0 200 OK\r\n\r\nhello", then: .close)
    ),
    Misbehaviour("no answer", .reset, Script([.close])),
    Misbehaviour("a reset before the answer", .reset, Script([.reset])),
    Misbehaviour("half a head", .reset, .raw("HTTP/1.1 200 OK\r\nContent-", then: .close)),
    Misbehaviour(
      "a reset within the head",
      .reset,
      .raw("HTTP/1.1 200 OK\r\nA: b\r\n", then: .reset)
    ),
  ]
}
