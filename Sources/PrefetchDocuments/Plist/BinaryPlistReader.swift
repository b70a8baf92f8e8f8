internal import PrefetchCore

/// Reads a `bplist00` file into a tree; offsets, counts and widths are checked before use.
struct BinaryPlistReader {
  private let table: BinaryPlistTable
  /// Scalars by their object number, so that repeated references to a text share storage.
  private var scalars: [Int: Scalar] = [:]
  /// Bytes left for scalars; using more than the file has means that objects overlap.
  private var budget: Int
  /// Open containers, which distinguish a cycle from deep nesting.
  private var open: [Int] = []

  static func read(_ bytes: [UInt8], into builder: inout TreeBuilder) throws(Diagnostic) {
    do {
      let table = try BinaryPlistTable(bytes)
      var reader = BinaryPlistReader(table: table, budget: bytes.count)
      try reader.value(table.root, into: &builder)
    } catch let fault as BinaryPlistFault {
      throw Diagnostic(
        fault.code,
        fault.message,
        hint: fault.hint,
        path: builder.path,
        file: builder.source
      )
    } catch let diagnostic as Diagnostic {
      var located = diagnostic
      located.path = located.path ?? builder.path
      throw located
    } catch {
      throw Diagnostic("document.syntax", "the binary plist cannot be read", file: builder.source)
    }
  }

  private init(table: BinaryPlistTable, budget: Int) {
    self.table = table
    self.budget = budget
  }

  /// The builder's depth limit bounds this recursion.
  private mutating func value(_ index: Int, into builder: inout TreeBuilder) throws {
    let object = try table.object(index)
    switch object.type {
    case .array(let references):
      try enter(index, .sequence, in: &builder)
      for position in 0..<references.count {
        try value(table.reference(position, in: references), into: &builder)
      }
      try leave(&builder)
    case .dict(let keys, let values):
      try enter(index, .mapping, in: &builder)
      for position in 0..<keys.count {
        let key = try table.object(table.reference(position, in: keys))
        guard case .string(let text) = key.type else {
          throw BinaryPlistFault("a key of a dictionary is not text")
        }
        try builder.key(scalar(text, at: key.offset, as: .string).text, at: nil)
        try value(table.reference(position, in: values), into: &builder)
      }
      try leave(&builder)
    case .string(let text):
      try builder.add(scalar(text, at: object.offset, as: .string), at: nil)
    case .data(let bytes):
      try builder.add(scalar(bytes, at: object.offset, as: .data), at: nil)
    case .simple(let scalar):
      try builder.add(scalar, at: nil)
    }
  }

  private mutating func enter(
    _ index: Int,
    _ container: TreeBuilder.Container,
    in builder: inout TreeBuilder
  ) throws {
    guard !open.contains(index) else { throw BinaryPlistFault("a container holds itself") }
    try builder.open(container, at: nil)
    open.append(index)
  }

  private mutating func leave(_ builder: inout TreeBuilder) throws {
    open.removeLast()
    try builder.close()
  }

  private mutating func scalar(
    _ text: BinaryPlistTable.Text,
    at offset: Int,
    as kind: Scalar.Notation
  ) throws -> Scalar {
    if let known = scalars[offset] { return known }
    budget -= text.byteCount
    guard budget >= 0 else { throw BinaryPlistFault("objects overlap") }
    let scalar = Scalar(try table.decode(text), kind: kind)
    scalars[offset] = scalar
    return scalar
  }
}
