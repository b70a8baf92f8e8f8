import PrefetchDocuments

enum TreeMerge {
  /// Merges mappings by key and the root's `segments` by name; other values are replaced.
  static func merged(_ lower: Node, _ upper: Node) -> Node {
    merged(lower, upper) { key, lower, upper in
      key == "segments" ? mergedSegments(lower, upper) : nested(lower, upper)
    }
  }

  private static func merged(
    _ lower: Node,
    _ upper: Node,
    _ mergeValue: (String, Node, Node) -> Node
  ) -> Node {
    guard case .mapping(var entries) = lower.content, case .mapping(let others) = upper.content
    else {
      return upper
    }
    var indices: [String: Int] = [:]
    for (index, entry) in entries.enumerated() where indices[entry.key] == nil {
      indices[entry.key] = index
    }
    for other in others {
      guard let index = indices[other.key] else {
        indices[other.key] = entries.count
        entries.append(other)
        continue
      }
      var entry = other
      entry.value = mergeValue(other.key, entries[index].value, other.value)
      entries[index] = entry
    }
    var node = upper
    node.content = .mapping(entries)
    return node
  }

  private static func nested(_ lower: Node, _ upper: Node) -> Node {
    merged(lower, upper) { _, lower, upper in nested(lower, upper) }
  }

  private static func mergedSegments(_ lower: Node, _ upper: Node) -> Node {
    guard let below = lower.sequence, let above = upper.sequence else { return upper }
    var segments = below
    var indices: [String: Int] = [:]
    for (index, segment) in below.enumerated() {
      guard let name = Self.name(of: segment), indices[name] == nil else { continue }
      indices[name] = index
    }
    for segment in above {
      // Names repeated within a document stay separate, so that they are reported.
      if let index = Self.name(of: segment).flatMap({ indices[$0] }) {
        segments[index] = nested(asMapping(segments[index]), asMapping(segment))
      } else {
        segments.append(segment)
      }
    }
    var node = upper
    node.content = .sequence(segments)
    return node
  }

  static func name(of segment: Node) -> String? {
    (segment.scalar ?? segment["name"]?.scalar).map { Blanks.trimmed($0.text) }
  }

  static func asMapping(_ segment: Node) -> Node {
    guard segment.scalar != nil else { return segment }
    var node = segment
    node.content = .mapping([.init(key: "name", keyLocation: segment.location, value: segment)])
    return node
  }
}
