internal import PrefetchCore

/// Parses header lines up to the final head; stricter than libcurl where readers could disagree.
final class ResponseHeadParser {
  static let maximumFields = 300
  static let maximumBytes = 102_400

  private enum State {
    case statusLine
    case fields(ResponseHead.Version, status: Int)
    case finished
  }

  private var state = State.statusLine
  private let scratch = HeaderScratch(fields: maximumFields, bytes: maximumBytes)
  private var marks = BodyMarks()
  private var byteCount = 0
  /// Whether a line began with a blank, which libcurl was not shown.
  var hasFoldedLine = false

  func restart() {
    state = .statusLine
    byteCount = 0
    hasFoldedLine = false
  }

  func receive(_ line: RawSpan) throws(ResponseFault) -> ResponseHead? {
    byteCount += line.byteCount
    guard byteCount <= Self.maximumBytes else { throw .tooManyBytes }
    // libcurl repeats the request by itself when HTTP/1.1 is demanded, even after half a body.
    if case .finished = state, line.begins(with: "HTTP/") { throw .secondHead }
    let end = line.byteCount - 2
    guard end >= 0, line[end] == UInt8(ascii: "\r"), line[end + 1] == UInt8(ascii: "\n") else {
      throw .lineEnd
    }
    guard !hasFoldedLine else { throw .foldedLine }
    let content = line.extracting(0..<end)
    // A copy avoids exclusivity checks of in-place changes.
    let state = state
    switch state {
    case .finished:
      if !content.isEmpty { _ = try Self.field(content) }
    case .statusLine:
      let (version, status) = try Self.statusLine(content)
      self.state = .fields(version, status: status)
      scratch.clear()
      marks = BodyMarks()
    case .fields(let version, let status) where content.isEmpty:
      guard status < 200 else {
        self.state = .finished
        return try ResponseHead(version: version, status: status, headers: scratch.block, marks)
      }
      guard status != 101 else { throw .protocolSwitch }
      self.state = .statusLine
    case .fields:
      guard scratch.count < Self.maximumFields else { throw .tooManyFields }
      let field = try Self.field(content)
      let (name, value) = (content.extracting(field.name), content.extracting(field.value))
      var marks = marks
      marks.record(name: name, value: value)
      self.marks = marks
      scratch.append(name: name, value: value)
    }
    return nil
  }

  /// Parses `HTTP/` and version, a blank, three digits, and an optional reason.
  private static func statusLine(
    _ line: RawSpan
  ) throws(ResponseFault) -> (version: ResponseHead.Version, status: Int) {
    let blank = UInt8(ascii: " ")
    let end = HeaderBytes.position(of: blank, in: line)
    let known = versions.first { $0.text.utf8CodeUnitCount == end && line.begins(with: $0.text) }
    guard let (_, version) = known, line.byteCount >= end + 4,
      line.byteCount == end + 4 || line[end + 4] == blank
    else { throw .statusLine(quoted(line)) }
    var status = 0
    for index in end + 1..<end + 4 {
      guard ASCII.isDigit(line[index]) else { throw .statusLine(quoted(line)) }
      status = 10 * status + Int(line[index] - UInt8(ascii: "0"))
    }
    guard (100...599).contains(status) else { throw .status(status) }
    return (version, status)
  }

  private static let versions: [(text: StaticString, ResponseHead.Version)] = [
    ("HTTP/1.1", .http11), ("HTTP/1.0", .http10), ("HTTP/2", .http2), ("HTTP/3", .http3),
  ]

  private static func field(
    _ line: RawSpan
  ) throws(ResponseFault) -> (name: Range<Int>, value: Range<Int>) {
    guard !line.isEmpty, !isBlank(line[0]) else { throw .foldedLine }
    let colon = HeaderBytes.tokenLength(line)
    guard colon > 0, colon < line.byteCount, line[colon] == UInt8(ascii: ":") else {
      throw .fieldName(quoted(line))
    }
    var first = colon + 1
    var end = line.byteCount
    while first < end, isBlank(line[first]) {
      first += 1
    }
    while end > first, isBlank(line[end - 1]) {
      end -= 1
    }
    guard HeaderBytes.areValue(line.extracting(first..<end)) else {
      throw .controlCharacter(field: text(line.extracting(0..<colon)))
    }
    return (0..<colon, first..<end)
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  private static func text(_ bytes: RawSpan) -> String {
    unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// Returns the start of a line for messages; header values may be secret or endless.
  private static func quoted(_ line: RawSpan) -> String {
    let end = min(40, HeaderBytes.position(of: UInt8(ascii: ":"), in: line))
    let shown = (0..<end).map { index in
      let byte = line[index]
      return byte >= 0x20 && byte < 0x7F ? byte : UInt8(ascii: "?")
    }
    return String(decoding: shown, as: UTF8.self)
  }
}

extension RawSpan {
  subscript(index: Int) -> UInt8 {
    unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self)
  }
}
