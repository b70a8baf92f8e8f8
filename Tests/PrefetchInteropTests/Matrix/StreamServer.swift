import PrefetchTestSupport
import Testing

/// Frames that an HTTP/2 server sends for a request.
struct StreamScript: Sendable {
  /// The codes of RST_STREAM and GOAWAY (RFC 9113, section 7).
  enum Code: UInt32, Sendable, CaseIterable {
    case noError = 0
    case protocolError = 1
    case internalError = 2
    case flowControlError = 3
    case streamClosed = 5
    case frameSizeError = 6
    case refusedStream = 7
    case cancel = 8
    case compressionError = 9
    case enhanceYourCalm = 11
    case inadequateSecurity = 12
    case http11Required = 13
  }

  private(set) var lines: [String] = []

  private static let endOfStream: UInt8 = 1
  private static let endOfHeaders: UInt8 = 4

  /// Names and values as they are, in the plainest coding that HPACK knows.
  func headers(_ fields: [(String, String)], isLast: Bool = false) -> Self {
    var block: [UInt8] = []
    for (name, value) in fields {
      block.append(0)
      for text in [name, value] {
        block.append(UInt8(text.utf8.count))
        block += text.utf8
      }
    }
    return frame(1, Self.endOfHeaders | (isLast ? Self.endOfStream : 0), block)
  }

  /// Adds a response's head; `length` is the announced length.
  func head(_ status: Int = 200, length: Int? = nil, isLast: Bool = false) -> Self {
    let lengths = length.map { [("content-length", String($0))] } ?? []
    return headers([(":status", String(status))] + lengths, isLast: isLast)
  }

  func data(_ text: String, isLast: Bool = false) -> Self {
    data(Array(text.utf8), isLast: isLast)
  }

  func data(_ bytes: [UInt8], isLast: Bool = false) -> Self {
    frame(0, isLast ? Self.endOfStream : 0, bytes)
  }

  /// Copy that sends all frames in one TLS record.
  var inOneRecord: Self {
    var script = self
    script.lines.insert("together", at: 0)
    return script
  }

  func reset(_ code: Code) -> Self {
    frame(3, 0, Self.bytes(code.rawValue))
  }

  /// Adds a GOAWAY; `handled` is the last stream that was possibly processed.
  func goAway(_ code: Code = .noError, handled: UInt32) -> Self {
    frame(7, 0, Self.bytes(handled) + Self.bytes(code.rawValue), ofConnection: true)
  }

  func frame(_ kind: UInt8, _ flags: UInt8, _ payload: [UInt8], ofConnection: Bool = false) -> Self
  {
    let hexadecimal = payload.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
    return adding("frame \(kind) \(flags) \(ofConnection ? 0 : 1) x\(hexadecimal.joined())")
  }

  /// Closes the connection, with or without TLS's close_notify.
  func close(orderly: Bool = false) -> Self {
    adding(orderly ? "bye" : "close")
  }

  private func adding(_ line: String) -> Self {
    var script = self
    script.lines.append(line)
    return script
  }

  private static func bytes(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}

/// An HTTP/2 server over TLS that plays a script per request and repeats the last one.
///
/// HTTP/1.1 clients get a good response, or none where there is nothing to send; a HEAD gets 404.
final class StreamServer {
  static let isPossible = Tool.isInstalled("python3") && Tool.isInstalled("openssl")

  let port: Int
  private let process: RunningProgram

