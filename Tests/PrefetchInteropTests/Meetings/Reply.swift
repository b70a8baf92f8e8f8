import PrefetchCore
import PrefetchTestSupport

/// A server's response for one path during an act of a script.
///
/// Conditions and ranges follow RFC 9110 unless the reply says otherwise. Lines are Latin-1, so
/// that `\u{E9}` is the single byte E9 on the wire.
struct Reply: Sendable {
  static let longAgo = "Mon, 01 Jan 2024 00:00:00 GMT"

  var status = 200
  /// Name of the body.
  var body = ""
  var tag: String?
  var date: String?
  /// Header lines of a response with a body.
  var lines: [String] = []
  /// Header lines of a 304; nil for the response's own lines and validators.
  var confirming: [String]?
  /// Header lines of a 206 beside its range; nil for the response's own lines and validators.
  var resuming: [String]?
  /// True where any condition is answered with 304.
  var confirmsAnything = false
  var isCoded = false
  /// Number of body bytes after which the connection ends.
  var cut: Int?
  /// Whether the connection ends before the final chunk of a complete body.
  var isEndless = false
  /// Replies by `Accept-Language`.
  var languages: [String: Reply] = [:]

  static func page(
    _ body: String,
    tag: String? = nil,
    date: String? = nil,
    _ lines: String...
  ) -> Reply {
    Reply(body: body, tag: tag, date: date, lines: lines)
  }

  static func redirect(to location: String, _ lines: String...) -> Reply {
    Reply(status: 302, lines: ["Location: \(location)"] + lines)
  }

  static func refusal(_ status: Int, _ lines: String...) -> Reply {
    Reply(status: status, lines: lines)
  }

  static func spoken(_ languages: [String: Reply]) -> Reply {
    Reply(languages: languages)
  }

  func with(_ change: (inout Reply) -> Void) -> Reply {
    var reply = self
    change(&reply)
    return reply
  }

  // MARK: Bodies

  /// Returns a body; names that begin with `film` give bodies whose half is worth storing.
  static func bytes(_ name: String) -> [UInt8] {
    switch name {
    case "film": film
    case "film-two": otherFilm
    default: Array("body of \(name)\n".utf8)
    }
  }

  private static let film = frames("one frame after the other\n")
  private static let otherFilm = frames("now with other actors\n")

  private static func frames(_ line: String) -> [UInt8] {
    Array(String(repeating: line, count: 12_000).utf8)
  }

  // MARK: Answering

  func respond(to request: LoopbackRequest) -> (status: Int, script: Script) {
    if !languages.isEmpty {
      let language = request.headers["Accept-Language"] ?? ""
      let reply = languages[language] ?? .refusal(406)
      return reply.respond(to: request)
    }
    guard status == 200 else { return (status, script(status, lines, [], request)) }
    if isUnchanged(request) { return (304, script(304, confirming ?? described, nil, request)) }
    let decoded = Self.bytes(body)
    if let first = offset(request) { return part(of: decoded, from: first, request) }
    let bytes = isCoded ? Coded.gzip(decoded) : decoded
    let coding = isCoded ? ["Content-Encoding: gzip"] : []
    return (200, script(200, described + coding, bytes, request))
  }

  private var described: [String] {
    lines + (tag.map { ["ETag: \($0)"] } ?? []) + (date.map { ["Last-Modified: \($0)"] } ?? [])
  }

  private func part(
    of bytes: [UInt8],
    from first: Int,
    _ request: LoopbackRequest
  ) -> (status: Int, script: Script) {
    guard first < bytes.count else {
      return (416, script(416, ["Content-Range: bytes */\(bytes.count)"], [], request))
    }
    let range = "Content-Range: bytes \(first)-\(bytes.count - 1)/\(bytes.count)"
    return (206, script(206, (resuming ?? described) + [range], Array(bytes[first...]), request))
  }

  /// Returns the response's script; a nil body means that none is permitted.
  private func script(
    _ status: Int,
    _ lines: [String],
    _ body: [UInt8]?,
    _ request: LoopbackRequest
  ) -> Script {
    var lines = lines
    let isEndless = status == 200 && isEndless
    if let body {
      lines.append(isEndless ? "Transfer-Encoding: chunked" : "Content-Length: \(body.count)")
    }
    let head = "HTTP/1.1 \(status) Status\r\n" + lines.map { "\($0)\r\n" }.joined() + "\r\n"
    let bytes = head.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    guard let body, request.method != "HEAD" else { return Script([.send(bytes)]) }
    if isEndless {
      let size = Array("\(String(body.count, radix: 16))\r\n".utf8)
      return Script([.send(bytes + size + body + Array("\r\n".utf8)), .close])
    }
    guard status == 200, let cut else { return Script([.send(bytes + body)]) }
    return Script([.send(bytes + body.prefix(cut)), .close])
  }

  // MARK: Conditions

  private func isUnchanged(_ request: LoopbackRequest) -> Bool {
    let condition = request.bytes(of: "If-None-Match")
    let since = request.bytes(of: "If-Modified-Since")
    guard condition != nil || since != nil else { return false }
    if confirmsAnything { return true }
    if let condition { return tag.map { Self.opaque($0) == Self.opaque(condition) } ?? false }
    return since == date
  }

  private static func opaque(_ tag: String) -> Substring {
    tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
  }

  private func offset(_ request: LoopbackRequest) -> Int? {
    guard let range = request.headers["Range"], range.hasPrefix("bytes=") else { return nil }
    if let condition = request.headers["If-Range"], condition != tag, condition != date {
      return nil
    }
    return Int(range.dropFirst(6).prefix { $0 != "-" })
  }
}

extension LoopbackRequest {
  /// The value of a header with each byte as the character of that number.
  func bytes(of name: String) -> String? {
    let lines = head.split(separator: UInt8(ascii: "\n")).map { line in
      String(String.UnicodeScalarView(line.filter { $0 != 13 }.map { Unicode.Scalar($0) }))
    }
    let start = "\(name.lowercased()):"
    guard let line = lines.first(where: { $0.lowercased().hasPrefix(start) }) else { return nil }
    return String(line.dropFirst(start.count).drop { $0 == " " })
  }
}
