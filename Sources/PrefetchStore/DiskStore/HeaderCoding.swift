internal import PrefetchCore

/// Response headers as one compact value of a row.
///
/// Each field is its name, then its value. A name is one byte where it is among the well-known
/// ones, which spares a string for most fields when a million rows are read; else a zero byte, its
/// length and its bytes. Lengths are variable: seven bits a byte, lowest first.
enum HeaderCoding {
  static func encode(_ headers: HeaderBlock) -> [UInt8] {
    var bytes: [UInt8] = []
    append(headers, to: &bytes)
    return bytes
  }

  static func append(_ headers: HeaderBlock, to bytes: inout [UInt8]) {
    headers.forEachField { name, value in
      if let code = code(of: name) {
        bytes.append(code)
      } else {
        bytes.append(0)
        append(name, to: &bytes)
      }
      append(value, to: &bytes)
    }
  }

  private static func code(of name: Span<UInt8>) -> UInt8? {
    guard name.count < codesByLength.count else { return nil }
    for code in codesByLength[name.count] where isSame(nameBytes[Int(code) - 1], name) {
      return code
    }
    return nil
  }

  private static func isSame(_ known: [UInt8], _ name: Span<UInt8>) -> Bool {
    for index in name.indices where name[index] != known[index] { return false }
    return true
  }

  /// Nil for bytes that `encode` never makes.
  static func decode(_ bytes: RawSpan) -> HeaderBlock? {
    guard let size = measure(bytes) else { return nil }
    return HeaderBlock(byteCount: size) { append in
      var cursor = Cursor(offset: 0)
      while let name = cursor.name(bytes), let value = cursor.text(bytes) {
        switch name {
        case .known(let index):
          let known = nameBytes[index]
          append(unsafe known.span.bytes, bytes.extracting(value))
        case .spelled(let range):
          append(bytes.extracting(range), bytes.extracting(value))
        }
      }
    }
  }

  /// What the block takes.
  private static func measure(_ bytes: RawSpan) -> Int? {
    var cursor = Cursor(offset: 0)
    var size = 0
    while cursor.offset < bytes.byteCount {
      guard let name = cursor.name(bytes), let value = cursor.text(bytes) else { return nil }
      size += HeaderBlock.size(name: name.length, value: value.count)
    }
    return size
  }

  private static func append(_ text: Span<UInt8>, to bytes: inout [UInt8]) {
    append(length: text.count, to: &bytes)
    unsafe text.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
  }

  static func append(length: Int, to bytes: inout [UInt8]) {
    var rest = length
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  enum Name {
    /// By its place in ``names``.
    case known(Int)
    /// Where it lies.
    case spelled(Range<Int>)

    var length: Int {
      switch self {
      case .known(let index): nameBytes[index].count
      case .spelled(let range): range.count
      }
    }
  }

  struct Cursor {
    var offset: Int

    mutating func byte(_ bytes: RawSpan) -> UInt8? {
      guard offset < bytes.byteCount else { return nil }
      defer { offset += 1 }
      return unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    mutating func name(_ bytes: RawSpan) -> Name? {
      guard let code = byte(bytes), code <= names.count else { return nil }
      return code == 0 ? text(bytes).map { .spelled($0) } : .known(Int(code) - 1)
    }

    /// Where the next text lies.
    mutating func text(_ bytes: RawSpan) -> Range<Int>? {
      var count = 0
      var shift = 0
      repeat {
        guard shift < 35, let next = byte(bytes) else { return nil }
        count |= Int(next & 0x7f) << shift
        shift += 7
        if next < 0x80 { break }
      } while true
      guard count <= bytes.byteCount - offset else { return nil }
      defer { offset += count }
      return offset..<offset + count
    }
  }

  /// Stored by position: only ever append.
  private static let names = [
    "Date", "date", "Content-Type", "content-type", "Content-Length", "content-length", "ETag",
    "etag", "Last-Modified", "last-modified", "Cache-Control", "cache-control", "Expires",
    "expires", "Age", "age", "Server", "server", "Vary", "vary", "Connection", "connection",
    "Accept-Ranges", "accept-ranges", "Content-Encoding", "content-encoding", "Content-Range",
    "content-range", "Keep-Alive", "Transfer-Encoding", "Via", "via", "X-Cache", "x-cache",
    "Strict-Transport-Security", "strict-transport-security", "Alt-Svc", "alt-svc", "Location",
    "location", "Access-Control-Allow-Origin", "access-control-allow-origin",
    "X-Content-Type-Options", "x-content-type-options", "Content-Disposition",
    "content-disposition", "Content-Language", "content-language", "Pragma", "pragma",
    "X-Served-By", "x-served-by", "X-Cache-Hits", "x-cache-hits", "X-Timer", "x-timer",
    "CF-Cache-Status", "cf-cache-status", "CF-RAY", "cf-ray", "Etag", "Warning", "Retry-After",
    "retry-after", "Cross-Origin-Resource-Policy", "cross-origin-resource-policy",
    "X-Amz-Request-Id", "x-amz-request-id", "X-Amz-Id-2", "x-amz-id-2", "X-Frame-Options",
    "x-frame-options", "Content-Security-Policy", "content-security-policy", "Referrer-Policy",
    "referrer-policy", "Timing-Allow-Origin", "timing-allow-origin",
  ]

  private static let nameBytes = names.map { Array($0.utf8) }

  /// The codes of all names of each length.
  private static let codesByLength = {
    var codes = [[UInt8]](repeating: [], count: 1 + (nameBytes.map(\.count).max() ?? 0))
    for (position, name) in nameBytes.enumerated() {
      codes[name.count].append(UInt8(position + 1))
    }
    return codes
  }()
}
