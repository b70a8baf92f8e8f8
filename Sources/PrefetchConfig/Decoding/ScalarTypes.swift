import PrefetchCore
import PrefetchDocuments

extension ValueType where Value == String {
  static var text: Self {
    scalar(
      "text",
      summary: "text",
      schema: .text("text"),
      parse: { text throws(ValueComplaint) in text },
      encode: { .string($0) }
    )
  }

  static var name: Self {
    scalar("a name", summary: "name", schema: .text("name", Pattern.holdsSomething)) {
      text throws(ValueComplaint) in
      let trimmed = Blanks.trimmed(text)
      guard !trimmed.isEmpty else {
        throw ValueComplaint("the name is empty", code: "config.missing-name")
      }
      return trimmed
    } encode: {
      .string($0)
    }
  }
}

extension ValueType where Value == String {
  var nonEmpty: Self {
    checked { value, node, decoder in
      guard Blanks.trimmed(value).isEmpty else { return }
      decoder.report("config.bad-value", "`\(decoder.lastKey)` is empty", at: node)
    }
    .describing { $0.with(Pattern.holdsSomething, $0.name == "text" ? "name" : nil) }
  }

  /// Rejects line breaks and control characters, since the text becomes part of a request.
  var singleLine: Self {
    checked { value, node, decoder in
      guard value.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
        return
      }
      decoder.report(
        "config.bad-value",
        "`\(decoder.lastKey)` holds a line break or control character",
        at: node
      )
    }
    .describing { $0.with(Pattern.holdsNoControl) }
  }
}

extension ScalarSchema {
  /// Booleans and their words, most of which YAML 1.2, and so editors, take for text.
  fileprivate static let boolean = pattern(
    "[Tt]rue|TRUE|[Ff]alse|FALSE|[Yy]es|YES|[Nn]o|NO|[Oo]n|ON|[Oo]ff|OFF",
    "boolean"
  )
  .acceptingBooleans
}

extension ValueType where Value == Bool {
  static var boolean: Self {
    let expectation = "a boolean (true, false, yes, no, on, off)"
    return Self(
      shape: .scalar(
        ScalarShape(
          expectation: expectation,
          summary: "boolean",
          schema: .boolean
        )
      ),
      decode: { node, decoder in
        guard let text = decoder.text(of: node, expecting: expectation) else { return nil }
        if let value = Booleans.value(of: text) { return value }
        decoder.reportWrongBoolean(text, at: node, expected: expectation)
        return nil
      },
      encode: { .bool($0) }
    )
  }

  /// A boolean, not a quoted text or number, for keys that Apple's frameworks read strictly.
  static var strictBoolean: Self {
    let expectation = "a boolean (true or false)"
    return Self(
      shape: .scalar(
        ScalarShape(
          expectation: expectation,
          summary: "boolean",
          schema: .strictBoolean
        )
      ),
      decode: { node, decoder in
        // In an Info.plist, 0 and 1 count as booleans, as Apple's system reads them.
        if let scalar = node.scalar, scalar.kind == .number, decoder.isLenient(node),
          scalar.text == "0" || scalar.text == "1"
        {
          return scalar.text == "1"
        }
        guard let scalar = node.scalar, scalar.kind == .boolean || scalar.kind == .unquoted,
          let value = Booleans.strictValue(of: scalar.text)
        else {
          let text = node.scalar?.text
          let hint = node.scalar?.kind == .string ? "write it without quotes" : nil
          decoder.reportWrongBoolean(text, at: node, expected: expectation, hint: hint)
          return nil
        }
        return value
      },
      encode: { .bool($0) }
    )
  }
}

extension ValueType where Value == UInt16 {
  /// Three octal digits as `chmod` takes them, optionally after a zero.
  static var fileMode: Self {
    scalar(
      "a mode in octal digits",
      summary: "octal digits",
      schema: .pattern("0?[4-7][0-7]{2}", nil, .integers(400...777))
    ) { text throws(ValueComplaint) in
      let digits = text.hasPrefix("0") && text.utf8.count == 4 ? text.dropFirst() : text[...]
      guard digits.utf8.count == 3, digits.utf8.allSatisfy({ (0x30...0x37).contains($0) }),
        let mode = UInt16(digits, radix: 8), mode & 0o400 != 0
      else {
        throw ValueComplaint(
          "`\(text)` is not a mode that lets the owner read",
          hint: "three octal digits, such as `0644` or `0640`"
        )
      }
      return mode
    } encode: {
      .string("0\(String($0, radix: 8))")
    }
  }
}

