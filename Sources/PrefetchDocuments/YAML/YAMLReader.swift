internal import PrefetchCore

/// Reads a YAML document with aliases and merge keys resolved; types stay undecided.
struct YAMLReader {
  private struct Anchored {
    var node: Node
    var extent: TreeBuilder.Extent
  }

  private let source: String
  private var cursor: TextCursor
  private var anchors: [String: Anchored] = [:]
  private var open: [String?] = []
  private var aliasedNodes = 0

  private init(_ text: SourceText) {
    source = text.source
    cursor = TextCursor(text)
  }

  static func read(_ text: SourceText, into builder: inout TreeBuilder) throws(Diagnostic) {
    var reader = YAMLReader(text)
    try unsafe text.bytes.withUnsafeBufferPointer { (bytes) throws(Diagnostic) in
      guard var parser = unsafe YAMLParser(pinned: bytes) else {
        throw Diagnostic("document.syntax", "no memory to read the document", file: text.source)
      }
      try reader.fill(&builder, from: &parser)
    }
  }

  private mutating func fill(
    _ builder: inout TreeBuilder,
    from parser: inout YAMLParser
  ) throws(Diagnostic) {
    var hasDocument = false
    while true {
      let event = try next(&parser)
      switch event.kind {
      case .streamStart, .documentEnd: continue
      case .streamEnd:
        guard !hasDocument else { return }
        throw Diagnostic("document.empty", "the document is empty", file: source)
      case .documentStart:
        guard !hasDocument else { throw secondDocument(event) }
        hasDocument = true
      case .alias(let name): try alias(name, event, into: &builder)
      case .scalar(let text, let isUnquoted, let properties):
        try scalar(text, isUnquoted: isUnquoted, properties, event, into: &builder)
      case .sequenceStart(let properties):
        try start(.sequence, properties, event, into: &builder)
      case .mappingStart(let properties):
        try start(.mapping, properties, event, into: &builder)
      case .sequenceEnd, .mappingEnd: try end(&builder)
      }
    }
  }

  private mutating func next(_ parser: inout YAMLParser) throws(Diagnostic) -> YAMLEvent {
    let event: YAMLEvent
    do {
      event = try parser.next()
    } catch {
      throw YAMLProblem.diagnostic(for: error, cursor: &cursor)
    }
    guard event.start < event.end else { return event }
    try check(event)
    return event
  }

  /// Rejects what only libyaml accepts: tabs before flow content, and names that end at a colon.
  private mutating func check(_ event: YAMLEvent) throws(Diagnostic) {
    let mark: String
    switch event.kind {
    case .streamStart, .streamEnd, .documentStart, .documentEnd: return
    case .alias(let name): mark = "*\(name)"
    case .scalar(_, _, let properties), .sequenceStart(let properties),
      .mappingStart(let properties):
      mark = properties.anchor.map { "&\($0)" } ?? ""
    case .sequenceEnd, .mappingEnd: mark = ""
    }
    let location = location(of: event)
    if cursor.isIndentedByTab { throw YAMLProblem.tab(at: location) }
    guard !mark.isEmpty, let rest = cursor.bytes(behind: mark), rest.first == UInt8(ascii: ":"),
      let next = rest.dropFirst().first, next > 0x20
    else { return }
    throw YAMLProblem.name(at: location)
  }

  private mutating func location(of event: YAMLEvent) -> SourceLocation {
    cursor.location(fromScalar: event.start, toScalar: event.end)
  }

  private mutating func secondDocument(_ event: YAMLEvent) -> Diagnostic {
    Diagnostic(
      "document.syntax",
      "a second document starts here",
      hint: "keep one document in a file",
      at: location(of: event)
    )
  }
}

// MARK: - Values

