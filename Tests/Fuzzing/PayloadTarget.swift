import PrefetchDocuments

/// Payloads of push messages, as `notify` reads them.
enum PayloadTarget {
  static func run(_ bytes: [UInt8]) {
    let outcome = DocumentReader.read(bytes, source: "payload", syntax: .json)
    guard outcome.diagnostics.isEmpty, let node = outcome.node else { return }
    let hasMarker = holds("mapsdk", node, depth: 0)
    let payload = PushPayload(node, marker: "mapsdk")
    require((payload != nil) == hasMarker, "a payload is ours without its marker, or the reverse")
    guard let payload else { return }
    require(!(payload.refetches && !payload.purged.isEmpty), "all and some are fetched again")
    // Text without escapes is as its bytes say, so no name can come from elsewhere.
    for name in (payload.segments ?? []) + payload.purged {
      require(bytes.count >= name.utf8.count, "`\(name)` is longer than the payload")
    }
  }

  /// Whether the marker is a key or a text of the document.
  private static func holds(_ marker: String, _ node: Node, depth: Int) -> Bool {
    if node.scalar?.text == marker { return true }
    let entries = node.mapping ?? []
    return entries.contains { $0.key == marker || holds(marker, $0.value, depth: depth + 1) }
      || (node.sequence ?? []).contains { holds(marker, $0, depth: depth + 1) }
  }
}
