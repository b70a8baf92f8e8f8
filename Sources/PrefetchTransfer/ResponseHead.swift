internal import PrefetchCore

/// Status and headers of the final response, with the framing of its body.
struct ResponseHead: Hashable, Sendable {
  enum Framing: Hashable, Sendable {
    case length(Int64)
    case chunked
    /// End of stream in HTTP/2 and HTTP/3.
    case stream
    /// End of the connection, which cannot be distinguished from an accident.
    case untilClose
  }

  typealias Version = TransferFigures.Version

  var version: Version
  var status: Int
  var headers: HeaderBlock
  var framing: Framing
  /// `Content-Length`, even if the framing is another.
  var announcedLength: Int64?
  var codings: [String]

  /// Whether a body may follow, whatever the headers say (RFC 9112, 6.3).
  var mayHaveBody: Bool {
    status != 204 && status != 304
  }

  init(
    version: Version,
    status: Int,
    headers: HeaderBlock,
    _ marks: BodyMarks
  ) throws(ResponseFault) {
    self.version = version
    self.status = status
    self.headers = headers
    // Usually there is one `Content-Length`, a number.
    let length =
      marks.lengthCount == 0 || (marks.lengthCount == 1 && marks.length != nil)
      ? marks.length : try Self.length(headers.all("Content-Length"))
    announcedLength = length
    codings =
      marks.hasCoding
      ? Self.list(headers.all("Content-Encoding")).filter { $0 != "identity" } : []
    guard marks.hasTransferCoding, case let transfer = Self.list(headers.all("Transfer-Encoding")),
      !transfer.isEmpty
    else {
      framing = length.map { .length($0) } ?? (version.isTextual ? .untilClose : .stream)
      return
    }
    guard length == nil else { throw .lengthAndTransferCoding }
    guard transfer == ["chunked"], version == .http11 else {
      throw .transferCoding(transfer.joined(separator: ", "))
    }
    framing = .chunked
  }

  /// Returns the length; repeated fields must agree, or readers could see two lengths.
  private static func length(_ values: [String]) throws(ResponseFault) -> Int64? {
    guard let first = values.first else { return nil }
    guard values.allSatisfy({ $0 == first }) else {
      throw .contentLength(values.joined(separator: ", "))
    }
    guard !first.isEmpty, first.utf8.allSatisfy(ASCII.isDigit), let length = Int64(first) else {
      throw .contentLength(first)
    }
    return length
  }

  private static func list(_ values: [String]) -> [String] {
    values.flatMap { $0.split(separator: ",") }
      .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
      .filter { !$0.isEmpty }
  }
}

/// Header fields about the body, recorded during parsing to save searches.
struct BodyMarks {
  private(set) var lengthCount = 0
  /// Last `Content-Length`, if it is a number.
  private(set) var length: Int64?
  private(set) var hasCoding = false
  private(set) var hasTransferCoding = false

  mutating func record(name: RawSpan, value: RawSpan) {
    switch name.byteCount {
    case 14 where HeaderBytes.are(name, "content-length"):
      lengthCount += 1
      length = Self.number(value)
    case 16 where HeaderBytes.are(name, "content-encoding"):
      hasCoding = true
    case 17 where HeaderBytes.are(name, "transfer-encoding"):
      hasTransferCoding = true
    default:
      return
    }
  }

  private static func number(_ value: RawSpan) -> Int64? {
    guard !value.isEmpty, value.byteCount <= 18 else { return nil }
    var number: Int64 = 0
    for index in value.byteOffsets {
      let digit = unsafe value.unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self)
      guard ASCII.isDigit(digit) else { return nil }
      number = 10 * number + Int64(digit - UInt8(ascii: "0"))
    }
    return number
  }
}

extension ResponseHead.Version {
  /// Whether a connection carries one request at a time.
  var isTextual: Bool {
    switch self {
    case .http10, .http11: true
    case .http2, .http3: false
    }
  }
}

/// Faults of a response head that libcurl does not refuse.
enum ResponseFault: Error, Hashable, Sendable {
  case statusLine(String)
  case status(Int)
  case version(ResponseHead.Version)
  case protocolSwitch
  case secondHead
  case lineEnd
  case foldedLine
  case fieldName(String)
  case controlCharacter(field: String)
  case tooManyFields
  case tooManyBytes
  case contentLength(String)
  case lengthAndTransferCoding
  case transferCoding(String)
  case severalCodings(String)
  case unaskedRange
  case unaskedNotModified
  case unaskedCoding(String)
  case otherRest(ResumeRule.Objection)
}

extension ResponseFault: CustomStringConvertible {
  var description: String {
    switch self {
    case .statusLine(let line): "the status line `\(line)`, which is not HTTP"
    case .status(let status): "the status \(status), which does not exist"
    case .version(let version): "HTTP/\(version.rawValue) though that was not agreed upon"
    case .protocolSwitch: "a switch of protocols that was not requested"
    case .secondHead: "a second head within the body of the first"
    case .lineEnd: "a header line that does not end as HTTP demands"
    case .foldedLine: "a header folded over several lines"
    case .fieldName(let line): "the header line `\(line)`, which has no valid name"
    case .controlCharacter(let field): "a control character in the header `\(field)`"
    case .tooManyFields: "more than \(ResponseHeadParser.maximumFields) headers"
    case .tooManyBytes: "more than \(ResponseHeadParser.maximumBytes) bytes of headers"
    case .contentLength(let value): "the Content-Length `\(value)`, which is not a single length"
    case .lengthAndTransferCoding: "both a Content-Length and a Transfer-Encoding"
    case .transferCoding(let value): "the Transfer-Encoding `\(value)`; only `chunked` is read"
    case .severalCodings(let value): "the Content-Encoding `\(value)`; only one coding is read"
    case .unaskedRange: "a part (206) though the whole was requested"
    case .unaskedNotModified: "“not modified” (304) though no validator was sent"
    case .unaskedCoding(let value): "the Content-Encoding `\(value)` that was not requested"
    case .otherRest(let objection): "\(objection) though the rest of a body was requested"
    }
  }
}

extension ResponseFault {
  /// Whether a request for the whole body may avoid the fault of this partial one.
  var justifiesWholeRequest: Bool {
    switch self {
    case .otherRest, .unaskedCoding, .unaskedNotModified: true
    case .statusLine, .status, .version, .protocolSwitch, .secondHead, .lineEnd, .foldedLine,
      .fieldName,
      .controlCharacter, .tooManyFields, .tooManyBytes, .contentLength,
      .lengthAndTransferCoding, .transferCoding, .severalCodings, .unaskedRange:
      false
    }
  }
}
