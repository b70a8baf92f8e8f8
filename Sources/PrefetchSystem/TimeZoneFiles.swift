package import PrefetchCore

/// Finds the rules of time zones where this system keeps them.
package struct TimeZoneFiles: Sendable {
  private let variable: String?
  private let folder: String
  private let localFile: String

  /// `variable` is `$TZ`.
  package init(
    variable: String?,
    folder: String = "/usr/share/zoneinfo",
    localFile: String = "/etc/localtime"
  ) {
    self.variable = variable
    self.folder = folder
    self.localFile = localFile
  }

  /// The zone that a configuration names: `local`, `UTC`, `Area/City`; nil where there is none.
  package func zone(named name: String) -> TimeZoneRules? {
    switch name {
    case "local": local
    case "UTC": .utc
    default: TimeZoneRules.isName(name) ? read("\(folder)/\(name)") : nil
    }
  }

  /// The zone of this process; what cannot be understood is UTC, as the C library has it.
  package var local: TimeZoneRules {
    guard let variable else { return read(localFile) ?? .utc }
    let text = variable.hasPrefix(":") ? variable.dropFirst() : Substring(variable)
    if text.isEmpty { return .utc }
    if text.hasPrefix("/") { return read(String(text)) ?? .utc }
    if !text.contains(".."), let zone = read("\(folder)/\(text)") { return zone }
    return TimeZoneRules(posix: text) ?? .utc
  }

  private static let largestFile = 1 << 20

  private func read(_ path: String) -> TimeZoneRules? {
    guard let bytes = try? FileReading.readRegular(path, limit: Self.largestFile) else {
      return nil
    }
    return TimeZoneRules(tzif: bytes)
  }
}
