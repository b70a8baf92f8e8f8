import PrefetchConfig
import PrefetchCore
import PrefetchSystem

/// Warns root of hooks in a configuration that other users may write.
enum HookTrust {
  static func diagnostics(_ loaded: LoadedConfiguration) -> [Diagnostic] {
    guard ProcessRights.isRoot, !loaded.configuration.hooks.isEmpty else { return [] }
    return loaded.files.compactMap { file in
      guard let owner = ProcessRights.otherWriter(of: file) else { return nil }
      return Diagnostic(
        "config.hooks-of-others",
        "`\(file)` \(owner), and root starts its hooks",
        hint: "`chown root \(file)` and `chmod go-w \(file)`, or run without hooks: `--no-hooks`",
        file: file
      )
    }
  }
}
