import PrefetchDocuments

extension Node {
  /// Copy with doubled dollars, so that none begins a reference.
  var escaped: Node {
    var node = self
    switch content {
    case .scalar(let scalar):
      node.content = .scalar(Scalar(scalar.text.replacing("$", with: "$$"), kind: scalar.kind))
    case .sequence(let nodes):
      node.content = .sequence(nodes.map(\.escaped))
    case .mapping:
      break
    }
    return node
  }

  var listed: Node {
    guard scalar != nil else { return self }
    return Node(.sequence([self]), at: location, in: source)
  }

  var isListOfURLs: Bool {
    guard let sequence, !sequence.isEmpty else { return false }
    return sequence.allSatisfy { $0.scalar?.text.contains("://") ?? false }
  }

  func pruned(to shape: Shape) -> Node {
    var node = self
    switch (shape, content) {
    case (.object(let object), .mapping(let entries)):
      let kept = entries.compactMap { entry -> Entry? in
        guard let key = object.keys.first(where: { $0.name == entry.key }) else { return nil }
        var entry = entry
        entry.value = entry.value.pruned(to: key.shape)
        return entry
      }
      node.content = .mapping(kept)
    case (.map(_, let element), .mapping(let entries)):
      let pruned = entries.map { entry in
        var entry = entry
        entry.value = entry.value.pruned(to: element)
        return entry
      }
      node.content = .mapping(pruned)
    case (.list(let element, _), .sequence(let nodes)):
      node.content = .sequence(nodes.map { $0.pruned(to: element) })
    case (.scalar, _), (.anything, _), (.object, _), (.map, _), (.list, _):
      break
    }
    return node
  }
}
