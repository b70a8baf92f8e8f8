import PrefetchCore
import PrefetchDocuments

/// Normalizes the keys of a document, so that documents can be merged.
struct TreeShaping {
  private(set) var diagnostics: [Diagnostic] = []
  private var path: ValuePath

  init(below key: String? = nil) {
    path = ValuePath(key.map { [.key($0)] } ?? [])
  }

  mutating func normalised(_ node: Node, as shape: Shape) -> Node {
    // A scalar has no keys, and lists may have thousands of scalars.
    if case .scalar = node.content { return node }
    var node = node
    switch (shape, node.content) {
    case (.object(let object), .mapping(let entries)):
      node.content = .mapping(normalised(entries, as: object))
    case (.object(let object), _):
      guard let shorthand = object.shorthandShape, shorthand.accepts(node) else { return node }
      return normalised(node, as: shorthand)
    case (.map(_, let element), .mapping(let entries)):
      let shaped = entries.map { entry in
        var entry = entry
        entry.value = descend(.key(entry.key)) { $0.normalised(entry.value, as: element) }
        return entry
      }
      node.content = .mapping(shaped)
    case (.list(let element, _), .sequence(let nodes)):
      let shaped = nodes.enumerated().map { index, node in
        descend(.index(index)) { $0.normalised(node, as: element) }
      }
      node.content = .sequence(shaped)
    case (.scalar, _), (.anything, _), (.map, _), (.list, _):
      break
    }
    return node
  }

  private mutating func normalised(_ entries: [Node.Entry], as object: ObjectShape) -> [Node.Entry]
  {
    var kept: [Node.Entry] = []
    var positions: [String: (index: Int, spelling: String)] = [:]
    for entry in entries where !KeySpelling.isPrivate(entry.key) {
      guard let key = object.key(spelled: entry.key) else {
        kept.append(entry)
        continue
      }
      let isOutdated = key.synonyms.contains { $0.isOutdated && $0.name == entry.key }
      if isOutdated { reportOutdated(entry, key) }
      var renamed = entry
      renamed.key = key.name
      renamed.value = descend(.key(key.name)) { $0.normalised(entry.value, as: key.shape) }
      if let earlier = positions[key.name] {
        let involvesOutdated = isOutdated || object.isOutdated(earlier.spelling)
        report(
          entry,
          repeating: kept[earlier.index],
          spelled: earlier.spelling,
          outdated: involvesOutdated
        )
        continue
      }
      positions[key.name] = (kept.count, entry.key)
      kept.append(renamed)
    }
    return kept
  }

  private mutating func reportOutdated(_ entry: Node.Entry, _ key: KeyShape) {
    var diagnostic = Diagnostic(
      "config.old-spelling",
      "`\(entry.key)` is an old spelling of `\(key.name)`",
      severity: .warning,
      path: path.appending(.key(entry.key)).description,
      file: entry.value.source,
      at: entry.keyLocation
    )
    diagnostic.hint = "write `\(key.name)`"
    diagnostics.append(diagnostic)
  }

  /// Reports a repeated key; an old and a new spelling may repeat the same value.
  private mutating func report(
    _ entry: Node.Entry,
    repeating earlier: Node.Entry,
    spelled spelling: String,
    outdated: Bool
  ) {
    let isSame = entry.value.scalar.map { $0.text == earlier.value.scalar?.text } ?? false
    if outdated, isSame { return }
    let message =
      entry.key == spelling
      ? "`\(entry.key)` is given twice"
      : "`\(entry.key)` is the same key as `\(spelling)`\(outdated ? ", and they differ" : "")"
    let origin = ValueOrigin(source: earlier.value.source, location: earlier.keyLocation)
    var diagnostic = Diagnostic(
      outdated ? "config.conflict" : "config.duplicate-key",
      message,
      hint: "the other is at \(origin)",
      path: path.appending(.key(entry.key)).description,
      file: entry.value.source,
      at: entry.keyLocation
    )
    diagnostic.hidesSource = earlier.key == "license"
    diagnostics.append(diagnostic)
  }

  private mutating func descend(
    _ step: ValuePath.Step,
    _ body: (inout TreeShaping) -> Node
  ) -> Node {
    path.steps.append(step)
    defer { path.steps.removeLast() }
    return body(&self)
  }
}

extension ObjectShape {
  fileprivate func isOutdated(_ spelling: String) -> Bool {
    keys.contains { key in key.synonyms.contains { $0.isOutdated && $0.name == spelling } }
  }
}
