import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// The machine's network and power, as configuration and command line allow.
final class MachineCircumstances: Circumstances {
  private struct Statement {
    var type: NetworkType
    var isMetered: Bool?
    var source: String
  }

  private let context: CommandContext
  private let loaded: LoadedConfiguration
  private let state: () throws(Failure) -> StateStore?

  /// Longest age of a program's answer before it is started again.
  private static let longestAge = Duration.seconds(30)
  private var lastReading: Reading?

  private struct Reading {
    var at: Duration
    var interface: String?
    /// Aspects that were examined; others are unknown.
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
    // The user's program gets no secrets.
    let variables = context.variablesForChildren(loaded)
    return NetworkProbe(words, environment: variables)
  }

  /// Type of network, without starting a program; nil if one is needed.
  var glance: NetworkConditions? {
    let isStated = statement != nil
    guard isStated || loaded.configuration.network.probe.isEmpty else { return nil }
    return conditions([], isStated ? nil : NetworkInterfaces().look())
  }

  func conditions(_ aspects: Set<NetworkConditions.Aspect>) -> NetworkConditions {
    let finding = NetworkInterfaces().look()
    let now = context.clock.now().uptime
    let isRecent = lastReading.map {
      $0.interface == finding.interface && now - $0.at < Self.longestAge
    }
    if isRecent == true, let lastReading, aspects.isSubset(of: lastReading.aspects) {
      var conditions = lastReading.conditions
      // Asking the kernel is fast.
      if aspects.contains(.power), loaded.configuration.network.probe.isEmpty {
        conditions.power = PowerSupplies().look()
      }
      return conditions
    }
    let conditions = conditions(aspects, finding)
    lastReading = Reading(
      at: now,
      interface: finding.interface,
      aspects: aspects,
      conditions: conditions
    )
    return conditions
  }

  /// Returns conditions from statement, program and kernel, in this order.
  private func conditions(
    _ aspects: Set<NetworkConditions.Aspect>,
    _ finding: NetworkInterfaces.Finding?
  ) -> NetworkConditions {
    let statement = statement
    var conditions = NetworkConditions()
    let isOpen = statement == nil || statement?.isMetered == nil || aspects.contains(.power)
    let probed = aspects.isEmpty || !isOpen ? nil : probe?.look()
    if let statement {
      conditions.type = statement.type
      conditions.typeReason = statement.source
    } else if let probed {
      conditions.type = probed.type
      conditions.typeReason = probed.typeReason
    } else if let finding {
      conditions.type = finding.type
      conditions.typeReason = finding.reason
    }
    if let isMetered = statement?.isMetered {
      conditions.isMetered = isMetered
      conditions.meteredReason = statement?.source ?? ""
    } else if let probed, probed.isMetered != nil {
      conditions.isMetered = probed.isMetered
      conditions.meteredReason = probed.meteredReason
    } else if aspects.contains(.metered) {
      let finding = MeteredNetwork(variables: context.environment.variables).look()
      conditions.isMetered = finding.isMetered
      conditions.meteredReason = finding.reason
    }
    if let probed, probed.power.isOnMains != nil || probed.power.charge != nil {
      conditions.power = probed.power
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

struct StatedNetwork: Hashable, Sendable {
  var type: NetworkType
  var isMetered: Bool

  /// Parses `wifi` or `wifi,metered`.
  init?(_ text: String) {
    let words = text.split(separator: ",", omittingEmptySubsequences: false)
    guard let first = words.first, let type = NetworkType(rawValue: String(first)) else {
      return nil
    }
    guard words.count == 1 || words.count == 2 && words[1] == "metered" else { return nil }
    self.type = type
    isMetered = words.count == 2
  }

  var text: String {
    type.rawValue + (isMetered ? ",metered" : "")
  }
}
