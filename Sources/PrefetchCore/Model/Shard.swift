/// Share of the declared items for one machine or job.
package struct Shard: Hashable, Sendable {
  package var index: Int
  package var count: Int

  /// Largest number of shards: more are a slip of the pen, and each costs a hash per item.
  package static let most = 10_000

  package init?(index: Int, count: Int) {
    guard (1...Self.most).contains(count), (0..<count).contains(index) else { return nil }
    self.index = index
    self.count = count
  }

  /// Parses `I/N`, I from 0.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy(ASCII.isDigit) }),
      let index = Int(parts[0]), let count = Int(parts[1])
    else { return nil }
    self.init(index: index, count: count)
  }

  /// Reads the shard that a scheduler has set for its job; nil if it has set none or half of one.
  ///
  /// SLURM counts from any number, GitLab from 1, Kubernetes from 0 and without a total.
  package init?(environment: [String: String]) {
    func number(_ name: String) -> Int? { environment[name].flatMap { Int($0) } }
    if let task = number("SLURM_ARRAY_TASK_ID"), let first = number("SLURM_ARRAY_TASK_MIN"),
      let count = number("SLURM_ARRAY_TASK_COUNT")
    {
      self.init(index: task - first, count: count)
    } else if let node = number("CI_NODE_INDEX"), let count = number("CI_NODE_TOTAL") {
      self.init(index: node - 1, count: count)
    } else if let pod = number("JOB_COMPLETION_INDEX"), let count = number("PREFETCH_SHARDS") {
      self.init(index: pod, count: count)
    } else {
      return nil
    }
  }

  package var text: String { "\(index)/\(count)" }
}

/// Rule for which items belong to a shard: the one with the largest weight, a digest of the URL and
/// the shard's number, so that an added shard takes evenly from the others and nothing else moves.
package struct ShardRule: Sendable {
  package let shard: Shard
  private let weigh: @Sendable (String) -> ContentDigest

  package init(_ shard: Shard, weigh: @escaping @Sendable (String) -> ContentDigest) {
    self.shard = shard
    self.weigh = weigh
  }

  package func owns(_ url: String) -> Bool {
    let own = weigh("\(url)\n\(shard.index)")
    return (0..<shard.count).allSatisfy { other in
      other == shard.index || weigh("\(url)\n\(other)") < own
    }
  }

  func apply(to entries: EntryTable) -> EntryTable {
    guard shard.count > 1 else { return entries }
    var own = EntryTable()
    own.append(entries, at: entries.indices.filter { owns(entries.url(at: $0)) })
    return own
  }
}