extension YAMLReader {
  private mutating func scalar(
    _ text: String,
    isUnquoted: Bool,
    _ properties: YAMLProperties,
    _ event: YAMLEvent,
    into builder: inout TreeBuilder
  ) throws(Diagnostic) {
    let location = location(of: event)
    guard let kind = kind(of: text, isUnquoted: isUnquoted, tag: properties.tag) else {
      throw unknownTag(properties.tag, on: "text", at: location)
    }
    let scalar = Scalar(text, kind: kind)
    if let anchor = properties.anchor {
      anchors[anchor] = Anchored(
        node: Node(.scalar(scalar), at: location, in: source),
        extent: TreeBuilder.Extent()
      )
    }
    guard builder.awaitsKey else { return try builder.add(scalar, at: location) }
    guard !(text.isEmpty && isUnquoted) else {
      throw Diagnostic("document.syntax", "a key is missing before `:`", at: location)
    }
    let isMerge = isUnquoted && text == "<<" && properties.tag == nil
    try builder.key(text, at: location, isMerge: isMerge)
  }

  private mutating func start(
    _ container: TreeBuilder.Container,
    _ properties: YAMLProperties,
    _ event: YAMLEvent,
    into builder: inout TreeBuilder
  ) throws(Diagnostic) {
    var location = location(of: event)
    location.length = 1
    let isMapping = container == .mapping
    guard !builder.awaitsKey else {
      throw badKey(isMapping ? "a mapping" : "a list", at: location)
    }
    switch properties.tag {
    case nil, "!", Self.core + (isMapping ? "map" : "seq"): break
    case let tag: throw unknownTag(tag, on: isMapping ? "a mapping" : "a list", at: location)
    }
    try builder.open(container, at: location)
    open.append(properties.anchor)
  }

  private mutating func end(_ builder: inout TreeBuilder) throws(Diagnostic) {
    let anchor = open.popLast() ?? nil
    guard let (node, extent) = try builder.close(), let anchor else { return }
    anchors[anchor] = Anchored(node: node, extent: extent)
  }

  private mutating func alias(
    _ name: String,
    _ event: YAMLEvent,
    into builder: inout TreeBuilder
  ) throws(Diagnostic) {
    let location = location(of: event)
    guard !open.contains(name) else {
      throw Diagnostic(
        "document.alias",
        "the alias `*\(name.quotable)` is inside of the value that it names",
        at: location
      )
    }
    guard let anchored = anchors[name] else {
      throw unknownAlias(name, at: location)
    }
    aliasedNodes += anchored.extent.nodes
    guard aliasedNodes <= builder.limits.aliases else {
      throw Diagnostic(
        "document.alias",
        "aliases expand to more than \(builder.limits.aliases) values",
        at: location
      )
    }
    guard builder.awaitsKey else {
      return try builder.add(anchored.node, extent: anchored.extent, at: location)
    }
    guard let key = anchored.node.scalar else {
      throw badKey(anchored.node.kindName, at: location)
    }
    try builder.key(key.text, at: location)
  }

  private func unknownAlias(_ name: String, at location: SourceLocation) -> Diagnostic {
    let known = Suggestion.nearest(to: name, among: anchors.keys.sorted())
    return Diagnostic(
      "document.alias",
      "the alias `*\(name.quotable)` names nothing above it",
      hint: known.map { "did you mean `*\($0)`?" } ?? "mark a value with `&\(name.quotable)`",
      at: location
    )
  }

  private func badKey(_ kind: String, at location: SourceLocation) -> Diagnostic {
    Diagnostic(
      "document.syntax",
      "a key is text, not \(kind)",
      hint: "put it in quotes if it is text",
      at: location
    )
  }
}

// MARK: - Tags

extension YAMLReader {
  private static var core: String { "tag:yaml.org,2002:" }

  private func kind(of text: String, isUnquoted: Bool, tag: String?) -> Scalar.Notation? {
    switch tag {
    case nil where isUnquoted:
      ["", "~", "null", "Null", "NULL"].contains(text) ? .null : .unquoted
    case nil, "!", Self.core + "str": .string
    case Self.core + "int", Self.core + "float": .number
    case Self.core + "bool": .boolean
    case Self.core + "null": .null
    default: nil
    }
  }

  private func unknownTag(
    _ tag: String?,
    on kind: String,
    at location: SourceLocation
  ) -> Diagnostic {
    let tag = tag ?? ""
    let isCore = tag.hasPrefix(Self.core)
    let shown = isCore ? "!!" + tag.dropFirst(Self.core.count) : tag
    return Diagnostic(
      "document.unknown-tag",
      "the tag `\(shown.quotable)` is not known for \(kind)",
      hint: "remove it",
      at: location
    )
  }
}
