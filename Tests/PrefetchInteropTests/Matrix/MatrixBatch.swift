import Testing

/// Rows that are played in one run, in one situation.
struct MatrixBatch: Sendable, CustomTestStringConvertible {
  /// Few enough for their servers, and for a failure to be found.
  private static let largest = 8

  var situation: Situation
  var rows: [Row]

  var testDescription: String {
    "\(situation): \(rows.map(\.testDescription).joined(separator: ", "))"
  }

  /// Returns all rows in all situations.
  ///
  /// Rows share a run when they need no settings of their own and lead to the same exit status.
  static func of(_ rows: [Row]) -> [MatrixBatch] {
    Situation.allCases.flatMap { situation in
      var batches: [MatrixBatch] = []
      var open: [String: Int] = [:]
      for row in rows {
        guard let shared = row.sharedSettings(in: situation) else {
          batches.append(MatrixBatch(situation: situation, rows: [row]))
          continue
        }
        if let index = open[shared], batches[index].rows.count < largest {
          batches[index].rows.append(row)
        } else {
          open[shared] = batches.count
          batches.append(MatrixBatch(situation: situation, rows: [row]))
        }
      }
      return batches
    }
  }
}

extension Row {
  /// Returns the settings that rows must share to be tested in one run; nil for a row tested alone.
  fileprivate func sharedSettings(in situation: Situation) -> String? {
    guard item.isEmpty, segment.isEmpty, settings.isEmpty, body == nil, interrupted == nil,
      path == "/item", let verdict = verdicts[situation],
      verdict.exits.count == 1
    else { return nil }
    return "\(verdict.exits[0]) \(timeouts) \(retries) \(largest)"
  }
}
