import PrefetchConfig
import PrefetchCore
import PrefetchTransfer

/// Finds HTTP versions that this machine's libcurl lacks.
struct LibraryLints {
  let configuration: Configuration
  var library = LibraryVersion()

  var diagnostics: [Diagnostic] {
    let rules = configuration.policy.connections.rules.enumerated().map { index, rule in
      ("transport.rules[\(index)].http", rule.httpVersion)
    }
    let settings = [("network.http", configuration.settings.httpVersion)] + rules
    return settings.compactMap { path, version in version.flatMap { objection(to: $0, at: path) } }
  }

  private func objection(
    to version: TransportSettings.HTTPVersion,
    at path: String
  ) -> Diagnostic? {
    let feature: LibraryVersion.Feature
    switch version {
    case .auto, .http1: return nil
    case .http2: feature = .http2
    case .http3: feature = .http3
    }
    guard !library.has(feature) else { return nil }
    let used = library.has(.http2) ? LibraryVersion.Feature.http2.rawValue : "HTTP/1.1"
    return Diagnostic(
      "config.library",
      "`\(path): \(version.rawValue)` has no effect: libcurl \(library.curl) has no \(feature.rawValue), so requests use \(used) at most",
      severity: .warning,
      hint: "install a libcurl that has it, or remove `\(path)`",
      path: path
    )
  }
}
