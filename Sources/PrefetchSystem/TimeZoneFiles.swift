package import PrefetchCore

package struct TimeZoneFiles: Sendable {
  private let variable: String?
  private let folder: String
  private let localFile: String

  /// `variable` is the value of `$TZ`.
  package init(
    variable: String?,
    folder: String = "/usr/share/zoneinfo",
    localFile: String = "/etc/localtime"
  ) {
    self.variable = variable
    self.folder = folder
    self.localFile = localFile
  }

  package func zone(named name: String) -> TimeZoneRules? {
    switch name {
    case "local": local
    case "UTC": .utc
    default: TimeZoneRules.isName(name) ? read("\(folder)/\(name)") : nil
    }
  }

  /// Rules of this process's zone; UTC when unreadable, as in the C library.
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
