import PrefetchCore
import PrefetchDocuments

/// Finds misspelled keys; a plist is full of other programs' keys, so only similar ones count.
enum InfoPlistTypos {
  struct Typo {
    var message: String
    var hint: String?
    var path: String
    var node: Node
  }

  static func all(in root: Node) -> [Typo] {
    var typos: [Typo] = []
    for entry in root.mapping ?? [] {
      if entry.key == "NSAppTransportSecurity" {
        let shape = Shape.object(SecurityRules.table.shape)
        unknown(in: entry.value, of: shape, at: entry.key, &typos)
      } else {
        near(entry, below: [], &typos)
      }
    }
    return typos
  }

  // MARK: Ours

  /// Known keys below `com.akamai`, by their parent.
  private static let known: [String: [String]] = [
    "": ["map", "vocsdk", "prefetch"],
    "map": ["api_key", "apikey", "apiKey", "segments"],
    "vocsdk": [
      "license", "api_key", "apikey", "apiKey", "segments", "custom_metric", "config",
    ],
    "prefetch": ["manifests"],
  ]

  private static func near(_ entry: Node.Entry, below parents: [String], _ typos: inout [Typo]) {
    let parts = parents + entry.key.split(separator: ".").map(String.init)
    guard parts.prefix(2).elementsEqual(["com", "akamai"].prefix(parts.count)) else { return }
    let names = parts.dropFirst(2)
    var parent = ""
    for (depth, name) in names.enumerated() where depth < 2 {
      guard let siblings = known[parent] else { return }
      guard siblings.contains(name) else {
        guard let meant = Suggestion.nearest(to: name, among: siblings) else { return }
        let path = (["com", "akamai"] + names.prefix(depth + 1)).joined(separator: ".")
        return typos.append(
          Typo(
            message: "unknown key `\(path)`, which is ignored",
            hint: "did you mean `\(meant)`?",
            path: path,
            node: entry.keyNode
          )
        )
      }
      parent = name
    }
    guard names.count < 2 else { return }
    for entry in entry.value.mapping ?? [] { near(entry, below: parts, &typos) }
  }

  // MARK: App Transport Security

  private static func unknown(
    in node: Node,
    of shape: Shape,
    at path: String,
    _ typos: inout [Typo]
  ) {
    for entry in node.mapping ?? [] {
      let below = "\(path).\(entry.key)"
      switch shape {
      case .object(let object):
        if let key = object.key(spelled: entry.key) {
          unknown(in: entry.value, of: key.shape, at: below, &typos)
          continue
        }
        let names = object.keys.map(\.name)
        typos.append(
          Typo(
            message: "unknown key `\(entry.key)`, which is ignored",
            hint: Suggestion.nearest(to: entry.key, among: names).map { "did you mean `\($0)`?" },
            path: below,
            node: entry.keyNode
          )
        )
      case .map(_, let element): unknown(in: entry.value, of: element, at: below, &typos)
      case .scalar, .list, .anything: return
      }
    }
  }
}

extension Node.Entry {
  fileprivate var keyNode: Node {
    var node = value
    node.location = keyLocation ?? node.location
    return node
  }
}
