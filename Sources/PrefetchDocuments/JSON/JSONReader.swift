internal import PrefetchCore

/// Strict RFC 8259 reader without recursion, so that nesting takes no stack.
struct JSONReader {
  private enum Expectation {
    case value
    case firstElement
    case element
    case firstKey
    case key
    case colon
    case separator
    case end
  }

  private var scanner: JSONScanner
  private var commaLocation: SourceLocation?

  static func read(_ text: SourceText, into builder: inout TreeBuilder) throws(Diagnostic) {
    var reader = JSONReader(scanner: JSONScanner(text))
    try reader.fill(&builder)
  }

  private mutating func fill(_ builder: inout TreeBuilder) throws(Diagnostic) {
    var expectation = Expectation.value
    while let byte = scanner.nextToken() {
      switch expectation {
      case .value, .element, .firstElement:
        expectation = try value(byte, expectation, into: &builder)
      case .key, .firstKey:
        expectation = try key(byte, expectation, into: &builder)
      case .colon:
        expectation = try colon(byte)
      case .separator:
        expectation = try separator(byte, into: &builder)
      case .end:
        throw scanner.unexpected(byte, "the document ends before this")
      }
    }
    guard expectation == .end else {
      throw scanner.fault("the document ends too early, expected \(name(expectation, in: builder))")
    }
  }

  private mutating func value(
    _ byte: UInt8,
    _ expectation: Expectation,
    into builder: inout TreeBuilder
  ) throws(Diagnostic) -> Expectation {
    switch byte {
    case UInt8(ascii: "{"):
      try builder.open(.mapping, at: scanner.location())
      scanner.skip()
      return .firstKey
    case UInt8(ascii: "["):
      try builder.open(.sequence, at: scanner.location())
      scanner.skip()
      return .firstElement
    case UInt8(ascii: "]") where expectation == .firstElement:
      return try close(&builder)
    case UInt8(ascii: "]") where expectation == .element:
      throw trailingComma(before: "]")
    case UInt8(ascii: "\""):
      let (text, location) = try scanner.string()
      try builder.add(Scalar(text, kind: .string), at: location)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      let (text, location) = try scanner.number()
      try builder.add(Scalar(text, kind: .number), at: location)
    default:
      let (scalar, location) = try scanner.word(byte)
      try builder.add(scalar, at: location)
    }
    return builder.depth == 0 ? .end : .separator
  }

  private mutating func key(
    _ byte: UInt8,
    _ expectation: Expectation,
    into builder: inout TreeBuilder
  ) throws(Diagnostic) -> Expectation {
    switch byte {
    case UInt8(ascii: "\""):
      let (text, location) = try scanner.string()
      try builder.key(text, at: location)
      return .colon
    case UInt8(ascii: "}") where expectation == .firstKey:
      return try close(&builder)
    case UInt8(ascii: "}"):
      throw trailingComma(before: "}")
    default:
      throw scanner.unexpectedKey(byte)
    }
  }

  private mutating func colon(_ byte: UInt8) throws(Diagnostic) -> Expectation {
    guard byte == UInt8(ascii: ":") else {
      throw scanner.unexpected(byte, "expected `:` after the key")
    }
    scanner.skip()
    return .value
  }

  private mutating func separator(
    _ byte: UInt8,
    into builder: inout TreeBuilder
  ) throws(Diagnostic) -> Expectation {
    let closer = builder.isInMapping ? UInt8(ascii: "}") : UInt8(ascii: "]")
    if byte == closer { return try close(&builder) }
    guard byte == UInt8(ascii: ",") else {
      throw scanner.unexpected(byte, "expected \(name(.separator, in: builder))")
    }
    commaLocation = scanner.location()
    scanner.skip()
    return builder.isInMapping ? .key : .element
  }

  private mutating func close(_ builder: inout TreeBuilder) throws(Diagnostic) -> Expectation {
    scanner.skip()
    try builder.close()
    return builder.depth == 0 ? .end : .separator
  }

  private func trailingComma(before closer: String) -> Diagnostic {
    Diagnostic(
      "document.syntax",
      "trailing comma before `\(closer)`",
      hint: "remove the comma",
      at: commaLocation
    )
  }

  private func name(_ expectation: Expectation, in builder: TreeBuilder) -> String {
    switch expectation {
    case .value, .element: "a value"
    case .firstElement: "a value or `]`"
    case .key: "a key in double quotes"
    case .firstKey: "a key in double quotes or `}`"
    case .colon: "`:` after the key"
    case .separator: builder.isInMapping ? "`,` or `}`" : "`,` or `]`"
    case .end: "nothing more"
    }
  }
}