extension NodeDecoder {
  fileprivate mutating func reportWrongBoolean(
    _ text: String?,
    at node: Node,
    expected: String,
    hint: String? = nil
  ) {
    let found = text.map { "`\($0)`" } ?? node.kindName
    report(
      "config.wrong-type",
      "`\(lastKey)`: expected \(expected), found \(found)",
      hint: hint,
      at: node
    )
  }
}

enum Booleans {
  static func value(of text: String) -> Bool? {
    let isOneStyle = text == text.lowercased() || text == text.uppercased() || isCapitalised(text)
    guard isOneStyle else { return nil }
    return switch text.lowercased() {
    case "true", "yes", "on": true
    case "false", "no", "off": false
    default: nil
    }
  }

  static func strictValue(of text: String) -> Bool? {
    switch text {
    case "true", "yes": true
    case "false", "no": false
    default: nil
    }
  }

  private static func isCapitalised(_ text: String) -> Bool {
    text.dropFirst() == text.dropFirst().lowercased()
  }
}

enum Blanks {
  static func trimmed(_ text: some StringProtocol) -> String {
    var rest = Substring(text)
    while rest.first?.isWhitespace == true { rest = rest.dropFirst() }
    while rest.last?.isWhitespace == true { rest = rest.dropLast() }
    return String(rest)
  }
}

// MARK: - Numbers

extension ValueType where Value == Int {
  static func integer(_ range: ClosedRange<Int>) -> Self {
    let bounds =
      range.upperBound == .max
      ? "from \(range.lowerBound)" : "\(range.lowerBound)–\(range.upperBound)"
    return scalar(
      "a whole number",
      summary: "integer \(bounds)",
      schema: .pattern(Pattern.integers(range), nil, .integers(range))
    ) { text throws(ValueComplaint) in
      let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
      guard !digits.isEmpty, digits.utf8.allSatisfy(ASCII.isDigit) else {
        throw ValueComplaint("expected a whole number, found `\(text)`", code: "config.wrong-type")
      }
      guard let value = Int(text), range.contains(value) else {
        throw ValueComplaint("`\(text)` is not in the range \(bounds)")
      }
      return value
    } encode: {
      .integer(Int64($0))
    }
  }
}

extension ValueType where Value == Int {
  func orUnlimited(_ most: Int) -> Self {
    or("unlimited", for: most, encode: encode)
  }

  /// Numbers, of which one is written as `auto`.
  func orAuto(_ number: Int) -> Self {
    or("auto", for: number) { [encode] in $0 == number ? .string("auto") : encode($0) }
  }

  private func or(
    _ word: String,
    for number: Int,
    encode: @escaping @Sendable (Int) -> JSONValue
  ) -> Self {
    guard case .scalar(var scalar) = shape.changing({ $0.or(word) }) else { return self }
    scalar.summary += "|\(word)"
    return Self(
      shape: .scalar(scalar),
      decode: { [decode] node, decoder in
        node.scalar?.text == word ? number : decode(node, &decoder)
      },
      encode: encode
    )
  }
}

extension ValueType where Value == Double {
  /// A number from 0 to 1, in thousandths.
  static var fraction: Self {
    scalar(
      "a number from 0 to 1",
      summary: "number 0–1",
      schema: .pattern("0+(?:\\.[0-9]{1,12})?|0*1(?:\\.0{1,12})?", nil, .from(0, to: 1))
    ) { text throws(ValueComplaint) in
      let complaint = ValueComplaint("expected a number from 0 to 1, found `\(text)`")
      guard let quantity = try? Quantity(text), quantity.unit.isEmpty,
        quantity.isAtMostOne, let thousandths = quantity.scaled(by: 1000)
      else { throw complaint }
      return Double(thousandths) / 1000
    } encode: {
      .decimal(thousandths: Int64(($0 * 1000).rounded()))
    }
  }
}

extension JSONValue {
  static func decimal(thousandths: Int64) -> JSONValue {
    thousandths % 1000 == 0 ? .integer(thousandths / 1000) : .double(Double(thousandths) / 1000)
  }
}
