import PrefetchCore
import PrefetchTestSupport
import Synchronization

/// A server of one large body, which gives each connection a fixed rate and may misbehave.
final class RangeOrigin: Sendable {
  /// Answer to a range request that is not the requested range, or breaks off.
  enum Fault: Sendable {
    case whole, changed, otherTag, otherBounds, otherSize, coded, stall, short, reset
    /// No response, after a while.
    case nothing(after: Duration)
    case status(Int)
  }

  static let path = "/large.bin"
  static let tag = #""large""#

  let body: [UInt8]
  let server: LoopbackServer

  /// `rate` is in megabytes a second; `fault` gets the number of a range request, from 1.
  convenience init(
    mebibytes: Int = 96,
    rate: Int,
    headers: [(String, String)] = [("ETag", tag)],
    fault: @escaping @Sendable (_ number: Int) -> Fault? = { _ in nil }
  ) throws {
    try self.init(Self.body(mebibytes: mebibytes), rate: rate, headers: headers, fault: fault)
  }

  init(
    _ body: [UInt8],
    rate: Int,
    headers: [(String, String)],
    fault: @escaping @Sendable (_ number: Int) -> Fault? = { _ in nil }
  ) throws {
    self.body = body
    let count = Mutex(0)
    server = try LoopbackServer { request in
      if request.headers["If-None-Match"] == Self.tag { return .raw("HTTP/1.1 304 Same\r\n\r\n") }
      guard let range = request.headers["Range"].flatMap({ Self.bounds($0, body.count) }) else {
        return Self.script(200, headers, body[...], rate)
      }
      let number = count.withLock { count in
        count += 1
        return count
      }
      return Self.script(range, body, headers, rate, fault(number))
    }
    // Bytes that a busy machine has not read yet are lost with a connection, by no fault of its own.
    server.shrinkBuffers()
  }

  var url: String { server.address(Self.path) }

  /// Bytes that differ at all offsets, made of one block that is turned for each copy.
  static func body(mebibytes: Int) -> [UInt8] {
    var random = SeededRandom(5)
    let block = (0..<(1 << 17)).flatMap { _ in
      unsafe withUnsafeBytes(of: random.next()) { unsafe Array($0) }
    }
    var body: [UInt8] = []
    body.reserveCapacity(mebibytes << 20)
    for number in 0..<mebibytes {
      let turn = number * 4_099 % block.count
      body += block[turn...]
      body += block[..<turn]
    }
    return body
  }

  private static func bounds(_ text: String, _ count: Int) -> Range<Int>? {
    guard text.hasPrefix("bytes=") else { return nil }
    let words = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard words.count == 2, let first = Int(words[0]) else { return nil }
    return first..<(Int(words[1]).map { $0 + 1 } ?? count)
  }

  private static func script(
    _ range: Range<Int>,
    _ body: [UInt8],
    _ headers: [(String, String)],
    _ rate: Int,
    _ fault: Fault?
  ) -> Script {
    let bytes = body[range]
    let place = { (start: Int, size: Int) in
      ("Content-Range", "bytes \(start)-\(start + range.count - 1)/\(size)")
    }
    let usual = headers + [place(range.lowerBound, body.count)]
    switch fault {
    case nil: return script(206, usual, bytes, rate)
    case .whole: return script(200, headers, body[...], rate)
    case .changed: return .respond(412, [("ETag", #""newer""#)], text: "changed")
    case .otherTag:
      let headers = [("ETag", #""newer""#), place(range.lowerBound, body.count)]
      return script(206, headers, bytes, rate)
    case .otherBounds:
      return script(206, headers + [place(range.lowerBound - 1, body.count)], bytes, rate)
    case .otherSize:
      return script(206, headers + [place(range.lowerBound, body.count + 1)], bytes, rate)
    case .coded: return script(206, usual + [("Content-Encoding", "gzip")], bytes, rate)
    case .status(let status): return .respond(status, text: "not now")
    case .nothing(let pause): return Script([.wait(pause), .close])
    case .stall, .short, .reset:
      var script = script(206, usual, bytes, rate)
      script.steps.removeLast(script.steps.count / 2)
      if case .stall = fault { script.steps.append(.silence) }
      if case .short = fault { script.steps.append(.close) }
      if case .reset = fault { script.steps.append(.reset) }
      return script
    }
  }

  /// Sends a part of the bytes forty times a second.
  private static func script(
    _ status: Int,
    _ headers: [(String, String)],
    _ bytes: ArraySlice<UInt8>,
    _ rate: Int
  ) -> Script {
    let head = Script.head(status, headers + [("Content-Length", String(bytes.count))])
    var steps: [Script.Step] = [.send(head)]
    let size = rate * 1_000_000 / 40
    for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: size) {
      steps.append(.send(Array(bytes[start..<min(start + size, bytes.endIndex)])))
      steps.append(.wait(.milliseconds(25)))
    }
    return Script(steps)
  }
}
