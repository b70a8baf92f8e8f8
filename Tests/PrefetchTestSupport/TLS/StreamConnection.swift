/// A server's end of an HTTP/2 connection, which plays scripts one stream after another.
///
/// It reads only as much of HTTP/2 as libcurl says.
final class StreamConnection {
  enum Input {
    case bytes([UInt8])
    /// Nothing has arrived.
    case nothing
    case end
  }

  /// The encrypted connection.
  struct Channel {
    /// Receives bytes; waits for them if asked to.
    var receive: (_ isWaiting: Bool) -> Input
    /// Sends bytes; returns false at the connection's end.
    var send: ([UInt8]) -> Bool
    /// Plays a step that sends nothing; returns false when the step ends the connection.
    var play: (Script.Step) -> Bool
  }

  private enum ConnectionEnd: Error {
    case disconnected
  }

  private struct Frame {
    var kind: UInt8
    var flags: UInt8
    var stream: Int
    var payload: [UInt8]
  }

  /// Kinds of frames (RFC 9113, section 6).
  private enum Kind {
    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let reset: UInt8 = 3
    static let settings: UInt8 = 4
    static let ping: UInt8 = 6
    static let windowUpdate: UInt8 = 8
    static let continuation: UInt8 = 9
  }

  private static let endOfStream: UInt8 = 1
  private static let endOfHeaders: UInt8 = 4
  private static let isPadded: UInt8 = 8
  private static let hasPriority: UInt8 = 0x20
  private static let largestFrame = 16_384
  private static let internalError: [UInt8] = [0, 0, 0, 2]

  private let channel: Channel
  private let inflater: HeaderInflater
  /// Returns the script of a request, which is stated as a head of HTTP/1.1.
  private let respond: (String) -> Script
  private var unread: [UInt8] = []
  private var block: [UInt8] = []
  /// Requests that wait for their script.
  private var requests: [(stream: Int, head: String)] = []
  /// Bytes that the client takes, by stream; a stream that it has reset is missing.
  private var windows: [Int: Int] = [:]
  private var window = 65_535
  private var initialWindow = 65_535

  init?(_ channel: Channel, _ respond: @escaping (String) -> Script) {
    guard let inflater = HeaderInflater() else { return nil }
    self.channel = channel
    self.inflater = inflater
    self.respond = respond
  }

  func serve() {
    do throws(ConnectionEnd) {
      while unread.count < 24 { try receive(isWaiting: true) }
      unread.removeFirst(24)
      try send(Kind.settings, 0, 0, [])
      while true {
        while requests.isEmpty { try handleInput(isWaiting: true) }
        let request = requests.removeFirst()
        try play(respond(request.head), request.stream)
      }
    } catch {
      return
    }
  }

  // MARK: Scripts

  private func play(_ script: Script, _ stream: Int) throws(ConnectionEnd) {
    guard let speech = Speech(script) else {
      return try send(Kind.reset, 0, stream, Self.internalError)
    }
    for utterance in speech.utterances {
      switch utterance {
      case .headers(let fields, let isLast):
        try sendHeaders(fields, stream, isLast)
      case .data(let bytes, let size, let isLast):
        guard try sendData(bytes, size, stream, isLast) else { return }
      case .dataForever(let bytes):
        while try sendData(bytes, .max, stream, false) {}
        return
      case .reset:
        return try send(Kind.reset, 0, stream, Self.internalError)
      case .step(.silence):
        return
      case .step(let step):
        guard channel.play(step) else { throw .disconnected }
      }
    }
  }

  private func sendHeaders(
    _ fields: [(name: [UInt8], value: [UInt8])],
    _ stream: Int,
    _ isLast: Bool
  ) throws(ConnectionEnd) {
    var block: [UInt8] = []
    for field in fields {
      block.append(0)
      for text in [field.name, field.value] {
        block += Self.length(text.count)
        block += text
      }
    }
    var kind = Kind.headers
    var rest = block[...]
    repeat {
      let part = rest.prefix(Self.largestFrame)
      rest = rest.dropFirst(part.count)
      let end = rest.isEmpty ? Self.endOfHeaders : 0
      let isEnd = isLast && kind == Kind.headers
      try send(kind, end | (isEnd ? Self.endOfStream : 0), stream, part)
      kind = Kind.continuation
    } while !rest.isEmpty
  }

