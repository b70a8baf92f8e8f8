internal import PrefetchCore

/// Tables of a TOML document while it is read, with the rules for extending them.
struct TOMLTree {
  /// How a table was created, which decides what may extend it.
  enum Origin {
    /// Created by the header of a table inside it; may get its own header.
    case implied
    case header
    /// Created by dotted keys; may not have a header.
    case dotted
    case inline
  }

  enum Value {
    case scalar(Scalar, SourceLocation)
    case list([Value], SourceLocation)
    case table(Int)
    /// `[[name]]`, as an index into ``TOMLTree/lists``.
    case tables(Int, SourceLocation)
    case missing
  }

  struct Key {
    var text: String
    var location: SourceLocation
  }

  struct Address {
    fileprivate var table: Int
    fileprivate var entry: Int
  }

  private struct Pair {
    var key: Key
    var value: Value
  }

  private struct Table {
    var origin: Origin
    var location: SourceLocation
    var entries: [Pair] = []
    /// Entries by their keys' bytes: `String` equates canonically equivalent spellings.
    var index: [[UInt8]: Int] = [:]
  }

  static let root = 0

  private var tables: [Table]
  private var lists: [[Int]] = []

  init(source: String) {
    let start = SourceLocation(file: source, line: 1, column: 1)
    tables = [Table(origin: .header, location: start)]
  }

  mutating func addTable(_ origin: Origin, at location: SourceLocation) -> Int {
    tables.append(Table(origin: origin, location: location))
    return tables.count - 1
  }

  mutating func open(_ path: [Key], isList: Bool) throws(Diagnostic) -> Int {
    var table = Self.root
    for key in path.dropLast() { table = try enter(key, in: table) }
    guard let last = path.last else { return table }
    guard let entry = entry(last, in: table) else {
      let new = addTable(.header, at: last.location)
      if isList { lists.append([new]) }
      append(last, isList ? .tables(lists.count - 1, last.location) : .table(new), to: table)
      return new
    }
    switch tables[table].entries[entry].value {
    case .tables(let list, _) where isList:
      let new = addTable(.header, at: last.location)
      lists[list].append(new)
      return new
    case .table(let known) where !isList && tables[known].origin == .implied:
      tables[known].origin = .header
      tables[known].location = last.location
      return known
    case .scalar, .list, .table, .tables, .missing:
      throw duplicate(last, first: tables[table].entries[entry].key)
    }
  }

  mutating func reserve(_ path: [Key], in owner: Int) throws(Diagnostic) -> Address {
    var table = owner
    for key in path.dropLast() {
      guard let entry = entry(key, in: table) else {
        let new = addTable(.dotted, at: key.location)
        append(key, .table(new), to: table)
        table = new
        continue
      }
      guard case .table(let known) = tables[table].entries[entry].value,
        tables[known].origin == .dotted
      else { throw closed(key, first: tables[table].entries[entry].key) }
      table = known
    }
    guard let last = path.last else { return Address(table: table, entry: 0) }
    if let entry = entry(last, in: table) {
      throw duplicate(last, first: tables[table].entries[entry].key)
    }
    append(last, .missing, to: table)
    return Address(table: table, entry: tables[table].entries.count - 1)
  }

  mutating func set(_ value: Value, at address: Address) {
    tables[address.table].entries[address.entry].value = value
  }

  private mutating func enter(_ key: Key, in table: Int) throws(Diagnostic) -> Int {
    guard let entry = entry(key, in: table) else {
      let new = addTable(.implied, at: key.location)
      append(key, .table(new), to: table)
      return new
    }
    switch tables[table].entries[entry].value {
    case .table(let known) where tables[known].origin != .inline: return known
    case .tables(let list, _): return lists[list].last ?? table
    case .scalar, .list, .table, .missing:
      throw closed(key, first: tables[table].entries[entry].key)
    }
  }

  private func entry(_ key: Key, in table: Int) -> Int? {
    tables[table].index[Array(key.text.utf8)]
  }

  private mutating func append(_ key: Key, _ value: Value, to table: Int) {
    tables[table].index[Array(key.text.utf8)] = tables[table].entries.count
    tables[table].entries.append(Pair(key: key, value: value))
  }

  private func duplicate(_ key: Key, first: Key) -> Diagnostic {
    Diagnostic(
      "document.duplicate-key",
      "duplicate key `\(key.text.quotable)`, first written on line \(first.location.line)",
      hint: "keep one of them",
      at: key.location
    )
  }

  private func closed(_ key: Key, first: Key) -> Diagnostic {
    Diagnostic(
      "document.duplicate-key",
      "`\(key.text.quotable)` is written on line \(first.location.line), and is not a table that can "
        + "be added to here",
      at: key.location
    )
  }
}

// MARK: - The whole

extension TOMLTree {
  func emit(into builder: inout TreeBuilder) throws(Diagnostic) {
    try emit(Self.root, into: &builder)
  }

  private func emit(_ table: Int, into builder: inout TreeBuilder) throws(Diagnostic) {
    try builder.open(.mapping, at: tables[table].location)
    for entry in tables[table].entries {
      try builder.key(entry.key.text, at: entry.key.location)
      try emit(entry.value, into: &builder)
    }
    try builder.close()
  }

  private func emit(_ value: Value, into builder: inout TreeBuilder) throws(Diagnostic) {
    switch value {
    case .scalar(let scalar, let location): try builder.add(scalar, at: location)
    case .table(let table): try emit(table, into: &builder)
    case .list(let values, let location):
      try builder.open(.sequence, at: location)
      for value in values { try emit(value, into: &builder) }
      try builder.close()
    case .tables(let list, let location):
      try builder.open(.sequence, at: location)
      for table in lists[list] { try emit(table, into: &builder) }
      try builder.close()
    case .missing: break
    }
  }
}
