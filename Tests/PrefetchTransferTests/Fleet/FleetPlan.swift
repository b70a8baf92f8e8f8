import PrefetchCore
import PrefetchTestSupport

/// Many machines that prefetch one list at night, and what lies between them and its origin.
struct FleetPlan: Sendable {
  /// What is known of a body before it is asked for.
  enum Items: String, CaseIterable, Sendable {
    /// Nothing.
    case silent = "nothing"
    /// That an answer of the origin holds for an hour.
    case lasting = "`max-age` of an hour"
    /// The digest, from the list.
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
  /// How many of these have a new body tonight.
  var changedCount = 100
  /// Machines begin at any moment of it, as `--splay` has it.
  var splay: Duration = .seconds(1)
  var seed = 1
  let bodySize: Int64 = 64 << 10
  /// What the list takes for an item.
  let lineSize: Int64 = 120

  /// Those that begin within it begin together.
  static let tick: Int64 = 100

  /// When machines begin, in milliseconds, and how many of them at once.
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