  /// A length in HPACK's prefix of seven bits (RFC 7541, section 5.1).
  private static func length(_ count: Int) -> [UInt8] {
    guard count >= 127 else { return [UInt8(count)] }
    var bytes: [UInt8] = [127]
    var rest = count - 127
    while rest >= 128 {
      bytes.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }

  /// Sends bytes as far as the client takes them; returns false once it has reset the stream.
  private func sendData(
    _ bytes: [UInt8],
    _ size: Int,
    _ stream: Int,
    _ isLast: Bool
  ) throws(ConnectionEnd) -> Bool {
    var start = 0
    repeat {
      try handleInput(isWaiting: false)
      while let room = windows[stream], min(room, window) <= 0, start < bytes.count {
        try handleInput(isWaiting: true)
      }
      guard let room = windows[stream] else { return false }
      let count = min(bytes.count - start, size, Self.largestFrame, room, window)
      let isEnd = isLast && start + count == bytes.count
      let part = bytes[start..<start + count]
      try send(Kind.data, isEnd ? Self.endOfStream : 0, stream, part)
      start += count
      window -= count
      windows[stream] = room - count
    } while start < bytes.count
    return true
  }

  private func send(
    _ kind: UInt8,
    _ flags: UInt8,
    _ stream: Int,
    _ payload: some Collection<UInt8>
  ) throws(ConnectionEnd) {
    let head =
      Self.bytes(payload.count).dropFirst() + [kind, flags] + Self.bytes(stream)
    guard channel.send(head + payload) else { throw .disconnected }
  }

  private static func bytes(_ number: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  private static func number(_ bytes: some Sequence<UInt8>) -> Int {
    bytes.reduce(0) { $0 << 8 | Int($1) }
  }

  // MARK: Requests

  private func receive(isWaiting: Bool) throws(ConnectionEnd) {
    switch channel.receive(isWaiting) {
    case .bytes(let bytes): unread += bytes
    case .nothing: return
    case .end: throw .disconnected
    }
  }

  /// Handles all frames that have arrived; waits for one if asked to.
  private func handleInput(isWaiting: Bool) throws(ConnectionEnd) {
    if isWaiting, let frame = takeFrame() { return try handle(frame) }
    try receive(isWaiting: isWaiting)
    while let frame = takeFrame() { try handle(frame) }
  }

  private func takeFrame() -> Frame? {
    guard unread.count >= 9 else { return nil }
    let count = Self.number(unread[..<3])
    guard unread.count >= 9 + count else { return nil }
    let frame = Frame(
      kind: unread[3],
      flags: unread[4],
      stream: Self.number(unread[5..<9]) & 0x7FFF_FFFF,
      payload: Array(unread[9..<9 + count])
    )
    unread.removeFirst(9 + count)
    return frame
  }

  private func handle(_ frame: Frame) throws(ConnectionEnd) {
    switch frame.kind {
    case Kind.settings where frame.flags & 1 == 0:
      for start in stride(from: 0, to: frame.payload.count - 5, by: 6)
      where frame.payload[start + 1] == 4 {
        let size = Self.number(frame.payload[start + 2..<start + 6])
        windows = windows.mapValues { $0 + size - initialWindow }
        initialWindow = size
      }
      try send(Kind.settings, 1, 0, [])
    case Kind.ping where frame.flags & 1 == 0:
      try send(Kind.ping, 1, 0, frame.payload)
    case Kind.windowUpdate:
      let growth = Self.number(frame.payload)
      if frame.stream == 0 {
        window += growth
      } else if let room = windows[frame.stream] {
        windows[frame.stream] = room + growth
      }
    case Kind.reset:
      windows[frame.stream] = nil
    case Kind.headers:
      var payload = frame.payload[...]
      if frame.flags & Self.isPadded != 0 {
        payload = payload.dropFirst().dropLast(Int(payload.first ?? 0))
      }
      if frame.flags & Self.hasPriority != 0 { payload = payload.dropFirst(5) }
      windows[frame.stream] = initialWindow
      try read(payload, of: frame)
    case Kind.continuation:
      try read(frame.payload[...], of: frame)
    default:
      return
    }
  }

  private func read(_ part: ArraySlice<UInt8>, of frame: Frame) throws(ConnectionEnd) {
    block += part
    guard frame.flags & Self.endOfHeaders != 0 else { return }
    guard let fields = inflater.fields(of: block) else { throw .disconnected }
    block = []
    var pseudo: [String: String] = [:]
    var lines = ""
    for (name, value) in fields {
      if name.hasPrefix(":") {
        pseudo[name] = value
      } else {
        lines += "\(name): \(value)\r\n"
      }
    }
    let words = "\(pseudo[":method"] ?? "GET") \(pseudo[":path"] ?? "/") HTTP/1.1\r\n"
    let host = "Host: \(pseudo[":authority"] ?? "")\r\n"
    requests.append((frame.stream, words + host + lines + "\r\n"))
  }
}
