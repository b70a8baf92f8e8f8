import PrefetchConfig
import PrefetchCore

/// Exceptions of the environment that have no effect beside `network.proxy`.
struct ProxyLints {
  let configuration: Configuration
  let environment: [String: String]

  var diagnostics: [Diagnostic] {
    guard case .url = configuration.settings.proxy,
      let name = ["no_proxy", "NO_PROXY"].first(where: { environment[$0]?.isEmpty == false })
    else { return [] }
    return [
      Diagnostic(
        "config.no-proxy",
        "`\(name)` has no effect beside `network.proxy`: every host is reached through the proxy",
        severity: .warning,
        hint: "add `{match: \"https://HOST/**\", proxy: none}` to `transport.rules` for it",
        path: "network.proxy"
      )
    ]
  }
}
