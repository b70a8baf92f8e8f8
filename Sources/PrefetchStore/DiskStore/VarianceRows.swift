internal import PrefetchCore

/// Numbers of variances (0 is none), valid within one transaction: others may add numbers.
final class VarianceRows {
  private let find: Statement
  private let insert: Statement
  private let database: Database
  private var last: (variance: Variance, number: Int64)?

  init(_ database: Database) {
    self.database = database
    find = database.prepare("SELECT variance FROM variances WHERE hops=?1")
    insert = database.prepare("INSERT INTO variances (hops) VALUES (?1)")
  }

  func begin() {
    last = nil
  }

  func number(of variance: Variance) throws(Failure) -> Int64 {
    if let last, last.variance == variance { return last.number }
    let bytes = ResponseTermsCoding.encode(variance)
    var number = try find.first(bytes) { row in row.number(0) }
    if number == nil {
      try insert.run(bytes)
      number = database.lastInsertedRow
    }
    last = (variance, number ?? 0)
    return number ?? 0
  }

  static func tidyUp(_ database: Database) throws(Failure) {
    try database.execute(
      """
      DELETE FROM variances WHERE variance NOT IN (SELECT variance FROM items WHERE variance<>0 \
      UNION SELECT variance FROM released_items)
      """
    )
  }
}

/// Variances by their position in an inventory, from 1.
struct VarianceLists {
  private(set) var list: [Variance] = []
  private var positions: [Int64: UInt32] = [:]

  init(_ database: Database) throws(Failure) {
    let rows = database.prepare("SELECT variance, hops FROM variances")
    while try rows.step() {
      guard let variance = ResponseTermsCoding.decodeVariance(rows.bytes(1)) else { continue }
      list.append(variance)
      positions[rows.number(0)] = UInt32(list.count)
    }
  }

  func position(of number: Int64, for row: borrowing Statement) throws(Failure) -> UInt32 {
    guard number != 0 else { return 0 }
    guard let position = positions[number] else {
      throw RecordRow.damaged("variance", of: row.text(1))
    }
    return position
  }
}
