/// Cached verdicts on items with network rules of their own, since time windows are costly.
struct ItemVerdicts: Sendable {
  struct Key: Hashable, Sendable {
    var segment: Int
    /// Number of the rules in the segment's entry table.
    var rules: Int
  }

  var policies: [Key: NetworkPolicy] = [:]
  var verdicts: [Key: NetworkVerdict] = [:]
}
