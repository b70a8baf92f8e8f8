import PrefetchCore
import PrefetchDocuments

/// A mapping with known keys and the value that they describe.
package struct ObjectType<Root: Sendable>: Sendable {
  let initial: Root
  let fields: [Field<Root>]
  package private(set) var shape: ObjectShape
  private var requirements: [Requirement] = []
  /// Check of conditions between keys, called after all keys are read.
  private(set) var check: @Sendable (inout Root, ObjectFacts, inout NodeDecoder) -> Void = {
    _,
    _,
    _ in
  }

  init(
    _ initial: Root,
    name: String? = nil,
    shorthand: String? = nil,
    @FieldBuilder<Root> fields: () -> [Field<Root>]
  ) {
    self.initial = initial
    self.fields = fields()
    let keys = self.fields.map { field in
      var key = field.key
      key.encodeDefault = { field.encode(initial) }
      return key
    }
    shape = ObjectShape(keys: keys, shorthand: shorthand, name: name)
  }

  func requiring(
    _ keys: String...,
    code: Diagnostic.Code = "config.missing-key",
    hint: String? = nil,
    message: @escaping @Sendable (NodeDecoder) -> String
  ) -> Self {
    var type = self
    type.requirements.append(Requirement(keys: keys, code: code, hint: hint, message: message))
    type.shape.required.append(keys)
    return type
  }

  func checking(
    _ check: @escaping @Sendable (inout Root, ObjectFacts, inout NodeDecoder) -> Void
  ) -> Self {
    var type = self
    type.check = check
    return type
  }

  func decode(_ node: Node, into root: inout Root, _ decoder: inout NodeDecoder) {
    guard case .mapping(let entries) = node.content else {
      decodeShorthand(node, into: &root, &decoder)
      return
    }
    var known: [Node.Entry] = []
    for entry in entries where !KeySpelling.isPrivate(entry.key) {
      guard shape.keys.contains(where: { $0.name == entry.key }) else {
        decoder.reportUnknownKey(entry, known: shape)
        continue
      }
      known.append(entry)
    }
    let facts = ObjectFacts(node: node, entries: known)
    for field in fields {
      guard let entry = facts[field.key.name] else { continue }
      let shape = field.key.shape
      guard !entry.value.isUnset(for: shape) else { continue }
      decoder.descend(.key(field.key.name), isSecret: field.key.isSecret) { decoder in
        decoder.recordOrigin(of: entry.value, shape: shape)
        field.decode(entry.value, &root, &decoder)
      }
    }
    for requirement in requirements where !requirement.keys.contains(where: facts.has) {
      decoder.report(
        requirement.code,
        requirement.message(decoder),
        hint: requirement.hint,
        at: facts.node
      )
    }
    check(&root, facts, &decoder)
  }

  func encode(_ root: Root) -> JSONValue {
    encode(root) { _ in true }
  }

  func encode(_ root: Root, where isWanted: (String) -> Bool) -> JSONValue {
    let wanted = fields.filter { isWanted($0.key.name) }
    return .object(wanted.map { ($0.key.name, $0.encode(root)) }.sorted { $0.0 < $1.0 })
  }

  private func decodeShorthand(_ node: Node, into root: inout Root, _ decoder: inout NodeDecoder) {
    guard let field = fields.first(where: { $0.key.name == shape.shorthand }),
      node.scalar?.kind != .null, field.key.shape.accepts(node)
    else {
      decoder.reportWrongType(of: node, expected: shape.expectation)
      return
    }
    decoder.descend(.key(field.key.name), isSecret: field.key.isSecret) { decoder in
      decoder.recordOrigin(of: node, shape: field.key.shape)
      field.decode(node, &root, &decoder)
    }
    let entry = Node.Entry(key: field.key.name, keyLocation: node.location, value: node)
    check(&root, ObjectFacts(node: node, entries: [entry]), &decoder)
  }
}

/// Keys of which a mapping needs at least one, with the message when all are absent.
private struct Requirement: Sendable {
  var keys: [String]
  var code: Diagnostic.Code
  var hint: String?
  var message: @Sendable (NodeDecoder) -> String
}

extension ValueType {
  static func object(_ type: ObjectType<Value>) -> Self {
    Self(
      shape: .object(type.shape),
      decode: { node, decoder in
        var value = type.initial
        type.decode(node, into: &value, &decoder)
        return value
      },
      encode: { type.encode($0) }
    )
  }
}

struct ObjectFacts: Sendable {
  var node: Node
  /// A list, since mappings have too few keys for a dictionary to pay off.
  var entries: [Node.Entry]

  subscript(key: String) -> Node.Entry? {
    entries.last { $0.key == key }
  }

  func has(_ key: String) -> Bool {
    self[key].map { !$0.value.isUnset(for: .anything) } ?? false
  }

  func keyNode(of key: String) -> Node {
    guard let entry = self[key] else { return node }
    var located = entry.value
    located.location = entry.keyLocation ?? located.location
    return located
  }
}

extension Node {
  /// Whether a value is unset: JSON's null, an empty YAML value, or `~` where text makes no sense.
  func isUnset(for shape: Shape) -> Bool {
    guard case .scalar(let scalar) = content else { return false }
    switch scalar.kind {
    case .null:
      return true
    case .unquoted where scalar.text.isEmpty:
      return true
    case .unquoted:
      guard scalar.text.utf8.count <= 4, ["~", "null", "Null", "NULL"].contains(scalar.text) else {
        return false
      }
      guard case .scalar(let type) = shape else { return true }
      return type.summary != "text" && type.summary != "path"
    case .string, .number, .boolean, .date, .data:
      return false
    }
  }
}

extension Shape {
  func accepts(_ node: Node) -> Bool {
    switch (self, node.content) {
    case (.scalar, .scalar), (.list, .sequence), (.anything, _), (.map, .mapping),
      (.object, .mapping):
      true
    case (.object(let object), _):
      object.shorthandShape?.accepts(node) ?? false
    case (.scalar, _), (.list, _), (.map, _):
      false
    }
  }
}
