import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// This machine's network and power as the configuration and the command line let them be seen.
final class MachineCircumstances: Circumstances {
  /// What one of them states, and what it is called.
  private struct Statement {
    var type: NetworkType
    var isMetered: Bool?
    var source: String
  }

  private let context: CommandContext
  private let loaded: LoadedConfiguration
  /// Opened when something is to be remembered; nil where nothing can be.
  private let state: () throws(Failure) -> StateStore?

  /// Programs are not asked the same more often than this.
  private static let patience = Duration.seconds(30)
  private var asked: Answer?

  private struct Answer {
    var at: Duration
    var interface: String?
    /// What was looked at; of anything else nothing is known.
    var aspects: Set<NetworkConditions.Aspect>
    var conditions: NetworkConditions
  }

  init(
    context: CommandContext,
    loaded: LoadedConfiguration,
    state: @escaping () throws(Failure) -> StateStore?
  ) {
    self.context = context
    self.loaded = loaded
    self.state = state
  }

  private var statement: Statement? {
    if let option = context.shared.network {
      return Statement(
        type: option.type,
        isMetered: option.isMetered,
        source: "`--network` says so"
      )
    }
    return loaded.configuration.network.type.map {
      Statement(type: $0, isMetered: nil, source: "`network.type` says so")
    }
  }

  private var probe: NetworkProbe? {
    let words = loaded.configuration.network.probe
    guard !words.isEmpty else { return nil }
    // A program of the user's gets the environment, but nothing that is secret in it.
    let variables = context.variablesForChildren(loaded)
    return NetworkProbe(words, environment: variables)
  }

  /// The kind of network without asking any program; nil where only a program knows.
  var glance: NetworkConditions? {
    let isStated = statement != nil
    guard isStated || loaded.configuration.network.probe.isEmpty else { return nil }
    return conditions([], isStated ? nil : NetworkInterfaces().look())
  }

  func conditions(_ aspects: Set<NetworkConditions.Aspect>) -> NetworkConditions {
    let finding = NetworkInterfaces().look()
    let now = context.clock.now().uptime
    let isRecent = asked.map {
      $0.interface == finding.interface && now - $0.at < Self.patience
    }
    if isRecent == true, let asked, aspects.isSubset(of: asked.aspects) {
      var conditions = asked.conditions
      // The kernel is quickly asked.
      if aspects.contains(.power), loaded.configuration.network.probe.isEmpty {
        conditions.power = PowerSupplies().look()
      }
      return conditions
    }
    let conditions = conditions(aspects, finding)
    asked = Answer(
      at: now,
      interface: finding.interface,
      aspects: aspects,
      conditions: conditions
    )
    return conditions
  }

  /// What a statement, a program or the kernel says, in this order, each where the one before is
  /// silent.
  private func conditions(
    _ aspects: Set<NetworkConditions.Aspect>,
    _ finding: NetworkInterfaces.Finding?
  ) -> NetworkConditions {
    let statement = statement
    var conditions = NetworkConditions()
    let isOpen = statement == nil || statement?.isMetered == nil || aspects.contains(.power)
    let told = aspects.isEmpty || !isOpen ? nil : probe?.look()
    if let statement {
      conditions.type = statement.type
      conditions.typeReason = statement.source
    } else if let told {
      conditions.type = told.type
      conditions.typeReason = told.typeReason
    } else if let finding {
      conditions.type = finding.type
      conditions.typeReason = finding.reason
    }
    if let isMetered = statement?.isMetered {
      conditions.isMetered = isMetered
      conditions.meteredReason = statement?.source ?? ""
    } else if let told, told.isMetered != nil {
      conditions.isMetered = told.isMetered
      conditions.meteredReason = told.meteredReason
    } else if aspects.contains(.metered) {
      let finding = MeteredNetwork(variables: context.environment.variables).look()
      conditions.isMetered = finding.isMetered
      conditions.meteredReason = finding.reason
    }
    if let told, told.power.isOnMains != nil || told.power.charge != nil {
      conditions.power = told.power
    } else if aspects.contains(.power) {
      conditions.power = PowerSupplies().look()
    }
    return conditions
  }

  func hasNetwork() -> Bool {
    NetworkInterfaces().leadsOut
  }

  func memory() throws(Failure) -> NetworkMemory {
    let now = context.clock.now().wall
    let zone =
      context.zones.zone(named: loaded.configuration.network.rules.timeZone ?? "local") ?? .utc
    let day = TransferUsage.day(at: now, in: zone)
    guard let state = try state() else { return NetworkMemory() }
    return try state.networkMemory(of: day, at: now)
  }

  func record(_ memory: NetworkMemory) throws(Failure) -> TransferUsage {
    try state()?.recordNetwork(memory) ?? TransferUsage()
  }
}

/// What `--network` states.
struct StatedNetwork: Hashable, Sendable {
  var type: NetworkType
  var isMetered: Bool

  /// `wifi` or `wifi,metered`.
  init?(_ text: String) {
    let words = text.split(separator: ",", omittingEmptySubsequences: false)
    guard let first = words.first, let type = NetworkType(rawValue: String(first)) else {
      return nil
    }
    guard words.count == 1 || words.count == 2 && words[1] == "metered" else { return nil }
    self.type = type
    isMetered = words.count == 2
  }

  /// The same as the user writes it.
  var text: String {
    type.rawValue + (isMetered ? ",metered" : "")
  }
}
