/// Whether the network is metered, as NetworkManager reports.
package struct MeteredNetwork: Sendable {
  package struct Finding: Hashable, Sendable {
    package var isMetered: Bool?
    package var reason: String
  }

  private static let timeout = Duration.seconds(1)

  private let environment: [String: String]

  /// Keeps only the variables that the helper programs need; `PATH` locates them.
  package init(variables: [String: String]) {
    environment = variables.filter { Self.passed.contains($0.key) }
  }

  private static let passed: Set = ["PATH", "DBUS_SYSTEM_BUS_ADDRESS"]

  package func look() -> Finding {
    if let busctl = ProgramSearch.path(of: "busctl", in: environment["PATH"]) {
      let name = "org.freedesktop.NetworkManager"
      let words = [
        busctl, "--system", "get-property", name, "/org/freedesktop/NetworkManager", name,
        "Metered",
      ]
      if let finding = query(words, Self.property) { return finding }
    }
    if let nmcli = ProgramSearch.path(of: "nmcli", in: environment["PATH"]) {
      let words = [nmcli, "--terse", "--fields", "GENERAL.METERED", "device", "show"]
      if let finding = query(words, Self.devices) { return finding }
    }
    return Finding(isMetered: nil, reason: "no network manager says so")
  }

  private func query(_ words: [String], _ read: (String) -> Finding?) -> Finding? {
    guard
      let output = try? ChildProcess.output(words, environment: environment, within: Self.timeout)
    else { return nil }
    return read(output)
  }

  /// Parses `u 4`: 1 yes, 2 no, 3 and 4 the same as guesses, 0 unknown.
  private static func property(_ output: String) -> Finding? {
    switch output.split(whereSeparator: \.isWhitespace).last {
    case "1": Finding(isMetered: true, reason: "NetworkManager says so")
    case "2": Finding(isMetered: false, reason: "NetworkManager says so")
    case "3": Finding(isMetered: true, reason: "NetworkManager guesses so")
    case "4": Finding(isMetered: false, reason: "NetworkManager guesses so")
    case "0": Finding(isMetered: nil, reason: "NetworkManager does not know")
    default: nil
    }
  }

  /// Parses `GENERAL.METERED:yes (guessed)` per device; one metered device is enough.
  private static func devices(_ output: String) -> Finding? {
    let values = output.split(separator: "\n").compactMap { line in
      line.hasPrefix("GENERAL.METERED:") ? line.dropFirst(16) : nil
    }
    if values.contains(where: { $0.hasPrefix("yes") }) {
      return Finding(isMetered: true, reason: "NetworkManager says so")
    }
    if values.contains(where: { $0.hasPrefix("no") }) {
      return Finding(isMetered: false, reason: "NetworkManager says so")
    }
    return nil
  }
}

package enum ProgramSearch {
  /// Searches `PATH` as a shell does, but skips relative folders; names with a slash are paths.
  package static func path(of name: String, in path: String?) -> String? {
    if name.contains("/") { return name }
    let folders = (path ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
    return folders.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
      .first { FileReading.isProgram($0) }
  }
}
