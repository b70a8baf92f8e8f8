internal import PrefetchCore

/// Reads header lines as libcurl hands them out, until the one head that counts is whole.
///
/// Informational heads are skipped; whatever comes after the last head (trailers) is ignored. It is
/// stricter than libcurl wherever two readers could understand an answer differently.
struct ResponseHeadParser {
  static let maximumFields = 300
  static let maximumBytes = 102_400
  /// What the head of a plain answer takes.
  private static let usualBytes = 512
  private static let usualFields = 12

  private enum State {
    case statusLine
    case fields(version: String, status: Int)
    case finished
  }

  private var state = State.statusLine
  private var headers = HeaderBlock()
  private var byteCount = 0

  /// Takes one line with its end; the head comes back with the line that completes it.
  mutating func receive(_ line: Span<UInt8>) throws(ResponseFault) -> ResponseHead? {
    byteCount += line.count
    guard byteCount <= Self.maximumBytes else { throw .tooManyBytes }
    if case .finished = state { return nil }
    let end = line.count - 2
    guard end >= 0, line[end] == UInt8(ascii: "\r"), line[end + 1] == UInt8(ascii: "\n") else {
      throw .lineEnd
    }
    return try receive(content: line.extracting(0..<end))
  }

  private mutating func receive(content: Span<UInt8>) throws(ResponseFault) -> ResponseHead? {
    switch state {
    case .finished:
      return nil
    case .statusLine:
      let (version, status) = try Self.statusLine(content)
      state = .fields(version: version, status: status)
      headers = HeaderBlock()
      headers.reserve(bytes: Self.usualBytes, fields: Self.usualFields)
      return nil
    case .fields(let version, let status) where content.isEmpty:
      guard status >= 200 else {
        guard status != 101 else { throw .protocolSwitch }
        state = .statusLine
        return nil
      }
      state = .finished
      return try ResponseHead(version: version, status: status, headers: headers)
    case .fields:
      guard headers.indices.count < Self.maximumFields else { throw .tooManyFields }
      try readField(content)
      return nil
    }
  }

  /// `HTTP/` and a version, a blank, three digits, and perhaps a blank with words behind it.
  private static func statusLine(
    _ line: Span<UInt8>
  ) throws(ResponseFault) -> (version: String, status: Int) {
    let blank = UInt8(ascii: " ")
    let end = position(of: blank, in: line)
    guard starts(line, with: "HTTP/"), line.count >= end + 4,
      line.count == end + 4 || line[end + 4] == blank
    else { throw .statusLine(quoted(line)) }
    var status = 0
    for index in end + 1..<end + 4 {
      guard ASCII.isDigit(line[index]) else { throw .statusLine(quoted(line)) }
      status = 10 * status + Int(line[index] - UInt8(ascii: "0"))
    }
    guard (100...599).contains(status) else { throw .status(status) }
    return (text(line.extracting(5..<end)), status)
  }

  private mutating func readField(_ line: Span<UInt8>) throws(ResponseFault) {
    guard !line.isEmpty, !Self.isBlank(line[0]) else { throw .foldedLine }
    var colon = 0
    while colon < line.count, line[colon] != UInt8(ascii: ":") {
      guard Self.isTokenCharacter(line[colon]) else { throw .fieldName(Self.quoted(line)) }
      colon += 1
    }
    guard colon > 0, colon < line.count else { throw .fieldName(Self.quoted(line)) }
    var first = colon + 1
    var end = line.count
    while first < end, Self.isBlank(line[first]) {
      first += 1
    }
    while end > first, Self.isBlank(line[end - 1]) {
      end -= 1
    }
    for index in first..<end {
      let byte = line[index]
      guard byte >= 0x20 && byte != 0x7F || byte == 0x09 else {
        throw .controlCharacter(field: Self.text(line.extracting(0..<colon)))
      }
    }
    headers.append(name: 0..<colon, value: first..<end, of: line)
  }

  private static func position(of byte: UInt8, in line: Span<UInt8>) -> Int {
    var index = 0
    while index < line.count, line[index] != byte {
      index += 1
    }
    return index
  }

  private static func starts(_ line: Span<UInt8>, with text: String) -> Bool {
    guard line.count >= text.utf8.count else { return false }
    var index = 0
    for byte in text.utf8 {
      guard line[index] == byte else { return false }
      index += 1
    }
    return true
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  private static func isTokenCharacter(_ byte: UInt8) -> Bool {
    let lower = byte | 0x20
    return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z") || byte == UInt8(ascii: "-")
      || ASCII.isDigit(byte) || "!#$%&'*+.^_`|~".utf8.contains(byte)
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
