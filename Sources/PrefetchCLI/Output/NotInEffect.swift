import PrefetchConfig
import PrefetchCore

/// What a configuration asks for and this version does not do, said once and by name, so that
/// nobody believes in a rule that does not hold.
enum NotInEffect {
  /// Said under `--quiet` too: whoever relies on these must know.
  static let notEnforced: Diagnostic.Code = "config.not-enforced"

  static func diagnostics(_ loaded: LoadedConfiguration) -> [Diagnostic] {
    let protections = loaded.notInEffect.filter(isProtection)
    let others = loaded.notInEffect.filter { !isProtection($0) }
    return [
      diagnostic(notEnforced, protections, "accepted and not enforced"),
      diagnostic("config.not-in-effect", others, "accepted but not in effect"),
    ].compactMap(\.self)
  }

  private static func isProtection(_ path: String) -> Bool {
    path.hasPrefix("tls.pins") || path.hasPrefix("tls.client")
  }

  private static func diagnostic(
    _ code: Diagnostic.Code,
    _ paths: [String],
    _ standing: String
  ) -> Diagnostic? {
    guard !paths.isEmpty else { return nil }
    let keys = paths.map { "`\($0)`" }.joined(separator: ", ")
    let verb = paths.count == 1 ? "is" : "are"
    return Diagnostic(
      code,
      "\(keys) \(verb) \(standing) in version \(ToolVersions.version)",
      severity: .warning
    )
  }
}
