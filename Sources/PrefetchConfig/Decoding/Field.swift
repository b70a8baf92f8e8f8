import PrefetchDocuments

/// A row of the key table: how a key is read, written, documented and stored.
///
/// Types and key paths are made on use: each costs microseconds, and most runs read few of 300 keys.
package struct Field<Root: Sendable>: Sendable {
  var key: KeyShape
  let decode: @Sendable (Node, inout Root, inout NodeDecoder) -> Void
  let encode: @Sendable (Root) -> JSONValue

  init(
    _ name: String,
    shape: @autoclosure @escaping @Sendable () -> Shape,
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
    _ type: @autoclosure @escaping @Sendable () -> ValueType<Value>
  ) {
    self.init(name, shape: type().shape) { node, root, decoder in
      guard let value = type().decode(node, &decoder) else { return }
      root[keyPath: property()] = value
    } encode: { root in
      type().encode(root[keyPath: property()])
    }
  }

  init<Value: Sendable>(
    _ name: String,
    _ property: @autoclosure @escaping @Sendable () -> any WritableKeyPath<Root, Value?> & Sendable,
    _ type: @autoclosure @escaping @Sendable () -> ValueType<Value>
  ) {
    self.init(name, shape: type().shape) { node, root, decoder in
      guard let value = type().decode(node, &decoder) else { return }
      root[keyPath: property()] = value
    } encode: { root in
      root[keyPath: property()].map { type().encode($0) } ?? .null
    }
  }

  /// A mapping whose keys change single properties of the existing value.
  init<Value: Sendable>(
    _ name: String,
    _ property: @autoclosure @escaping @Sendable () -> any WritableKeyPath<Root, Value> & Sendable,
    _ type: @autoclosure @escaping @Sendable () -> ObjectType<Value>
  ) {
    self.init(name, shape: .object(type().shape)) { node, root, decoder in
      type().decode(node, into: &root[keyPath: property()], &decoder)
    } encode: { root in
      type().encode(root[keyPath: property()])
    }
  }

  init<Value: Sendable>(
    _ name: String,
    _ property: @autoclosure @escaping @Sendable () -> any WritableKeyPath<Root, Value?> & Sendable,
    _ type: @autoclosure @escaping @Sendable () -> ObjectType<Value>
  ) {
    self.init(name, shape: .object(type().shape)) { node, root, decoder in
      let type = type()
      var value = root[keyPath: property()] ?? type.initial
      type.decode(node, into: &value, &decoder)
      root[keyPath: property()] = value
    } encode: { root in
      root[keyPath: property()].map { type().encode($0) } ?? .null
    }
  }
}

extension Field {
  /// Adds the documentation for pages and schema, a sentence without its full stop.
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

/// Lets the compiler check rows one by one; a literal of fifty rows would overwhelm it.
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
