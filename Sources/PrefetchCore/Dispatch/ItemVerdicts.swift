/// What items ask of the network beyond their segments, and what that comes to.
///
/// A million items may say the same, and windows take some working out.
struct ItemVerdicts: Sendable {
  struct Key: Hashable, Sendable {
    var segment: Int
    /// The number of the rules in the segment's table.
    var rules: Int
  }

  /// The rules of segments as their items narrow them.
  var policies: [Key: NetworkPolicy] = [:]
  var verdicts: [Key: NetworkVerdict] = [:]
}