  /// Starts the server, which writes its certificate to `server.pem` in the working folder.
  init(_ scripts: [StreamScript], textual body: String?, in home: Home) throws {
    let response = body.map { "HTTP/1.1 200 OK\r\nContent-Length: \($0.utf8.count)\r\n\r\n\($0)" }
    home.write(response ?? "", to: "answer")
    home.write(Self.program, to: "server.py")
    home.write(
      scripts.map { $0.lines.joined(separator: "\n") }.joined(separator: "\n\n"),
      to: "plan"
    )
    let made = try home.tool(
      "openssl",
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-days",
      "2",
      "-subj",
      "/CN=127.0.0.1",
      "-addext",
      "subjectAltName=IP:127.0.0.1",
      "-keyout",
      "server.key",
      "-out",
      "server.pem"
    )
    try #require(made.status == 0, "\(made)")
    let python = try #require(Tool("python3"))
    process = try RunningProgram(
      python.path,
      ["server.py"],
      environment: home.variables,
      folder: home.work
    )
    let line = try #require(process.firstLine(), "the server did not start")
    port = try #require(Int(line))
  }

  /// Stops the server; returns the streams of the requests as `connection/stream`.
  ///
  /// `connection/text` stands for HTTP/1.1, with the path and digest of an upload.
  func stop() -> [String] {
    process.signal(15)
    return process.finish(within: 10).lines.dropFirst().map { String($0) }
  }

  /// The server only parses where frames begin and end.
  private static let program = """
    import hashlib, socket, ssl, struct, sys, threading

    scripts = [[line.split() for line in text.split("\\n") if line]
               for text in open("plan").read().split("\\n\\n")]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("server.pem", "server.key")
    context.set_alpn_protocols(["h2", "http/1.1"])
    listener = socket.create_server(("127.0.0.1", 0))
    lock = threading.Lock()
    asked = 0

    def frame(kind, flags, stream, payload):
        return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload

    def exactly(connection, count):
        data = b""
        while len(data) < count:
            piece = connection.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def play(connection, stream, number):
        global asked
        with lock:
            script = scripts[min(asked, len(scripts) - 1)]
            asked += 1
            print(f"{number}/{stream}", flush=True)
        held = b"" if script[:1] == [["together"]] else None
        for step in script:
            if step[0] == "together":
                continue
            if step[0] == "frame":
                kind, flags, isStream = int(step[1]), int(step[2]), int(step[3])
                data = frame(kind, flags, stream * isStream, bytes.fromhex(step[4][1:]))
                if held is None:
                    connection.sendall(data)
                else:
                    held += data
            else:
                connection.sendall(held or b"")
                if step[0] == "bye":
                    connection.unwrap()
                raise EOFError
        connection.sendall(held or b"")

    def speak(connection, number):
        while True:
            text = b""
            while not text.endswith(b"\\r\\n\\r\\n"):
                text += exactly(connection, 1)
            lengths = [line for line in text.lower().split(b"\\r\\n") if line.startswith(b"content-length:")]
            body = exactly(connection, int(lengths[0].split(b":")[1]) if lengths else 0)
            sent = f" {text.split()[1].decode()} {hashlib.sha256(body).hexdigest()}" if body else ""
            print(f"{number}/text{sent}", flush=True)
            answer = open("answer", "rb").read()
            if not answer:
                raise EOFError
            if text.startswith(b"HEAD"):
                answer = b"HTTP/1.1 404 Not Found\\r\\nContent-Length: 0\\r\\n\\r\\n"
            connection.sendall(answer)

    def serve(raw, number):
        connection = None
        try:
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = context.wrap_socket(raw, server_side=True)
            if connection.selected_alpn_protocol() != "h2":
                return speak(connection, number)
            exactly(connection, 24)
            connection.sendall(frame(4, 0, 0, b""))
            while True:
                head = exactly(connection, 9)
                payload = exactly(connection, int.from_bytes(head[:3], "big"))
                kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
                if kind == 4 and not flags & 1:
                    connection.sendall(frame(4, 1, 0, b""))
                elif kind == 6 and not flags & 1:
                    connection.sendall(frame(6, 1, 0, payload))
                elif kind == 1:
                    play(connection, stream, number)
        except (OSError, EOFError):
            pass
        (connection or raw).close()

    print(listener.getsockname()[1], flush=True)
    number = 0
    while True:
        raw, _ = listener.accept()
        number += 1
        threading.Thread(target=serve, args=(raw, number), daemon=True).start()

    """
}
