internal import PrefetchCore

/// Reads header lines as libcurl hands them out, until the one head that counts is whole.
///
/// Informational heads are skipped; trailers after the last head are read like it and forgotten. It
/// is stricter than libcurl wherever two readers could understand an answer differently.
struct ResponseHeadParser {
  static let maximumFields = 300
  static let maximumBytes = 102_400
  /// What the head of a plain answer takes.
  private static let usualBytes = 512
  private static let usualFields = 12

  private enum State {
    case statusLine
    case fields(ResponseHead.Version, status: Int)
    case finished(ResponseHead.Version, status: Int)
  }

  private var state = State.statusLine
  private var headers = HeaderBlock()
  private var byteCount = 0

  /// Takes one line with its end; true with the one that completes the head.
  mutating func receive(_ line: Span<UInt8>) throws(ResponseFault) -> Bool {
    byteCount += line.count
    guard byteCount <= Self.maximumBytes else { throw .tooManyBytes }
    // libcurl asks again by itself where HTTP/1.1 is demanded, be there half a body already.
    if case .finished = state, Self.starts(line, with: "HTTP/") { throw .secondHead }
    let end = line.count - 2
    guard end >= 0, line[end] == UInt8(ascii: "\r"), line[end + 1] == UInt8(ascii: "\n") else {
      throw .lineEnd
    }
    return try receive(content: line.extracting(0..<end))
  }

  /// What was read, once it is complete.
  func head() throws(ResponseFault) -> ResponseHead {
    guard case .finished(let version, let status) = state else { throw .statusLine("") }
    return try ResponseHead(version: version, status: status, headers: headers)
  }

  private mutating func receive(content: Span<UInt8>) throws(ResponseFault) -> Bool {
    switch state {
    case .finished:
      if !content.isEmpty { _ = try Self.field(content) }
      return false
    case .statusLine:
      let (version, status) = try Self.statusLine(content)
      state = .fields(version, status: status)
      headers = HeaderBlock()
      headers.reserve(bytes: Self.usualBytes, fields: Self.usualFields)
      return false
    case .fields(let version, let status) where content.isEmpty:
      guard status >= 200 else {
        guard status != 101 else { throw .protocolSwitch }
        state = .statusLine
        return false
      }
      state = .finished(version, status: status)
      return true
    case .fields:
      guard headers.indices.count < Self.maximumFields else { throw .tooManyFields }
      let field = try Self.field(content)
      headers.append(name: field.name, value: field.value, of: content)
      return false
    }
  }

  /// `HTTP/` and a version, a blank, three digits, and perhaps a blank with words behind it.
  private static func statusLine(
    _ line: Span<UInt8>
  ) throws(ResponseFault) -> (version: ResponseHead.Version, status: Int) {
    let blank = UInt8(ascii: " ")
    let end = position(of: blank, in: line)
    guard let version = version(line.extracting(0..<end)), line.count >= end + 4,
      line.count == end + 4 || line[end + 4] == blank
    else { throw .statusLine(quoted(line)) }
    var status = 0
    for index in end + 1..<end + 4 {
      guard ASCII.isDigit(line[index]) else { throw .statusLine(quoted(line)) }
      status = 10 * status + Int(line[index] - UInt8(ascii: "0"))
    }
    guard (100...599).contains(status) else { throw .status(status) }
    return (version, status)
  }

  /// Nil for what no server of this century speaks.
  private static func version(_ text: Span<UInt8>) -> ResponseHead.Version? {
    guard starts(text, with: "HTTP/") else { return nil }
    let point = UInt8(ascii: ".")
    switch text.count {
    case 8 where text[5] == UInt8(ascii: "1") && text[6] == point && text[7] == UInt8(ascii: "1"):
      return .http11
    case 8 where text[5] == UInt8(ascii: "1") && text[6] == point && text[7] == UInt8(ascii: "0"):
      return .http10
    case 6 where text[5] == UInt8(ascii: "2"):
      return .http2
    case 6 where text[5] == UInt8(ascii: "3"):
      return .http3
    default:
      return nil
    }
  }

  private static func field(
    _ line: Span<UInt8>
  ) throws(ResponseFault) -> (name: Range<Int>, value: Range<Int>) {
    guard !line.isEmpty, !isBlank(line[0]) else { throw .foldedLine }
    var colon = 0
    while colon < line.count, line[colon] != UInt8(ascii: ":") {
      guard HeaderBytes.isToken(line[colon]) else { throw .fieldName(quoted(line)) }
      colon += 1
    }
    guard colon > 0, colon < line.count else { throw .fieldName(quoted(line)) }
    var first = colon + 1
    var end = line.count
    while first < end, isBlank(line[first]) {
      first += 1
    }
    while end > first, isBlank(line[end - 1]) {
      end -= 1
    }
    guard unsafe HeaderBytes.areValue(line.extracting(first..<end).bytes) else {
      throw .controlCharacter(field: text(line.extracting(0..<colon)))
    }
    return (0..<colon, first..<end)
  }

  private static func position(of byte: UInt8, in line: Span<UInt8>) -> Int {
    var index = 0
    while index < line.count, line[index] != byte {
      index += 1
    }
    return index
  }

  private static func starts(_ line: Span<UInt8>, with text: StaticString) -> Bool {
    guard line.count >= text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { expected in
      for index in expected.indices where line[index] != (unsafe expected[index]) {
        return false
      }
      return true
    }
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  private static func text(_ bytes: Span<UInt8>) -> String {
    unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// The beginning of a line, fit to be shown; values of headers may be secrets or endless.
  private static func quoted(_ line: Span<UInt8>) -> String {
    let end = min(40, position(of: UInt8(ascii: ":"), in: line))
    let shown = (0..<end).map { index in
      let byte = line[index]
      return byte >= 0x20 && byte < 0x7F ? byte : UInt8(ascii: "?")
    }
    return String(decoding: shown, as: UTF8.self)
  }
}
