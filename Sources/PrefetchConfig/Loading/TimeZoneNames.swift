package import PrefetchCore

extension LoadedConfiguration {
  private var timeZones: [(name: String, path: ValuePath)] {
    var zones: [(String, ValuePath)] = [
      (
        configuration.network.rules.timeZone ?? "local",
        ValuePath([.key("network"), .key("timezone")])
      )
    ]
    for (index, segment) in configuration.segments.enumerated() {
      let path = ValuePath([.key("segments"), .index(index)])
      let own = path.appending(.key("network")).appending(.key("timezone"))
      if let name = segment.network?.timeZone { zones.append((name, own)) }
      for (number, entry) in segment.urls.enumerated() {
        guard case .item(let item) = entry, let name = item.network?.timeZone else { continue }
        let steps: [ValuePath.Step] = [
          .key("urls"), .index(number), .key("network"), .key("timezone"),
        ]
        zones.append((name, ValuePath(path.steps + steps)))
      }
    }
    return zones
  }

  package func timeZoneDiagnostics(isKnown: (String) -> Bool) -> [Diagnostic] {
    timeZones.filter { $0.name != "local" && $0.name != "UTC" && !isKnown($0.name) }.map { zone in
      diagnostic(
        "config.unknown-timezone",
        "this system has no time zone `\(zone.name)`",
        hint: "write `local`, `UTC` or a name of the tz database such as `Europe/Berlin`",
        at: zone.path
      )
    }
  }
}
