/// Network rules of items that go beyond their segments, and the verdicts on them.
///
/// Cached, since a million items may share a rule, and time windows are costly to evaluate.
struct ItemVerdicts: Sendable {
  struct Key: Hashable, Sendable {
    var segment: Int
    /// Number of the rules in the segment's entry table.
    var rules: Int
  }

  /// Rules of the segments, narrowed by those of their items.
  var policies: [Key: NetworkPolicy] = [:]
  var verdicts: [Key: NetworkVerdict] = [:]
}
