import PrefetchCore
import PrefetchDocuments

extension Configuration {
  /// Each segment starts as a copy of `defaults`, which the table reads first.
  static let decodeSegments: @Sendable (Node, inout Self, inout NodeDecoder) -> Void = {
    node,
    configuration,
    decoder in
    guard case .sequence(let nodes) = node.content else {
      let hint = node.scalar.map { "write `segments: [\($0.text)]`" }
      decoder.reportWrongType(of: node, expected: "a list of segments", hint: hint)
      return
    }
    var nodesByName: [String: Node] = [:]
    var ids: [[String]: (url: WebURL, node: Node)] = [:]
    for (index, node) in nodes.enumerated() {
      decoder.descend(.index(index)) { decoder in
        var segment = configuration.defaults
        Segment.table.decode(node, into: &segment, &decoder)
        configuration.segments.append(segment)
        checkName(segment.name, of: node, among: &nodesByName, &decoder)
        checkIDs(of: segment.urls, at: node["urls"]?.sequence ?? [], among: &ids, &decoder)
      }
    }
  }

  private static func checkIDs(
    of entries: [InlineEntry],
    at nodes: [Node],
    among ids: inout [[String]: (url: WebURL, node: Node)],
    _ decoder: inout NodeDecoder
  ) {
    for (entry, node) in zip(entries, nodes) {
      guard case .item(let item) = entry, let url = item.url, let name = item.name else { continue }
      let key = [name.provider ?? "", name.id]
      guard let known = ids[key] else {
        ids[key] = (url, node)
        continue
      }
      guard known.url != url else { continue }
      let origin = ValueOrigin(source: known.node.source, location: known.node.location)
      decoder.report(
        "config.duplicate-id",
        "two URLs have the id `\(name.id)`\(name.provider.map { " of provider `\($0)`" } ?? "")",
        hint: "the other is at \(origin)",
        at: node["id"] ?? node
      )
    }
  }

  private static func checkName(
    _ name: String,
    of node: Node,
    among nodesByName: inout [String: Node],
    _ decoder: inout NodeDecoder
  ) {
    guard !name.isEmpty else { return }
    let nameNode = node["name"] ?? node
    guard let earlier = nodesByName.updateValue(nameNode, forKey: name) else { return }
    let origin = ValueOrigin(source: earlier.source, location: earlier.location)
    decoder.report(
      "config.duplicate-segment",
      "two segments have the name `\(name)`",
      hint: "the other is at \(origin)",
      at: nameNode
    )
  }
}
