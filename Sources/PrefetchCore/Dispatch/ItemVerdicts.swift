/// What items ask of the network beyond their segments, and what that comes to.
///
/// A million items may say the same, and windows take some working out.
struct ItemVerdicts: Sendable {
  struct Key: Hashable, Sendable {
    var segment: Int
    /// The number of the rules in the segment's table.
    var rules: Int
  }

  private var narrowed: [Key: NetworkPolicy] = [:]
  private var verdicts: [Key: NetworkVerdict] = [:]

  /// The rules of segments as their items narrow them, in no order.
  var policies: [NetworkPolicy] {
    Array(narrowed.values)
  }

  func policy(_ key: Key) -> NetworkPolicy? {
    narrowed[key]
  }

  func verdict(_ key: Key) -> NetworkVerdict? {
    verdicts[key]
  }

  /// True where nobody asked for this one before.
  mutating func note(_ key: Key, _ policy: NetworkPolicy, _ verdict: NetworkVerdict) -> Bool {
    verdicts[key] = verdict
    return narrowed.updateValue(policy, forKey: key) == nil
  }

  mutating func forgetVerdicts() {
    verdicts.removeAll(keepingCapacity: true)
  }
}
