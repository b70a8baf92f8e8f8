/// A script of HTTP/1.1 as an HTTP/2 server can say it: fields and data in place of bytes.
package struct Speech: Sendable {
  enum Utterance: Sendable {
    case headers([(name: [UInt8], value: [UInt8])], isLast: Bool)
    /// Bytes of a body, at most `size` to a frame.
    case data([UInt8], size: Int, isLast: Bool)
    /// Bytes of a body again and again until the client resets the stream.
    case dataForever([UInt8])
    /// A step that means the same in both versions.
    case step(Script.Step)
    /// The stream's break; the connection stays.
    case reset
  }

  private enum State {
    case head
    /// The rest of a body with a length; negative once too much has been sent.
    case body(rest: Int)
    /// A chunk's rest, with its line end; nil before the next chunk's size.
    case chunk(rest: Int?)
    case trailers
    /// A body that the connection ends.
    case open
    case ended
  }

  private struct Unsayable: Error {}

  private(set) var utterances: [Utterance] = []
  private var state = State.head
  private var unread: [UInt8] = []

  /// Translates a script; nil if its fault is one of HTTP/1.1's framing or cuts a head or a line.
  package init?(_ script: Script) {
    do {
      for step in script.steps { try add(step) }
      try end()
    } catch {
      return nil
    }
  }

  private mutating func add(_ step: Script.Step) throws(Unsayable) {
    switch step {
    case .send(let bytes):
      try read(bytes, size: .max)
    case .drip(let bytes, let size):
      try read(bytes, size: size)
    case .repeatForever(let bytes):
      try repeatForever(bytes)
    case .close:
      try beginPause()
      if case .open = state { finish() }
      utterances.append(.step(step))
    case .reset:
      try beginPause()
      utterances.append(isComplete ? .step(.close) : .reset)
    case .pause, .pauseAtMost, .open, .wait, .silence:
      try beginPause()
      utterances.append(.step(step))
    }
  }

  /// Checks that a pause does not divide what only whole frames can say.
  private func beginPause() throws(Unsayable) {
    guard unread.isEmpty else { throw Unsayable() }
    if case .trailers = state { throw Unsayable() }
  }

  private mutating func end() throws(Unsayable) {
    guard unread.isEmpty else { throw Unsayable() }
    if isComplete { finish() }
  }

  private var isComplete: Bool {
    switch state {
    case .ended: true
    case .body(let rest): rest <= 0
    case .head, .chunk, .trailers, .open: false
    }
  }

  /// Marks the last headers or data as the stream's end.
  private mutating func finish() {
    state = .ended
    for index in utterances.indices.reversed() {
      switch utterances[index] {
      case .headers(let fields, false):
        utterances[index] = .headers(fields, isLast: true)
        return
      case .data(let bytes, let size, false):
        utterances[index] = .data(bytes, size: size, isLast: true)
        return
      case .headers, .data, .dataForever: return
      case .step, .reset: continue
      }
    }
  }

  // MARK: Bytes

  private mutating func read(_ bytes: [UInt8], size: Int) throws(Unsayable) {
    unread += bytes
    while !unread.isEmpty {
      switch state {
      case .head:
        guard let head = takeHead() else { return }
        try readHead(head)
      case .body(let rest):
        say(unread, size)
        state = .body(rest: rest - unread.count)
        unread = []
      case .open:
        say(unread, size)
        unread = []
      case .chunk(let rest):
        guard try readChunk(rest, size) else { return }
      case .trailers:
        guard try readTrailers() else { return }
      case .ended:
        // A second answer is more data than announced.
        say(unread, size)
        unread = []
      }
    }
  }

  private mutating func say(_ bytes: some Sequence<UInt8>, _ size: Int) {
    let bytes = Array(bytes)
    guard !bytes.isEmpty else { return }
    utterances.append(.data(bytes, size: size, isLast: false))
  }

  private mutating func repeatForever(_ bytes: [UInt8]) throws(Unsayable) {
    try beginPause()
    switch state {
    case .body, .open:
      utterances.append(.dataForever(bytes))
    case .chunk(let rest?) where rest > bytes.count:
      utterances.append(.dataForever(bytes))
    case .chunk(nil):
      let count = utterances.count
      try read(bytes, size: .max)
      guard unread.isEmpty, case .chunk(nil) = state else { throw Unsayable() }
      var data: [UInt8] = []
      for case .data(let part, _, _) in utterances[count...] { data += part }
      guard !data.isEmpty else { throw Unsayable() }
      utterances.removeSubrange(count...)
      utterances.append(.dataForever(data))
    case .head, .chunk, .trailers, .ended:
      throw Unsayable()
    }
  }

  /// Takes a line without its end; nil if it is not complete.
  private mutating func takeLine() throws(Unsayable) -> [UInt8]? {
    guard let end = unread.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    guard end > 0, unread[end - 1] == UInt8(ascii: "\r") else { throw Unsayable() }
    let line = Array(unread[..<(end - 1)])
    unread.removeFirst(end + 1)
    return line
  }

  /// Takes the lines of a head; nil if it is not complete.
  private mutating func takeHead() -> [[UInt8]]? {
    let end = Array("\r\n\r\n".utf8)
    guard let place = unread.firstRange(of: end) else { return nil }
    let lines = unread[..<place.lowerBound].split(
      separator: Array("\r\n".utf8),
      omittingEmptySubsequences: false
    )
    unread.removeFirst(place.upperBound)
    return lines.map { Array($0) }
  }

  private mutating func readHead(_ lines: [[UInt8]]) throws(Unsayable) {
    let line = String(decoding: lines[0], as: UTF8.self)
    let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard words.count > 1, words[0] == "HTTP/1.1", words[1].utf8.count == 3,
      let status = Int(words[1]), status >= 0
    else { throw Unsayable() }
    var fields = [(name: Array(":status".utf8), value: Array(words[1].utf8))]
    var lengths: [String] = []
    var isChunked = false
    for line in lines.dropFirst() {
      let field = try Self.field(line)
      let value = String(decoding: field.value, as: UTF8.self)
      switch String(decoding: field.name, as: UTF8.self) {
      case "transfer-encoding":
        guard value == "chunked", !isChunked else { throw Unsayable() }
        isChunked = true
      case "connection", "keep-alive": continue
      case "upgrade", "proxy-connection": throw Unsayable()
      case "content-length":
        lengths.append(value)
        fields.append(field)
      default: fields.append(field)
      }
    }
    let isBodiless = status < 200 || status == 204 || status == 304
    guard !isChunked || lengths.isEmpty || isBodiless else { throw Unsayable() }
    utterances.append(.headers(fields, isLast: false))
    if status < 200 {
      state = .head
    } else if isBodiless {
      state = .body(rest: 0)
    } else if isChunked {
      state = .chunk(rest: nil)
    } else {
      state = lengths.first.map { .body(rest: Int($0).map { max(0, $0) } ?? 0) } ?? .open
    }
  }

  /// Returns a header with its name in small letters.
  private static func field(_ line: [UInt8]) throws(Unsayable) -> (name: [UInt8], value: [UInt8]) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { throw Unsayable() }
    let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
    let marks = "-_!#$%&'*+.^`|~"
    guard name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || marks.contains($0)) }),
      !line.contains(UInt8(ascii: "\n"))
    else { throw Unsayable() }
    let value = line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }
    return (Array(name.utf8), Array(value))
  }

  /// Reads a part of a chunked body; returns false where more bytes are needed.
  private mutating func readChunk(_ rest: Int?, _ size: Int) throws(Unsayable) -> Bool {
    if let rest {
      let isWhole = unread.count >= rest + 2
      guard isWhole || unread.count <= rest else { return false }
      say(unread.prefix(rest), size)
      guard isWhole else {
        state = .chunk(rest: rest - unread.count)
        unread = []
        return true
      }
      guard unread[rest] == 13, unread[rest + 1] == 10 else { throw Unsayable() }
      unread.removeFirst(rest + 2)
      state = .chunk(rest: nil)
      return true
    }
    guard let line = try takeLine() else { return false }
    let digits = line.prefix { $0 != UInt8(ascii: ";") }
    guard digits.count <= 16, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
      let count = Int(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw Unsayable() }
    state = count == 0 ? .trailers : .chunk(rest: count)
    return true
  }

  private mutating func readTrailers() throws(Unsayable) -> Bool {
    if unread.starts(with: Array("\r\n".utf8)) {
      unread.removeFirst(2)
      finish()
      return true
    }
    guard let lines = takeHead() else { return false }
    var fields: [(name: [UInt8], value: [UInt8])] = []
    for line in lines { fields.append(try Self.field(line)) }
    utterances.append(.headers(fields, isLast: true))
    state = .ended
    return true
  }
}
