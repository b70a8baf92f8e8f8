import PrefetchCore
import PrefetchDocuments

/// How one kind of value is read from a document and written in its canonical form.
package struct ValueType<Value: Sendable>: Sendable {
  package let shape: Shape
  /// Nil when the value cannot be used, which has then been reported.
  let decode: @Sendable (Node, inout NodeDecoder) -> Value?
  let encode: @Sendable (Value) -> JSONValue
}

extension ValueType {
  /// A value written as text, whose reading may fail with a complaint.
  static func scalar(
    _ expectation: String,
    summary: String,
    schema: @autoclosure @escaping @Sendable () -> ScalarSchema,
    code: Diagnostic.Code = "config.bad-value",
    parse: @escaping @Sendable (String) throws(ValueComplaint) -> Value,
    encode: @escaping @Sendable (Value) -> JSONValue
  ) -> Self {
    placed(
      expectation,
      summary: summary,
      schema: schema(),
      code: code,
      parse: { text, _, _ throws(ValueComplaint) in try parse(text) },
      encode: encode
    )
  }

  /// The same where the text alone does not say what it means, nil after a report.
  ///
  /// It may be relative to something, or have parts that are worth a word.
  static func placed(
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
        if let plain = node.asPlainNumber, !schema().readsText(of: node) { node = plain }
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

  /// The same text for another type of value.
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

  /// Returns the type with another schema.
  func describing(_ change: @escaping @Sendable (ScalarSchema) -> ScalarSchema) -> Self {
    Self(shape: shape.changing(change), decode: decode, encode: encode)
  }

  /// Returns the type with one more check of each value.
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

/// Why text is no value of a type.
struct ValueComplaint: Error {
  var message: String
  var hint: String?
  /// Where the type's own code is too coarse.
  var code: Diagnostic.Code?
  /// Whether the text may hold a password.
  var isSecret: Bool

  init(_ message: String, hint: String? = nil, code: Diagnostic.Code? = nil, isSecret: Bool = false)
  {
    self.message = message
    self.hint = hint
    self.code = code
    self.isSecret = isSecret
  }
}
