internal import PrefetchCore

/// Builds a tree from parser events, with limits and duplicate-key checks for every syntax.
struct TreeBuilder {
  enum Container {
    case sequence
    case mapping
  }

  /// Size of a subtree, counted again at each alias.
  struct Extent {
    var nodes = 1
    var height = 0
  }

  let source: String
  let limits: DocumentReader.Limits
  private(set) var root: Node?
  private(set) var diagnostics: [Diagnostic] = []
  private var frames: [Frame] = []
  private var nodeCount = 0

  init(source: String, limits: DocumentReader.Limits) {
    self.source = source
    self.limits = limits
  }

  var depth: Int { frames.count }

  var isInMapping: Bool { frames.last?.container == .mapping }

  var awaitsKey: Bool { isInMapping && frames.last?.key == nil }

  /// Path of the next value, such as `segments[0].items[2].url`; nil for the document itself.
  var path: String? {
    var path = ""
    for frame in frames {
      switch frame.container {
      case .sequence: path += "[\(frame.nodes.count)]"
      case .mapping:
        guard let key = frame.key else { continue }
        path += (path.isEmpty ? "" : ".") + key.text.quotable
      }
    }
    return path.isEmpty ? nil : path
  }

  mutating func open(_ container: Container, at location: SourceLocation?) throws(Diagnostic) {
    guard frames.count < limits.depth else {
      throw tooDeep(at: location)
    }
    try count(1, at: location)
    frames.append(Frame(container: container, location: location, firstNode: nodeCount))
  }

  @discardableResult
  mutating func close() throws(Diagnostic) -> (node: Node, extent: Extent)? {
    guard let frame = frames.popLast() else { return nil }
    let content: Node.Content =
      switch frame.container {
      case .sequence: .sequence(frame.nodes)
      case .mapping: .mapping(frame.mergedEntries())
      }
    let node = Node(content, at: frame.location, in: source)
    let extent = Extent(nodes: nodeCount - frame.firstNode + 1, height: frame.height + 1)
    try attach(node, height: extent.height)
    return (node, extent)
  }

  /// Starts an entry; a merge key adds the entries of its value to the mapping.
  mutating func key(
    _ text: String,
    at location: SourceLocation?,
    isMerge: Bool = false
  ) throws(Diagnostic) {
    guard !frames.isEmpty else { return }
    let last = frames.count - 1
    let first = frames[last].firstUse(of: text, isMerge: isMerge)
    frames[last].key = Frame.Key(
      text: text,
      location: location,
      isMerge: isMerge,
      isDuplicate: first != nil
    )
    guard let first else { return }
    try reportDuplicate(text, at: location, first: first.location)
  }

  mutating func add(_ scalar: Scalar, at location: SourceLocation?) throws(Diagnostic) {
    try count(1, at: location)
    try attach(Node(.scalar(scalar), at: location, in: source), height: 0)
  }

  /// Adds a subtree again, as an alias does; `location` is the alias's.
  mutating func add(
    _ node: Node,
    extent: Extent,
    at location: SourceLocation?
  ) throws(Diagnostic) {
    guard frames.count + extent.height <= limits.depth else {
      throw tooDeep(at: location)
    }
    try count(extent.nodes, at: location)
    try attach(node, height: extent.height)
  }

  private mutating func attach(_ node: Node, height: Int) throws(Diagnostic) {
    guard !frames.isEmpty else {
      root = node
      return
    }
    let last = frames.count - 1
    frames[last].height = max(frames[last].height, height)
    guard frames[last].container == .mapping else {
      frames[last].nodes.append(node)
      return
    }
    guard let key = frames[last].key else { return }
    frames[last].key = nil
    guard !key.isDuplicate else { return }
    guard key.isMerge else {
      frames[last].entries.append(
        Node.Entry(key: key.text, keyLocation: key.location, value: node)
      )
      return
    }
    guard frames[last].merge(node, from: key) else {
      throw Diagnostic(
        "document.syntax",
        "`<<` takes a mapping or a list of mappings, not \(node.kindName)",
        hint: "put `<<` in quotes if it is meant as a key",
        path: path,
        file: source,
        at: key.location
      )
    }
  }

  private mutating func count(_ nodes: Int, at location: SourceLocation?) throws(Diagnostic) {
    nodeCount += nodes
    guard nodeCount <= limits.nodes else {
      throw Diagnostic(
        "document.too-large",
        "the document has more than \(limits.nodes) values",
        file: source,
        at: location
      )
    }
  }

  private func tooDeep(at location: SourceLocation?) -> Diagnostic {
    Diagnostic(
      "document.too-deep",
      "values are nested deeper than \(limits.depth) levels",
      file: source,
      at: location
    )
  }

  private mutating func reportDuplicate(
    _ key: String,
    at location: SourceLocation?,
    first: SourceLocation?
  ) throws(Diagnostic) {
    let suffix = first.map { ", first written on line \($0.line)" } ?? ""
    diagnostics.append(
      Diagnostic(
        "document.duplicate-key",
        "duplicate key `\(key.quotable)`\(suffix)",
        hint: "keep one of them",
        path: path,
        file: source,
        at: location
      )
    )
    // Bounds the output for a file full of duplicate keys.
    guard diagnostics.count < 1000 else {
      throw Diagnostic(
        "document.too-large",
        "the document has a thousand duplicate keys",
        file: source
      )
    }
  }
}

private struct Frame {
  struct Key {
    var text: String
    var location: SourceLocation?
    var isMerge: Bool
    var isDuplicate: Bool
  }

  struct Use {
    var location: SourceLocation?
  }

  let container: TreeBuilder.Container
  let location: SourceLocation?
  let firstNode: Int
  var height = 0
  var nodes: [Node] = []
  var entries: [Node.Entry] = []
  var key: Key?
  private var index: [ExactKey: Int] = [:]
  private var merges: [Node] = []
  private var mergeKey: Key?

  init(container: TreeBuilder.Container, location: SourceLocation?, firstNode: Int) {
    self.container = container
    self.location = location
    self.firstNode = firstNode
  }

  mutating func firstUse(of text: String, isMerge: Bool) -> Use? {
    if isMerge { return mergeKey.map { Use(location: $0.location) } }
    let exact = ExactKey(text: text)
    if entries.count <= 8 {
      let entry = entries.first { ExactKey(text: $0.key) == exact }
      return entry.map { Use(location: $0.keyLocation) }
    }
    for position in index.count..<entries.count {
      index[ExactKey(text: entries[position].key)] = position
    }
    return index[exact].map { Use(location: entries[$0].keyLocation) }
  }

  mutating func merge(_ node: Node, from key: Key) -> Bool {
    mergeKey = key
    switch node.content {
    case .scalar: return false
    case .mapping: merges = [node]
    case .sequence(let nodes): merges = nodes
    }
    return merges.allSatisfy { $0.mapping != nil }
  }

  /// The mapping's own entries win, then those of earlier merged mappings.
  func mergedEntries() -> [Node.Entry] {
    guard !merges.isEmpty else { return entries }
    var all = entries
    var known = Set(entries.map { ExactKey(text: $0.key) })
    for entry in merges.flatMap({ $0.mapping ?? [] })
    where known.insert(ExactKey(text: entry.key)).inserted {
      all.append(entry)
    }
    return all
  }
}

/// A key compared by its bytes: `String` equates canonically equivalent spellings.
private struct ExactKey: Hashable {
  let text: String

  static func == (a: ExactKey, b: ExactKey) -> Bool {
    a.text.utf8.elementsEqual(b.text.utf8)
  }

  func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
    hasher.combine(0xFF as UInt8)
  }
}
