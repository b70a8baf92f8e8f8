import PrefetchConfig
import PrefetchCore

/// Names that look as if they told of a person, though they are sent to servers and shown to all.
struct PrivacyLint {
  let loaded: LoadedConfiguration

  static func diagnostics(ofEvent name: String) -> [Diagnostic] {
    guard let finding = PrivateName.found(in: name) else { return [] }
    return [
      Diagnostic(
        "event.private-name",
        "the name `\(SafeText.line(name))` looks like \(finding.words)",
        severity: .warning,
        hint: "name what happens, not to whom: collectors are sent names as they are"
      )
    ]
  }

  var diagnostics: [Diagnostic] {
    let configuration = loaded.configuration
    let name = configuration.name.map { [($0, ValuePath([.key("name")]))] } ?? []
    let segments = configuration.segments.enumerated().map { index, segment in
      (segment.name, ValuePath([.key("segments"), .index(index), .key("name")]))
    }
    let metrics = configuration.analytics.metrics.keys.sorted().map {
      ($0, ValuePath([.key("analytics"), .key("metrics"), .key($0)]))
    }
    return (name + segments + metrics).compactMap { name, path in
      guard let finding = PrivateName.found(in: name) else { return nil }
      return loaded.diagnostic(
        "config.private-name",
        "the name `\(SafeText.line(name))` looks like \(finding.words)",
        severity: .warning,
        hint: "servers and reports are told names as they are, so keep persons out of them",
        at: path
      )
    }
  }
}
