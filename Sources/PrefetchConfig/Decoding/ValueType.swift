import PrefetchCore
import PrefetchDocuments

package struct ValueType<Value: Sendable>: Sendable {
  package let shape: Shape
  /// Returns the value; nil after reporting that it is unusable.
  let decode: @Sendable (Node, inout NodeDecoder) -> Value?
  let encode: @Sendable (Value) -> JSONValue
}

extension ValueType {
  static func scalar(
    _ expectation: String,
    summary: String,
    schema: @autoclosure @escaping @Sendable () -> ScalarSchema,
    code: Diagnostic.Code = "config.bad-value",
    parse: @escaping @Sendable (String) throws(ValueComplaint) -> Value,
    encode: @escaping @Sendable (Value) -> JSONValue
  ) -> Self {
    located(
      expectation,
      summary: summary,
      schema: schema(),
      code: code,
      parse: { text, _, _ throws(ValueComplaint) in try parse(text) },
      encode: encode
    )
  }

  /// A scalar whose meaning depends on its location; `parse` returns nil after a report.
  static func located(
    _ expectation: String,
    summary: String,
    schema: @autoclosure @escaping @Sendable () -> ScalarSchema,
    code: Diagnostic.Code = "config.bad-value",
    parse: @escaping @Sendable (String, Node, inout NodeDecoder) throws(ValueComplaint) -> Value?,
    encode: @escaping @Sendable (Value) -> JSONValue
  ) -> Self {
    Self(
      shape: .scalar(ScalarShape(expectation: expectation, summary: summary, schema: schema())),
      decode: { node, decoder in
        var node = node
        if let decimal = node.asDecimalNumber, !schema().readsText(of: node) { node = decimal }
        guard let text = decoder.text(of: node, expecting: expectation) else { return nil }
        do throws(ValueComplaint) {
          return try parse(text, node, &decoder)
        } catch {
          decoder.report(error, code: code, at: node)
          return nil
        }
      },
      encode: encode
    )
  }

  func mapped<Other: Sendable>(
    _ make: @escaping @Sendable (Value) -> Other,
    back: @escaping @Sendable (Other) -> Value
  ) -> ValueType<Other> {
    ValueType<Other>(
      shape: shape,
      decode: { [decode] node, decoder in decode(node, &decoder).map(make) },
      encode: { [encode] in encode(back($0)) }
    )
  }

  func describing(_ change: @escaping @Sendable (ScalarSchema) -> ScalarSchema) -> Self {
    Self(shape: shape.changing(change), decode: decode, encode: encode)
  }

  func checked(
    _ check: @escaping @Sendable (Value, Node, inout NodeDecoder) -> Void
  ) -> Self {
    Self(
      shape: shape,
      decode: { [decode] node, decoder in
        guard let value = decode(node, &decoder) else { return nil }
        check(value, node, &decoder)
        return value
      },
      encode: encode
    )
  }
}

struct ValueComplaint: Error {
  var message: String
  var hint: String?
  var code: Diagnostic.Code?
  var isSecret: Bool

  init(_ message: String, hint: String? = nil, code: Diagnostic.Code? = nil, isSecret: Bool = false)
  {
    self.message = message
    self.hint = hint
    self.code = code
    self.isSecret = isSecret
  }
}
