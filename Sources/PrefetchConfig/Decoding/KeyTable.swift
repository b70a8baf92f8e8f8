package import PrefetchDocuments

/// One key as a reference page lists it.
package struct KeyRow: Sendable {
  /// `cache.purge.order`; list elements as `[]`, free keys in capitals.
  package var path: String
  package var type: String
  /// Nil where unset is a state of its own.
  package var defaultValue: JSONValue?
  package var help: String
  package var isSecret: Bool
  package var synonyms: [String]
}

/// The key table, flat.
package enum KeyTable {
  /// Every key of the configuration, those of shared mappings once where they first appear in full.
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
      // What `defaults` may say is said under `segments`.
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
