/// Steps of a server for one request, byte by byte.
///
/// Afterwards the connection stays open for the next request unless the script ended it.
package struct Script: Sendable {
  package enum Step: Sendable {
    case send([UInt8])
    /// Sends `size` bytes per write, each in a packet of its own.
    case drip([UInt8], size: Int)
    /// Sends the bytes again and again until the client disconnects.
    case repeatForever([UInt8])
    case pause(Gate)
    /// Waits for a gate, but no longer than this.
    case pauseAtMost(Gate, Duration)
    /// Opens a gate.
    case open(Gate)
    /// Waits for a duration, for servers whose pace matters.
    case wait(Duration)
    /// Sends nothing more until the client disconnects.
    case silence
    /// Closes the connection with FIN.
    case close
    /// Breaks the connection with RST.
    case reset
  }

  package var steps: [Step]

  package init(_ steps: [Step]) {
    self.steps = steps
  }

  /// Returns a script that sends the text unchanged, `\n` included.
  package static func raw(_ text: String, then steps: Step...) -> Script {
    Script([.send(Array(text.utf8))] + steps)
  }

  /// Returns a complete response with a Content-Length.
  package static func respond(
    _ status: Int,
    _ headers: [(String, String)] = [],
    body: [UInt8] = []
  ) -> Script {
    Script([.send(head(status, headers + [("Content-Length", String(body.count))]) + body)])
  }

  package static func respond(
    _ status: Int,
    _ headers: [(String, String)] = [],
    text: String
  ) -> Script {
    respond(status, headers, body: Array(text.utf8))
  }

  /// Returns a chunked response with one chunk per element.
  package static func chunked(
    _ status: Int = 200,
    _ headers: [(String, String)] = [],
    chunks: [[UInt8]]
  ) -> Script {
    var bytes = head(status, headers + [("Transfer-Encoding", "chunked")])
    for chunk in chunks {
      bytes += "\(String(chunk.count, radix: 16))\r\n".utf8
      bytes += chunk
      bytes += "\r\n".utf8
    }
    return Script([.send(bytes + Array("0\r\n\r\n".utf8))])
  }

  /// Returns a status line, headers and the empty line, without any length.
  package static func head(_ status: Int, _ headers: [(String, String)] = []) -> [UInt8] {
    let lines = headers.map { "\($0.0): \($0.1)\r\n" }.joined()
    return Array("HTTP/1.1 \(status) \(reason(status))\r\n\(lines)\r\n".utf8)
  }

  private static func reason(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 206: "Partial Content"
    case 304: "Not Modified"
    case 404: "Not Found"
    case 416: "Range Not Satisfiable"
    default: "Status"
    }
  }
}
