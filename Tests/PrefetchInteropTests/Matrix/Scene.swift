import PrefetchCore
import PrefetchTestSupport

/// A request as a behavior sees it.
struct Scene: Sendable {
  var situation: Situation
  var transport = Transport.plain
  var request: LoopbackRequest
  /// Number of the request since the behavior began, from 1.
  var attempt: Int

  // MARK: Bodies

  static let old = bytes(5_000, seed: 1)
  static let oldTag = #""old""#
  static let tag = #""new""#
  private static let small = bytes(8_192, seed: 2)
  /// Large enough that half of it is worth storing.
  private static let large = bytes(2 << 20, seed: 3)

  /// The smallest body of which several ranges are requested.
  private static let huge = RangeOrigin.body(mebibytes: 64)
  static let hugeDigest = Digest.hexadecimal(huge)

  static func body(_ situation: Situation) -> [UInt8] {
    switch situation {
    case .resume: large
    case .ranges: huge
    case .first, .update, .behind, .tier, .registry: small
    }
  }

  /// The body that the server has now.
  var body: [UInt8] {
    Self.body(situation)
  }

  /// Returns printable bytes, so that no coding affects them.
  private static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
    var random = SeededRandom(seed)
    return (0..<count / 8).flatMap { _ -> [UInt8] in
      let word = random.next()
      return (0..<8).map { UInt8(ascii: "!") + UInt8(word >> ($0 * 8) & 0x3F) }
    }
  }

  // MARK: Answers

  /// Response of a correct server.
  var good: Script {
    Site([request.target: Site.Page(body, entityTag: Self.tag)]).respond(to: request)
  }

  /// Returns a correct response with the old body, for the first transfer.
  static func oldResponse(to request: LoopbackRequest) -> Script {
    Site([request.target: Site.Page(old, entityTag: oldTag)]).respond(to: request)
  }

  /// Returns the whole body with these header lines.
  func whole(_ lines: String...) -> Script {
    Script([.send(head(200, ["Content-Length: \(body.count)"] + lines) + body)])
  }

  /// A head with a status and lines as they are.
  func head(_ status: Int, _ lines: [String]) -> [UInt8] {
    Array(("HTTP/1.1 \(status) Status\r\n" + lines.map { "\($0)\r\n" }.joined() + "\r\n").utf8)
  }

  /// Returns the beginning of the good response with `count` bytes of its body.
  func cut(at count: Int, then step: Script.Step) -> Script {
    let lines = ["Content-Length: \(body.count)", "ETag: \(Self.tag)"]
    return Script([.send(head(200, lines) + body.prefix(count)), step])
  }

  /// Returns a redirect with this `Location` unchanged.
  func redirect(_ location: String, status: Int = 302) -> Script {
    .respond(status, [("Location", location)])
  }

  /// The server's own address, with which absolute URLs begin.
  var origin: String {
    "\(transport.scheme)://\(request.headers["Host"] ?? "")"
  }

  // MARK: Questions

  /// Start of the requested range; nil for the whole body.
  var offset: Int? {
    guard let range = request.headers["Range"], range.hasPrefix("bytes=") else { return nil }
    return Int(range.dropFirst(6).prefix { $0 != "-" })
  }

  var isConditional: Bool {
    request.headers["If-None-Match"] != nil || request.headers["If-Modified-Since"] != nil
  }

  /// Returns the requested part with these lines; the good response when no part is requested.
  func part(_ lines: (Int) -> [String], body: (Int) -> ArraySlice<UInt8>) -> Script {
    guard let offset else { return good }
    let bytes = Array(body(offset))
    return Script([.send(head(206, ["Content-Length: \(bytes.count)"] + lines(offset)) + bytes)])
  }

  /// Whether the client reads bodies in this coding.
  func accepts(_ coding: String) -> Bool {
    request.headers["Accept-Encoding"]?.contains(coding) ?? false
  }

  /// Returns a response with these lines and the requested bytes.
  func part(_ lines: (Int) -> [String]) -> Script {
    part(lines) { body[$0...] }
  }

  /// `bytes first-last/total` for a part up to the end.
  func range(_ first: Int, total: String? = nil) -> String {
    "Content-Range: bytes \(first)-\(body.count - 1)/\(total ?? String(body.count))"
  }
}
