internal import PrefetchCore

/// Response headers as one compact value of a row.
///
/// Each field is its name, then its value. A name is one byte where it is among the well-known
/// ones, which spares a string for most fields when a million rows are read; else a zero byte, its
/// length and its bytes. Lengths are variable: seven bits a byte, lowest first.
enum HeaderCoding {
  static func encode(_ headers: HeaderBlock) -> [UInt8] {
    var bytes: [UInt8] = []
    for field in headers.fields {
      if let code = codes[field.name] {
        bytes.append(code)
      } else {
        bytes.append(0)
        append(field.name, to: &bytes)
      }
      append(field.value, to: &bytes)
    }
    return bytes
  }

  /// Nil for bytes that `encode` never makes.
  static func decode(_ bytes: RawSpan) -> HeaderBlock? {
    var cursor = Cursor(offset: 0)
    var headers = HeaderBlock()
    headers.reserve(bytes: bytes.byteCount + 128, fields: 16)
    while cursor.offset < bytes.byteCount {
      guard let code = cursor.byte(bytes), code <= names.count,
        let spelled = code == 0 ? cursor.text(bytes) : 0..<0, let value = cursor.text(bytes)
      else { return nil }
      if code == 0 {
        headers.append(name: bytes.extracting(spelled), value: bytes.extracting(value))
      } else {
        let name = nameBytes[Int(code) - 1]
        headers.append(name: unsafe name.span.bytes, value: bytes.extracting(value))
      }
    }
    return headers
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    var rest = text.utf8.count
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
    bytes.append(contentsOf: text.utf8)
  }

  private struct Cursor {
    var offset: Int

    mutating func byte(_ bytes: RawSpan) -> UInt8? {
      guard offset < bytes.byteCount else { return nil }
      defer { offset += 1 }
      return unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
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

  private static let codes = Dictionary(
    uniqueKeysWithValues: zip(names, UInt8(1)...UInt8(names.count))
  )
}
