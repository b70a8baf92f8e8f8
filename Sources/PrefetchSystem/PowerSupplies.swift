package import PrefetchCore

package struct PowerSupplies: Sendable {
  private let root: String

  package init(root: String = "") {
    self.root = root
  }

  package func look() -> NetworkConditions.Power {
    let folder = "\(root)/sys/class/power_supply"
    let supplies = FolderListing.names(folder).sorted().map { "\(folder)/\($0)" }
    // Batteries of devices such as mice do not power the machine.
    let own = supplies.filter { value("\($0)/scope") != "Device" }
    let batteries = own.filter { value("\($0)/type") == "Battery" }
    guard !batteries.isEmpty else {
      return NetworkConditions.Power(isOnMains: true, reason: "there is no battery")
    }
    let charge = charge(of: batteries)
    let mains = own.filter { ["Mains", "USB", "Wireless"].contains(value("\($0)/type") ?? "") }
      .compactMap { value("\($0)/online") }
    if mains.contains(where: { $0 != "0" }) {
      return NetworkConditions.Power(isOnMains: true, charge: charge, reason: "on mains")
    }
    if !mains.isEmpty {
      return NetworkConditions.Power(isOnMains: false, charge: charge, reason: "on battery")
    }
    // Without an adapter's state, the battery's own state decides.
    let states = batteries.compactMap { value("\($0)/status") }
    if states.contains("Discharging") {
      return NetworkConditions.Power(isOnMains: false, charge: charge, reason: "on battery")
    }
    let isFed = states.contains { ["Charging", "Full", "Not charging"].contains($0) }
    return NetworkConditions.Power(
      isOnMains: isFed ? true : nil,
      charge: charge,
      reason: isFed ? "on mains" : "the battery does not say what it does"
    )
  }

  /// Returns the mean charge of the batteries in percent.
  private func charge(of batteries: [String]) -> Int? {
    let charges = batteries.compactMap { value("\($0)/capacity") }.compactMap { Int($0) }
    guard !charges.isEmpty else { return nil }
    return min(100, max(0, charges.reduce(0, +) / charges.count))
  }

  private func value(_ path: String) -> String? {
    guard let bytes = try? FileReading.read(path, limit: 4096) else { return nil }
    return String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
  }
}
