import PrefetchConfig
import PrefetchCore

/// What the configuration says about connections.
extension RequestBuilder {
  var connections: ConnectionPolicy {
    var connections = ConnectionPolicy()
    connections.minimumTLS = configuration.tls.minimumVersion == .tls13 ? .tls13 : .tls12
    connections.pins = configuration.tls.pinTable
    connections.clients = configuration.tls.clientCertificates
    connections.rules = configuration.transport.rules.map(rule)
    connections.netrc = netrc
    connections.namedHosts = configuration.namedHosts
    connections.proxy = proxy(configuration.network.proxy)
    let proxies =
      [connections.proxy] + connections.rules.compactMap(\.proxy)
    connections.mayBeProxied = proxies.contains { proxy in
      switch proxy {
      case .none: false
      case .url: true
      case .environment(let http, let https, _): http != nil || https != nil
      }
    }
    return connections
  }

  private func rule(_ rule: PrefetchConfig.Transport.Rule) -> TransportRule {
    var result = TransportRule(
      url: rule.match.url.map { URLPattern($0) },
      method: rule.match.method.flatMap { TransportRule.Method(rawValue: $0.rawValue) }
    )
    result.proxy = rule.proxy.map { proxy($0) }
    result.httpVersion = rule.http.flatMap { TransportSettings.HTTPVersion(rawValue: $0.rawValue) }
    let fields = headers(rule.headers)
    result.headers = fields.filter { !holdsLicense($0) }
    result.manifestHeaders = fields.filter(holdsLicense)
    return result
  }

  /// The process environment is read once, and nowhere later.
  func proxy(_ proxy: Proxy) -> TransportSettings.Proxy {
    switch proxy {
    case .direct: .none
    case .server(let server): .url(server.url.value)
    case .environment:
      // Only the lower-case form counts for http: a CGI server puts a request header into the other.
      .environment(
        http: variable("http_proxy") ?? variable("all_proxy") ?? variable("ALL_PROXY"),
        https: variable("https_proxy") ?? variable("HTTPS_PROXY") ?? variable("all_proxy")
          ?? variable("ALL_PROXY"),
        exceptions: variable("no_proxy") ?? variable("NO_PROXY")
      )
    }
  }

  private func variable(_ name: String) -> String? {
    environment[name]
  }
}
