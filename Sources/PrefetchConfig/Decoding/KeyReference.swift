package import PrefetchDocuments

package struct KeyRow: Sendable {
  /// Path such as `cache.purge.order`; `[]` marks elements, capitals mark free keys.
  package var path: String
  package var type: String
  /// Default; nil when unset has a meaning of its own.
  package var defaultValue: JSONValue?
  package var help: String
  package var isSecret: Bool
  package var synonyms: [String]
}

package enum KeyReference {
  /// All keys; those of shared mappings appear once, at their first use.
  package static var rows: [KeyRow] {
    rows(of: Configuration.table.shape, below: "")
  }

  private static func rows(of object: ObjectShape, below prefix: String) -> [KeyRow] {
    object.keys.flatMap { key -> [KeyRow] in
      let path = prefix.isEmpty ? key.name : "\(prefix).\(key.name)"
      let row = KeyRow(
        path: path,
        type: key.shape.summary,
        defaultValue: key.shape.isObject ? nil : key.defaultValue,
        help: key.help,
        isSecret: key.isSecret,
        synonyms: key.synonyms.map(\.name)
      )
      // The keys of `defaults` are documented under `segments`.
      guard path != "defaults" else { return [row] }
      return [row] + rows(of: key.shape, below: path)
    }
  }

  private static func rows(of shape: Shape, below path: String) -> [KeyRow] {
    switch shape {
    case .scalar, .anything: []
    case .list(let element, _): rows(of: element, below: "\(path)[]")
    case .map(let keys, let element):
      rows(
        of: element,
        below: "\(path).\(keys.summary.contains("|") ? "NAME" : keys.summary.uppercased())"
      )
    case .object(let object): rows(of: object, below: path)
    }
  }
}

extension Shape {
  fileprivate var isObject: Bool {
    if case .object = self { true } else { false }
  }
}
