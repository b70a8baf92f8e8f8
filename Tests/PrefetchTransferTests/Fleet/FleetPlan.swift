import PrefetchCore
import PrefetchTestSupport

/// Machines that prefetch one list at night, with the servers between them and the origin.
struct FleetPlan: Sendable {
  /// Facts about a body that are known before its request.
  enum Items: String, CaseIterable, Sendable {
    /// No facts.
    case silent = "nothing"
    /// The origin's responses are fresh for an hour.
    case lasting = "`max-age` of an hour"
    /// The list pins digests.
    case pinned = "digests"
  }

  enum Tier: String, CaseIterable, Sendable {
    case none = "none"
    case untrusted = "`read_write`"
    case trusted = "`trust: true`"
  }

  var items = Items.silent
  var tier = Tier.none
  var machineCount = 1_000
  var itemCount = 10_000
  /// Number of items with a new body tonight.
  var changedCount = 100
  /// Period within which machines start at random, as with `--splay`.
  var splay: Duration = .seconds(1)
  var seed = 1
  let bodySize: Int64 = 64 << 10
  /// Bytes of the list per item.
  let lineSize: Int64 = 120

  /// Machines that start within one tick start together.
  static let tick: Int64 = 100

  /// Start times in milliseconds, with the number of machines.
  var starts: [(time: Int64, count: Int)] {
    var random = SeededRandom(mixing: [seed, machineCount])
    var counts: [Int64: Int] = [:]
    for _ in 0..<machineCount {
      let time = Int64.random(in: 0..<max(1, splay.milliseconds), using: &random)
      counts[time / Self.tick * Self.tick, default: 0] += 1
    }
    return counts.sorted { $0.key < $1.key }.map { (time: $0.key, count: $0.value) }
  }

  var tierSettings: TierSettings {
    var settings = TierSettings()
    guard tier != .none else { return settings }
    settings.url = try? WebURL("https://\(FleetServers.tierHost)/t")
    settings.mode = .readWrite
    settings.isTrusted = tier == .trusted
    return settings
  }
}
