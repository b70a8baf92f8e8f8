import PrefetchDocuments

/// One row of the key table: a key, where its value lives, how it is read and written, what it means.
///
/// Where it lives is made out when a caller asks: most runs read a few of some 300 keys,
/// and every key path costs microseconds to make.
package struct Field<Root: Sendable>: Sendable {
  var key: KeyShape
  let decode: @Sendable (Node, inout Root, inout NodeDecoder) -> Void
  let encode: @Sendable (Root) -> JSONValue

  init(
    _ name: String,
    shape: Shape,
    decode: @escaping @Sendable (Node, inout Root, inout NodeDecoder) -> Void,
    encode: @escaping @Sendable (Root) -> JSONValue
  ) {
    key = KeyShape(name: name, shape: shape)
    self.decode = decode
    self.encode = encode
  }

  init<Value: Sendable>(
    _ name: String,
    _ property: @autoclosure @escaping @Sendable () -> any WritableKeyPath<Root, Value> & Sendable,
    _ type: ValueType<Value>
  ) {
    self.init(name, shape: type.shape) { node, root, decoder in
      guard let value = type.decode(node, &decoder) else { return }
      root[keyPath: property()] = value
    } encode: { root in
      type.encode(root[keyPath: property()])
    }
  }

  /// A value that may be unset.
  init<Value: Sendable>(
    _ name: String,
    _ property: @autoclosure @escaping @Sendable () -> any WritableKeyPath<Root, Value?> & Sendable,
    _ type: ValueType<Value>
  ) {
    self.init(name, shape: type.shape) { node, root, decoder in
      guard let value = type.decode(node, &decoder) else { return }
      root[keyPath: property()] = value
    } encode: { root in
      root[keyPath: property()].map(type.encode) ?? .null
    }
  }

  /// A mapping whose keys change single properties of the value that is already there.
  init<Value: Sendable>(
    _ name: String,
    _ property: @autoclosure @escaping @Sendable () -> any WritableKeyPath<Root, Value> & Sendable,
    _ type: ObjectType<Value>
  ) {
    self.init(name, shape: .object(type.shape)) { node, root, decoder in
      type.decode(node, into: &root[keyPath: property()], &decoder)
    } encode: { root in
      type.encode(root[keyPath: property()])
    }
  }

  /// A mapping that may be missing as a whole.
  init<Value: Sendable>(
    _ name: String,
    _ property: @autoclosure @escaping @Sendable () -> any WritableKeyPath<Root, Value?> & Sendable,
    _ type: ObjectType<Value>
  ) {
    self.init(name, shape: .object(type.shape)) { node, root, decoder in
      var value = root[keyPath: property()] ?? type.initial
      type.decode(node, into: &value, &decoder)
      root[keyPath: property()] = value
    } encode: { root in
      root[keyPath: property()].map(type.encode) ?? .null
    }
  }
}

extension Field {
  /// What it means, in one sentence without its full stop; pages and the schema have it.
  func help(_ text: String) -> Self {
    var field = self
    field.key.help = text
    return field
  }

  var secret: Self {
    var field = self
    field.key.isSecret = true
    return field
  }

  func synonyms(_ names: String..., areOutdated: Bool = false) -> Self {
    var field = self
    field.key.synonyms += names.map { KeyShape.Synonym(name: $0, isOutdated: areOutdated) }
    return field
  }
}

/// Lets the compiler check one row after another, which a literal of fifty rows would not.
@resultBuilder
enum FieldBuilder<Root: Sendable> {
  static func buildExpression(_ field: Field<Root>) -> [Field<Root>] {
    [field]
  }

  static func buildExpression(_ fields: [Field<Root>]) -> [Field<Root>] {
    fields
  }

  static func buildBlock(_ parts: [Field<Root>]...) -> [Field<Root>] {
    parts.flatMap(\.self)
  }
}
