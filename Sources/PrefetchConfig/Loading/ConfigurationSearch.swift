import PrefetchDocuments

package enum ConfigurationSearch {
  /// Returns the places in order; an `Info.plist` counts only when it has this program's keys.
  package static func candidates(in environment: ConfigurationEnvironment) -> [String] {
    let here = ["prefetch.yaml", "prefetch.yml", "prefetch.json", "prefetch.plist", "Info.plist"]
    let home = environment.homeDirectory.map { "\($0)/.config" }
    let settings =
      environment.variable("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home
    let folders = [settings, "/etc"].compactMap { $0.map { "\($0)/prefetch" } }
    return here
      + folders.flatMap { folder in ["yaml", "json", "plist"].map { "\(folder)/config.\($0)" } }
  }

  static func find(in environment: ConfigurationEnvironment) -> [String] {
    if let named = environment.variable("PREFETCH_CONFIG"), !named.isEmpty {
      return named.split(separator: "\n").map(String.init)
    }
    let found = candidates(in: environment).first { candidate in
      switch environment.readFile(PathResolver.join(environment.currentDirectory, candidate)) {
      case .failure(.missing): false
      case .failure: true
      case .success(let bytes): candidate != "Info.plist" || hasOwnKeys(bytes)
      }
    }
    return found.map { [$0] } ?? []
  }

  private static func hasOwnKeys(_ bytes: [UInt8]) -> Bool {
    let root = DocumentReader.read(bytes, source: "Info.plist").node
    return root?.mapping?.contains { $0.key == "com.akamai" || $0.key.hasPrefix("com.akamai.") }
      ?? false
  }
}
