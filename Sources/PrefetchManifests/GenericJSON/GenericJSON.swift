internal import PrefetchCore
internal import PrefetchDocuments

/// Reads lists of URLs, precache and bundler manifests, and JSON with configured pointers.
enum GenericJSON {
  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    let root = try NativeManifest.parse(unsafe bytes.withUnsafeBytes { unsafe Array($0) })
    if source.rules.pointers == .init(), root["registryFileHashes"] != nil {
      return try BazelLock.read(root)
    }
    let items = try items(of: root, rules: source.rules)
    var reader = GenericItemReader(source: source, shape: items.shape)
    for item in items.nodes { try reader.read(item) }
    return try reader.finished()
  }

  struct Items {
    var nodes: [Item]
    var shape: GenericItemReader.Shape
  }

  struct Item {
    var key: String?
    var node: Node
  }

  private static func items(of root: Node, rules: ManifestRules) throws(Failure) -> Items {
    let shape = GenericItemReader.Shape(rules.pointers)
    if let items = rules.pointers.items {
      return Items(nodes: try pointed(by: JSONPointer(items), in: root), shape: shape)
    }
    if let nodes = root.sequence {
      var shape = shape
      // A single `revision` makes the list a precache manifest; its other URLs name their version.
      shape.isVersioned =
        shape.urls.isEmpty && nodes.contains { $0["revision"] != nil }
      return Items(nodes: nodes.map { Item(node: $0) }, shape: shape)
    }
    guard let entries = root.mapping else {
      throw root.invalid("it is \(root.kindName), no list of items")
    }
    if !shape.urls.isEmpty { return Items(nodes: [Item(node: root)], shape: shape) }
    return try known(entries, root)
  }

  private static func pointed(by pointer: JSONPointer, in root: Node) throws(Failure) -> [Item] {
    switch pointer.find(in: root) {
    case .failure(let missing):
      throw missing.found.invalid(
        "`json.items` `\(pointer.text)` finds nothing: \(missing.message)"
      )
    case .success(let node):
      // A pointer ending in `/*` and a pointer to the list mean the same items.
      if let entries = node.mapping, pointer.isForEach {
        return entries.map { Item(key: $0.key, node: $0.value) }
      }
      if let nodes = node.sequence { return nodes.map { Item(node: $0) } }
      guard node.mapping == nil || !pointer.isForEach else { return [] }
      guard !pointer.isForEach, node.scalar?.kind != .null else {
        throw node.invalid(
          "`json.items` `\(pointer.text)` leads to \(node.kindName), which holds no items"
        )
      }
      return [Item(node: node)]
    }
  }

  private static func known(_ entries: [Node.Entry], _ root: Node) throws(Failure) -> Items {
    if let files = root["files"]?.mapping, files.allSatisfy({ $0.value.text != nil }) {
      return Items(nodes: files.map { Item(node: $0.value) }, shape: GenericItemReader.Shape())
    }
    if !entries.isEmpty, entries.allSatisfy({ $0.value["file"]?.text != nil }) {
      return Items(
        nodes: entries.map { Item(node: $0.value) },
        shape: GenericItemReader.Shape(urls: ["/file", "/css/*", "/assets/*"])
      )
    }
    throw root.invalid(
      "it is JSON of an unknown kind; set `json.items` to the place of its items"
    )
  }
}
