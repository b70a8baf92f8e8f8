import PrefetchCore
import PrefetchTestSupport

/// A server's reply that a seed composes of parts; it never claims that another body is whole.
struct ComposedReply: Sendable {
  private enum Framing: String, CaseIterable {
    case length, chunked, extended, short, excess, twice, contradicting, both, closed, open
  }

  private enum Coding: String, CaseIterable {
    case identity, gzip, damaged, untrue
  }

  private enum End: String, CaseIterable {
    case whole, closed, cut, broken, silent
  }

  /// Number of redirects before the reply.
  private let hops: Int
  private let redirect: Int
  private let status: Int
  private let framing: Framing
  private let coding: Coding
  private let end: End
  private let isDripping: Bool
  /// Whether only the first attempt is spoiled.
  private let isMended: Bool
  private let lines: [String]
  /// Decides about offsets.
  private let seed: UInt64
  let body: [UInt8]

  /// Status, framing, coding and end: what the reply is made of.
  var kind: String {
    "\(hops > 0 ? "redirected " : "")\(status) \(framing) \(coding) \(end)"
  }

  init(seed: UInt64, number: Int) {
    var random = SeededRandom(mixing: [Int(truncatingIfNeeded: seed), number])
    body = (0..<Int.random(in: 2...6_000, using: &random)).map { _ in
      UInt8.random(in: 0x21...0x7E, using: &random)
    }
    hops = random.happens(75) ? 0 : Int.random(in: 1...7, using: &random)
    redirect = [301, 302, 303, 307, 308].randomElement(using: &random) ?? 302
    let statuses = [203, 204, 206, 304, 400, 404, 410, 412, 416, 429, 500, 503, 999]
    status = random.happens(70) ? 200 : statuses.randomElement(using: &random) ?? 200
    let isUsual = random.happens(40)
    framing = isUsual ? .length : Framing.allCases.randomElement(using: &random) ?? .length
    let isPlain = random.happens(60)
    coding = isPlain ? .identity : Coding.allCases.randomElement(using: &random) ?? .identity
    end = random.happens(70) ? .whole : End.allCases.randomElement(using: &random) ?? .whole
    isDripping = random.happens(10)
    isMended = random.happens(50)
    lines = Self.headers.filter { _ in random.happens(12) }
    self.seed = random.next()
  }

  private static let headers = [
    #"ETag: "a""#, #"ETag: W/"b""#, "ETag: none", "ETag: *", "Accept-Ranges: bytes",
    "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT", "Last-Modified: Fri, 31 Dec 2100 00:00:00 GMT",
    "Last-Modified: never", "Date: Thu, 01 Jan 1970 00:00:00 GMT", "Age: 99999999999999999999",
    "Cache-Control: max-age=60", "Cache-Control: no-store", "Cache-Control: max-age=-1, \"",
    "Expires: 0", "Vary: *", "Vary: Accept-Encoding, X-None", "Content-Type: text/html",
    "Content-Type: ;;", "Content-Language: en", "Content-Location: /other", "Retry-After: 0",
    "Retry-After: soon", "Set-Cookie: a=b", "Alt-Svc: h3=\":1\"", "Content-Range: bytes 0-4/5",
    "Link: </a>; rel=preload", "Via: 1.0 a", "Warning: 110 - \"old\"", "Trailer: ETag", "X-Empty:",
  ]

  /// Returns the script of an attempt at a path below `/NUMBER`, such as `/NUMBER/2` for the
  /// second redirect's target.
  func script(at hop: Int, attempt: Int, acceptsGzip: Bool) -> Script {
    var random = SeededRandom(seed &+ UInt64(attempt))
    guard hop >= hops else {
      let location =
        ["\(hop + 1)", "./x/../\(hop + 1)", "\(hop + 1)#part"]
        .randomElement(using: &random) ?? ""
      // Targets are relative to a folder named by the item.
      return .respond(redirect, [("Location", location)], text: "moved")
    }
    let isSpoiled = !isMended || attempt == 1
    var bytes = body
    var head = lines
    if coding == .gzip || coding == .damaged, acceptsGzip {
      bytes = Coded.gzip(body)
      head.append("Content-Encoding: gzip")
      if coding == .damaged, isSpoiled {
        bytes[Int.random(in: 10..<bytes.count, using: &random)] ^= 0x40
      }
    } else if coding == .untrue, isSpoiled {
      head.append("Content-Encoding: gzip")
    }
    let wire = framed(bytes, &head, isSpoiled, &random)
    let text = "HTTP/1.1 \(status) Status\r\n" + head.map { "\($0)\r\n" }.joined() + "\r\n"
    return ended(Array(text.utf8) + wire, isSpoiled, &random)
  }

  private func framed(
    _ bytes: [UInt8],
    _ head: inout [String],
    _ isSpoiled: Bool,
    _ random: inout SeededRandom
  ) -> [UInt8] {
    let count = bytes.count
    switch isSpoiled ? framing : .length {
    case .length: head.append("Content-Length: \(count)")
    case .short: head.append("Content-Length: \(count + 1 + Int(random.next() % 9))")
    // Alone, the bytes before the last one are a whole body.
    case .excess: head.append("Content-Length: \(isDripping ? count : count - 1)")
    case .twice: head += ["Content-Length: \(count)", "Content-Length: \(count)"]
    case .contradicting: head += ["Content-Length: \(count)", "Content-Length: \(count - 1)"]
    case .both:
      head += ["Content-Length: \(count)", "Transfer-Encoding: chunked"]
      return Self.chunks(bytes, "", &random)
    case .chunked:
      head.append("Transfer-Encoding: chunked")
      return Self.chunks(bytes, "", &random)
    case .extended:
      head.append("Transfer-Encoding: chunked")
      return Self.chunks(bytes, ";a=\"b\"", &random)
    case .closed, .open: break
    }
    return bytes
  }

  private static func chunks(
    _ bytes: [UInt8],
    _ mark: String,
    _ random: inout SeededRandom
  ) -> [UInt8] {
    var wire: [UInt8] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let chunk = rest.prefix(Int.random(in: 1...2_000, using: &random))
      rest = rest.dropFirst(chunk.count)
      wire += "\(String(chunk.count, radix: 16))\(mark)\r\n".utf8
      wire += chunk
      wire += "\r\n".utf8
    }
    return wire + "0\(mark)\r\n\r\n".utf8
  }

  private func ended(
    _ wire: [UInt8],
    _ isSpoiled: Bool,
    _ random: inout SeededRandom
  ) -> Script {
    let end = isSpoiled ? end : .whole
    let isCut = end == .cut || end == .broken || end == .silent
    let bytes = isCut ? Array(wire.prefix(Int.random(in: 0..<wire.count, using: &random))) : wire
    var steps: [Script.Step] = [isDripping ? .drip(bytes, size: 61) : .send(bytes)]
    switch end {
    case .whole: if isSpoiled, framing == .closed { steps.append(.close) }
    case .closed, .cut: steps.append(.close)
    case .broken: steps.append(.reset)
    case .silent: steps.append(.silence)
    }
    return Script(steps)
  }
}
