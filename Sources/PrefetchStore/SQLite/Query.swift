/// SQL text whose interpolated values become parameters.
struct Query: ExpressibleByStringInterpolation {
  let text: String
  let values: [any StatementValue]

  init(stringLiteral text: String) {
    self.init(text: text, values: [])
  }

  init(stringInterpolation parts: StringInterpolation) {
    self.init(text: parts.text, values: parts.values)
  }

  private init(text: String, values: [any StatementValue]) {
    self.text = text
    self.values = values
  }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""
    fileprivate var values: [any StatementValue] = []

    init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount)
      values.reserveCapacity(interpolationCount)
    }

    mutating func appendLiteral(_ literal: String) {
      text += literal
    }

    mutating func appendInterpolation(_ value: some StatementValue) {
      text += "?"
      values.append(value)
    }

    mutating func appendInterpolation(_ value: (some StatementValue)?) {
      text += "?"
      values.append(value)
    }

    /// Inserts SQL text, such as a table's name.
    mutating func appendInterpolation(raw part: String) {
      text += part
    }
  }
}
