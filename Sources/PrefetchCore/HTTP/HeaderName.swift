/// Header field name; well-known names compare by number.
package struct HeaderName: ExpressibleByStringLiteral, Sendable {
  package let text: String
  /// Number of a well-known name in any spelling; zero for other names.
  let number: UInt8

  package init(_ text: String) {
    self.text = text
    number = unsafe WellKnownNames.number(of: text.utf8.span.bytes)
  }

  package init(stringLiteral text: String) {
    self.init(text)
  }

  fileprivate init(code: UInt8) {
    number = WellKnownNames.number(of: code)
    text = WellKnownNames.spellings[Int(number) - 1]
  }

  static func == (a: Self, b: Self) -> Bool {
    a.number == b.number && (a.number != 0 || ASCII.equalsIgnoringCase(a.text, b.text))
  }

  /// Names that are looked up in each response, prepared once.
  package static let age = HeaderName("Age")
  package static let cacheControl = HeaderName("Cache-Control")
  package static let connection = HeaderName("Connection")
  package static let contentType = HeaderName("Content-Type")
  package static let date = HeaderName("Date")
  package static let entityTag = HeaderName("ETag")
  package static let expires = HeaderName("Expires")
  package static let lastModified = HeaderName("Last-Modified")
  package static let retryAfter = HeaderName("Retry-After")
  package static let vary = HeaderName("Vary")
}

struct HeaderNames: Sendable {
  private var bits: UInt64 = 0
  private var others: [String] = []

  init(_ names: [String]) {
    for name in names {
      switch HeaderName(name).number {
      case 0: others.append(name)
      case let number: bits |= 1 << UInt64(number)
      }
    }
  }

  func contains(_ name: HeaderName) -> Bool {
    contains(number: name.number)
      || name.number == 0 && others.contains { ASCII.equalsIgnoringCase($0, name.text) }
  }

  fileprivate func contains(number: UInt8) -> Bool {
    bits >> UInt64(number) & 1 != 0
  }
}

/// Names of most responses: each has a number, and each of its two usual spellings a code.
enum WellKnownNames {
  static func code(of name: RawSpan) -> UInt8 {
    let table = table
    for number in table.numbers(ofLength: name.byteCount) {
      let range = table.range(of: number)
      if unsafe name.isSame(as: table.letters.span.bytes.extracting(range)) {
        return 2 * number - 1
      }
      if unsafe name.isSame(as: table.smallLetters.span.bytes.extracting(range)) {
        return 2 * number
      }
    }
    return 0
  }

  static func number(of name: RawSpan) -> UInt8 {
    let table = table
    let small = name.byteOffsets.map { ASCII.lowercased(name.byte($0)) }
    return table.numbers(ofLength: name.byteCount).first { number in
      table.smallLetters[table.range(of: number)].elementsEqual(small)
    } ?? 0
  }

  static func number(of code: UInt8) -> UInt8 {
    (code + 1) / 2
  }

  static func spelling(of code: UInt8) -> String {
    let text = spellings[Int(number(of: code)) - 1]
    return code.isMultiple(of: 2) ? text.lowercased() : text
  }

  static func withLetters(of code: UInt8, _ body: (Span<UInt8>) -> Void) {
    let table = table
    let letters = code.isMultiple(of: 2) ? table.smallLetters : table.letters
    body(letters.span.extracting(table.range(of: number(of: code))))
  }

  /// Well-known names; stored by position, so only ever append.
  static let spellings = [
    "Date", "Content-Type", "Content-Length", "ETag", "Last-Modified", "Cache-Control", "Expires",
    "Age", "Server", "Vary", "Connection", "Accept-Ranges", "Content-Encoding", "Content-Range",
    "Keep-Alive", "Transfer-Encoding", "Via", "X-Cache", "Strict-Transport-Security", "Alt-Svc",
    "Location", "Access-Control-Allow-Origin", "X-Content-Type-Options", "Content-Disposition",
    "Content-Language", "Pragma", "X-Served-By", "X-Cache-Hits", "X-Timer", "CF-Cache-Status",
    "CF-RAY", "Warning", "Retry-After", "Cross-Origin-Resource-Policy", "X-Amz-Request-Id",
    "X-Amz-Id-2", "X-Frame-Options", "Content-Security-Policy", "Referrer-Policy",
    "Timing-Allow-Origin",
  ]

  static let highestCode = UInt8(2 * spellings.count)

  private static let table = Table()

  /// Lookup tables in one static value, since each static access costs a lookup.
  private struct Table {
    let letters = spellings.flatMap { Array($0.utf8) }
    let smallLetters = spellings.flatMap { Array($0.lowercased().utf8) }
    private let ranges: [Range<Int>]
    private let numbersByLength: [[UInt8]]

    init() {
      var end = 0
      ranges = spellings.map { spelling in
        defer { end += spelling.utf8.count }
        return end..<end + spelling.utf8.count
      }
      var byLength: [[UInt8]] = []
      for (index, range) in ranges.enumerated() {
        while byLength.count <= range.count { byLength.append([]) }
        byLength[range.count].append(UInt8(index + 1))
      }
      numbersByLength = byLength
    }

    func range(of number: UInt8) -> Range<Int> {
      ranges[Int(number) - 1]
    }

    func numbers(ofLength length: Int) -> [UInt8] {
      length < numbersByLength.count ? numbersByLength[length] : []
    }
  }
}

extension HeaderBlock {
  package func headerName(at index: Int) -> HeaderName {
    let code = code(at: index)
    return code == 0 ? HeaderName(name(at: index)) : HeaderName(code: code)
  }

  func isNamed(_ index: Int, anyOf names: HeaderNames) -> Bool {
    let code = code(at: index)
    return code == 0
      ? names.contains(headerName(at: index))
      : names.contains(number: WellKnownNames.number(of: code))
  }
}
