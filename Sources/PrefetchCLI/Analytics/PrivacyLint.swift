import PrefetchCore

/// Finds event names that look like personal data; reading a configuration checks its own.
enum PrivacyLint {
  static func diagnostics(ofEvent name: String) -> [Diagnostic] {
    guard let finding = PrivateName.found(in: name) else { return [] }
    return [
      Diagnostic(
        "event.private-name",
        "the name `\(SafeText.line(name))` looks like \(finding.words)",
        severity: .warning,
        hint: "name the action, not the person: names are sent to the collector unchanged"
      )
    ]
  }
}
