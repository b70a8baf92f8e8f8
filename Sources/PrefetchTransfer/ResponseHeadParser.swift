internal import PrefetchCore

/// Reads header lines as libcurl hands them out, until the one head that counts is whole.
///
/// Informational heads are skipped; whatever comes after the last head (trailers) is ignored. It is
/// stricter than libcurl wherever two readers could understand an answer differently.
struct ResponseHeadParser {
  static let maximumFields = 300
  static let maximumBytes = 102_400

  private enum State {
    case statusLine
    case fields(version: String, status: Int)
    case finished
  }

  private var state = State.statusLine
  private var fields: [HeaderField] = []
  private var byteCount = 0

  /// Takes one line with its end; the head comes back with the line that completes it.
  mutating func receive(_ line: RawSpan) throws(ResponseFault) -> ResponseHead? {
    if case .finished = state { return nil }
    byteCount += line.byteCount
    guard byteCount <= Self.maximumBytes else { throw .tooManyBytes }
    let text = unsafe line.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    guard text.utf8.suffix(2).elementsEqual("\r\n".utf8) else { throw .lineEnd }
    return try receive(content: text.utf8.dropLast(2))
  }

  private mutating func receive(
    content: Substring.UTF8View
  ) throws(ResponseFault) -> ResponseHead? {
    switch state {
    case .finished:
      return nil
    case .statusLine:
      let (version, status) = try Self.statusLine(content)
      state = .fields(version: version, status: status)
      return nil
    case .fields(let version, let status) where content.isEmpty:
      defer { fields = [] }
      guard status >= 200 else {
        guard status != 101 else { throw .protocolSwitch }
        state = .statusLine
        return nil
      }
      state = .finished
      return try ResponseHead(version: version, status: status, headers: HeaderBlock(fields))
    case .fields:
      guard fields.count < Self.maximumFields else { throw .tooManyFields }
      fields.append(try Self.field(content))
      return nil
    }
  }

  private static func statusLine(
    _ line: Substring.UTF8View
  ) throws(ResponseFault) -> (version: String, status: Int) {
    let parts = line.split(
      separator: UInt8(ascii: " "),
      maxSplits: 2,
      omittingEmptySubsequences: false
    )
    guard parts.count >= 2, parts[0].starts(with: "HTTP/".utf8), parts[1].count == 3,
      parts[1].allSatisfy(ASCII.isDigit), let status = Int(Substring(parts[1]))
    else { throw .statusLine(quoted(line)) }
    guard (100...599).contains(status) else { throw .status(status) }
    return (String(Substring(parts[0].dropFirst(5))), status)
  }

  private static func field(_ line: Substring.UTF8View) throws(ResponseFault) -> HeaderField {
    guard let first = line.first, !isBlank(first) else { throw .foldedLine }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon != line.startIndex,
      line[..<colon].allSatisfy(isTokenCharacter)
    else { throw .fieldName(quoted(line)) }
    let name = String(Substring(line[..<colon]))
    let value = trimmed(line[line.index(after: colon)...])
    guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
      throw .controlCharacter(field: name)
    }
    return HeaderField(name, String(Substring(value)))
  }

  private static func trimmed(_ value: Substring.UTF8View) -> Substring.UTF8View {
    var value = value.drop(while: isBlank)
    while let last = value.last, isBlank(last) {
      value = value.dropLast()
    }
    return value
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  private static func isTokenCharacter(_ byte: UInt8) -> Bool {
    let lower = byte | 0x20
    return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z") || ASCII.isDigit(byte)
      || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }

  /// The beginning of a line, fit to be shown; values of headers may be secrets or endless.
  private static func quoted(_ line: Substring.UTF8View) -> String {
    let name = line.prefix { $0 != UInt8(ascii: ":") }.prefix(40)
    return String(
      decoding: name.map { $0 >= 0x20 && $0 < 0x7F ? $0 : UInt8(ascii: "?") },
      as: UTF8.self
    )
  }
}
