internal import PrefetchCore

/// Inserts many rows per statement, at half the cost; texts and blobs are bound without copies.
final class RowBatch {
  /// Larger batches gain little.
  static let size = 16

  private enum Value {
    case null
    case number(Int64)
    case text(Range<Int>)
    case blob(Range<Int>)
  }

  private let database: Database
  private let head: String
  private let tail: String
  private let columnCount: Int
  private var many: KeptStatement?
  private var one: KeptStatement?
  private var values: [Value] = []
  private var bytes: [UInt8] = []

  init(
    _ database: Database,
    _ head: String,
    columns columnCount: Int,
    _ tail: String = ""
  ) {
    self.database = database
    self.head = head
    self.columnCount = columnCount
    self.tail = tail
  }

  private func prepared(rows count: Int) -> KeptStatement {
    let row = "(\(Array(repeating: "?", count: columnCount).joined(separator: ",")))"
    let rows = Array(repeating: row, count: count).joined(separator: ",")
    return KeptStatement(database.prepare("\(head) \(rows) \(tail)"))
  }

  func begin() {
    values.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
  }

  var isFull: Bool {
    values.count >= Self.size * columnCount
  }

  // MARK: The next column

  func add(_ number: Int64?) {
    values.append(number.map { .number($0) } ?? .null)
  }

  func add(_ text: String?) {
    guard var text else { return values.append(.null) }
    let start = bytes.count
    text.withUTF8 { unsafe bytes.append(contentsOf: $0) }
    values.append(.text(start..<bytes.count))
  }

  func addBlob(_ write: (inout [UInt8]) -> Void) {
    let start = bytes.count
    write(&bytes)
    values.append(.blob(start..<bytes.count))
  }

  // MARK: Writing

  @discardableResult
  func run() throws(Failure) -> Int {
    defer { begin() }
    if isFull {
      let statement = if let many { many } else { prepared(rows: Self.size) }
      many = statement
      return try run(statement.statement, from: 0, count: values.count)
    }
    guard !values.isEmpty else { return 0 }
    let statement = if let one { one } else { prepared(rows: 1) }
    one = statement
    var changed = 0
    for start in stride(from: 0, to: values.count, by: columnCount) {
      changed += try run(statement.statement, from: start, count: columnCount)
    }
    return changed
  }

  private func run(
    _ statement: borrowing Statement,
    from start: Int,
    count: Int
  ) throws(Failure) -> Int {
    let bytes = bytes
    let all = bytes.span
    for index in 0..<count {
      let parameter = Int32(index + 1)
      switch values[start + index] {
      case .null: try statement.bind(parameter, nil as Int64?)
      case .number(let number): try statement.bind(parameter, number)
      case .text(let range):
        let text = all.extracting(range)
        try statement.bindText(parameter, unsafe text.bytes)
      case .blob(let range):
        let blob = all.extracting(range)
        try statement.bindBlob(parameter, unsafe blob.bytes)
      }
    }
    try statement.run()
    return database.changeCount
  }
}
