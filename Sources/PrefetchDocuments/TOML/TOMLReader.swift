internal import PrefetchCore

/// Reads TOML 1.0; tables may be extended in any order, so the tree is built at the end.
struct TOMLReader {
  private var scanner: TOMLScanner
  private var tree: TOMLTree
  private let limits: DocumentReader.Limits
  /// Table of the last header, which receives the following keys.
  private var table = TOMLTree.root
  private var nodeCount = 1

  static func read(_ text: SourceText, into builder: inout TreeBuilder) throws(Diagnostic) {
    var reader = TOMLReader(
      scanner: TOMLScanner(text),
      tree: TOMLTree(source: text.source),
      limits: builder.limits
    )
    try reader.fill()
    try reader.tree.emit(into: &builder)
  }

  private mutating func fill() throws(Diagnostic) {
    while let byte = try scanner.nextLine() {
      if byte == UInt8(ascii: "[") {
        try header()
      } else {
        try keyAndValue(into: table, depth: 1)
      }
      try scanner.finishLine()
    }
  }

  private mutating func header() throws(Diagnostic) {
    scanner.skip()
    let isList = scanner.accept(UInt8(ascii: "["))
    let path = try scanner.keyPath(terminatedBy: UInt8(ascii: "]"))
    try limitDepth(path.count + 1, at: path.last?.location)
    try count(path.count, at: path.last?.location)
    try scanner.expect(UInt8(ascii: "]"), after: "the name of a table")
    if isList {
      try scanner.expectAdjacent(UInt8(ascii: "]"), after: "the name of a list of tables")
    }
    table = try tree.open(path, isList: isList)
  }

  private mutating func keyAndValue(into owner: Int, depth: Int) throws(Diagnostic) {
    let path = try scanner.keyPath(terminatedBy: UInt8(ascii: "="))
    try limitDepth(depth + path.count - 1, at: path.last?.location)
    try count(path.count, at: path.last?.location)
    try scanner.expect(UInt8(ascii: "="), after: "a key")
    let address = try tree.reserve(path, in: owner)
    let value = try value(depth: depth + path.count)
    tree.set(value, at: address)
  }

  private mutating func value(depth: Int) throws(Diagnostic) -> TOMLTree.Value {
    switch try scanner.nextInLine("a value") {
    case UInt8(ascii: "["): return try list(depth: depth)
    case UInt8(ascii: "{"): return try inlineTable(depth: depth)
    default:
      let (scalar, location) = try scanner.scalar()
      return .scalar(scalar, location)
    }
  }

  private mutating func list(depth: Int) throws(Diagnostic) -> TOMLTree.Value {
    let location = scanner.location()
    try limitDepth(depth, at: location)
    scanner.skip()
    var values: [TOMLTree.Value] = []
    while true {
      guard try scanner.nextAnywhere("`]` at the end of the list") != UInt8(ascii: "]") else {
        break
      }
      try count(1, at: scanner.location())
      values.append(try value(depth: depth + 1))
      let next = try scanner.nextAnywhere("`,` or `]` in the list")
      if next == UInt8(ascii: "]") { break }
      guard next == UInt8(ascii: ",") else {
        throw scanner.unexpected("expected `,` or `]` in the list")
      }
      scanner.skip()
    }
    scanner.skip()
    return .list(values, location)
  }

  private mutating func inlineTable(depth: Int) throws(Diagnostic) -> TOMLTree.Value {
    let location = scanner.location()
    try limitDepth(depth, at: location)
    scanner.skip()
    let table = tree.addTable(.inline, at: location)
    if try scanner.nextInLine("a key or `}`") == UInt8(ascii: "}") {
      scanner.skip()
      return .table(table)
    }
    while true {
      try keyAndValue(into: table, depth: depth + 1)
      let next = try scanner.nextInLine("`,` or `}` in the table")
      scanner.skip()
      if next == UInt8(ascii: "}") { return .table(table) }
      guard next == UInt8(ascii: ",") else {
        throw scanner.unexpected("expected `,` or `}` in the table", back: 1)
      }
      if try scanner.nextInLine("a key") == UInt8(ascii: "}") {
        throw scanner.fault("a table between braces takes no comma at its end")
      }
    }
  }

  private func limitDepth(_ depth: Int, at location: SourceLocation?) throws(Diagnostic) {
    guard depth <= limits.depth else {
      throw Diagnostic(
        "document.too-deep",
        "values are nested deeper than \(limits.depth) levels",
        at: location
      )
    }
  }

  private mutating func count(_ nodes: Int, at location: SourceLocation?) throws(Diagnostic) {
    nodeCount += nodes
    guard nodeCount <= limits.nodes else {
      throw Diagnostic(
        "document.too-large",
        "the document has more than \(limits.nodes) values",
        at: location
      )
    }
  }
}
