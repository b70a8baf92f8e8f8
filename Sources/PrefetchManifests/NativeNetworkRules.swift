package import PrefetchCore
internal import PrefetchDocuments

/// Reads network rules, which can only narrow the configuration's; malformed ones are errors.
struct NativeNetworkRules {
  struct Fault: Error {
    var message: String
    var node: Node
  }

  static func read(_ node: Node, _ key: String) throws(Fault) -> NetworkPolicy? {
    guard let value = node.member(key) else { return nil }
    guard value.mapping != nil else {
      throw Fault(message: "`\(key)` must be a mapping, not \(value.kindName)", node: value)
    }
    var policy = NetworkPolicy()
    policy.allowed = try allowed(value)
    policy.defersMetered = try isDeferred(value, "metered")
    policy.defersUnknownMetered = try isDeferred(value, "unknown_metered")
    policy.needsMains = try needsMains(value)
    policy.batteryFloor = try batteryFloor(value)
    let zone = try Self.zone(value)
    let windows = try Self.windows(value)
    if !windows.isEmpty { policy.localHours = [LocalHours(windows: windows, zone: zone)] }
    policy.budgets = [
      try budget(value, "daily_limit", .day), try budget(value, "monthly_limit", .month),
    ].compactMap(\.self)
    return policy
  }

  private static func allowed(_ node: Node) throws(Fault) -> Set<NetworkType>? {
    guard let value = node.member("allow") else { return nil }
    let words = (value.sequence ?? [value]).map { $0.text ?? "" }
    guard !words.contains("any") else { return nil }
    var types: Set<NetworkType> = []
    for word in words where word != "none" {
      guard let type = NetworkType(rawValue: word) else {
        throw Fault(message: "`allow` must name kinds of network", node: value)
      }
      types.insert(type)
    }
    return types
  }

  private static func isDeferred(_ node: Node, _ key: String) throws(Fault) -> Bool {
    guard let value = node.member(key) else { return false }
    switch value.text {
    case "use", "true": return false
    case "defer", "false": return true
    default: throw Fault(message: "`\(key)` must be `use` or `defer`", node: value)
    }
  }

  private static func needsMains(_ node: Node) throws(Fault) -> Bool {
    guard let value = node.member("power") else { return false }
    switch value.text {
    case "any": return false
    case "ac": return true
    default: throw Fault(message: "`power` must be `any` or `ac`", node: value)
    }
  }

  private static func batteryFloor(_ node: Node) throws(Fault) -> Int {
    guard let value = node.member("battery_floor") else { return 0 }
    guard let percent = value.integer, (0...100).contains(percent) else {
      throw Fault(message: "`battery_floor` must be in 0–100", node: value)
    }
    return Int(percent)
  }

  /// Largest number of windows, since each costs time to evaluate.
  static let maximumWindows = 64

  private static func windows(_ node: Node) throws(Fault) -> [ClockWindow] {
    guard let value = node.member("windows") else { return [] }
    guard value.sequence?.count ?? 1 <= maximumWindows else {
      throw Fault(message: "`windows` may be \(maximumWindows) at most", node: value)
    }
    var windows: [ClockWindow] = []
    for item in value.sequence ?? [value] {
      do throws(ClockWindow.Malformed) {
        windows.append(try ClockWindow(item.text ?? ""))
      } catch {
        throw Fault(message: "`windows`: \(error.message)", node: item)
      }
    }
    return windows
  }

  /// Reads a time zone; its name must be safe, since it becomes part of a file's path.
  private static func zone(_ node: Node) throws(Fault) -> String? {
    guard let value = node.member("timezone") else { return nil }
    guard let name = value.text, TimeZoneRules.isName(name) else {
      throw Fault(message: "`timezone` must be `local`, `UTC` or `Area/City`", node: value)
    }
    return name
  }

  private static func budget(
    _ node: Node,
    _ key: String,
    _ period: ByteBudget.Period
  ) throws(Fault) -> ByteBudget? {
    guard let value = node.member(key) else { return nil }
    guard let entries = value.mapping else {
      return ByteBudget(period: period, limit: try size(value, key))
    }
    var budget = ByteBudget(period: period, limit: nil)
    for entry in entries {
      if entry.key == "any" {
        budget.limit = try size(entry.value, key)
      } else if let type = NetworkType(rawValue: entry.key) {
        budget.limits[type] = try size(entry.value, key)
      }
    }
    return budget.isUnlimited ? nil : budget
  }

  fileprivate static func size(_ node: Node, _ key: String) throws(Fault) -> Int64 {
    guard let text = node.text, let size = SizeText.parse(text) else {
      throw Fault(message: "`\(key)` must be a size such as `100MB`", node: node)
    }
    return size
  }
}

extension PublisherPolicy {
  static func read(_ document: Node) throws(NativeNetworkRules.Fault) -> PublisherPolicy? {
    guard let node = document.member("policy") else { return nil }
    var policy = PublisherPolicy()
    policy.network = try NativeNetworkRules.read(document, "policy")
    if let value = node.member("max_file_size") {
      policy.maximumFileSize = try NativeNetworkRules.size(value, "max_file_size")
    }
    if let value = node.member("items_per_category") {
      guard let count = value.integer, (0...1_000_000).contains(count) else {
        throw .init(message: "`items_per_category` must be in 0–1000000", node: value)
      }
      policy.countPerCategory = Int(count)
    }
    policy.switchedOff = try switchedOff(node)
    return policy
  }

  private static func switchedOff(_ node: Node) throws(NativeNetworkRules.Fault) -> Set<Feature> {
    guard let value = node.member("features") else { return [] }
    guard let entries = value.mapping else {
      throw .init(message: "`features` must be a mapping, not \(value.kindName)", node: value)
    }
    var off: Set<Feature> = []
    for entry in entries {
      guard entry.value.scalar?.kind == .boolean else {
        throw .init(message: "`features.\(entry.key)` must be true or false", node: entry.value)
      }
      guard let feature = Feature(rawValue: entry.key), entry.value.text == "false" else {
        continue
      }
      off.insert(feature)
    }
    return off
  }

  package init(json text: String) throws(Failure) {
    var limits = DocumentReader.Limits()
    limits.bytes = 1 << 20
    limits.depth = NativeManifest.maximumDepth
    let bytes = Array("{\"policy\":\(text)}".utf8)
    let reading = DocumentReader.read(bytes, source: "policy", syntax: .json, limits: limits)
    guard let node = reading.node, reading.diagnostics.isEmpty else {
      throw Failure(.badResponse, "the `policy` is not a JSON object")
    }
    do throws(NativeNetworkRules.Fault) {
      self = try Self.read(node) ?? PublisherPolicy()
    } catch {
      throw Failure(.badResponse, error.message)
    }
  }
}
