import PrefetchConfig
import PrefetchCore
import PrefetchManifests
import PrefetchSystem

extension RequestBuilder {
  var connections: ConnectionPolicy {
    var connections = configuration.policy.connections
    connections.pins = configuration.pinTable
    connections.rules = connections.rules.map(rule)
    connections.netrc = netrc
    connections.namedHosts = configuration.namedHosts.union(typedHosts)
    connections.proxy = proxy(configuration.settings.proxy)
    let proxies = [connections.proxy] + connections.rules.compactMap(\.proxy)
    connections.mayBeProxied = proxies.contains { proxy in
      switch proxy {
      case .none: false
      case .url: true
      case .environment(let http, let https, _): http != nil || https != nil
      }
    }
    return connections
  }

  private func rule(_ rule: TransportRule) -> TransportRule {
    var result = rule
    result.proxy = rule.proxy.map(proxy)
    result.headers.removeAll(where: holdsLicense)
    result.manifestHeaders = rule.headers.filter(holdsLicense)
    return result
  }

  /// Settings of all transfers; the only reader of the process environment.
  func transportSettings() -> TransportSettings {
    let policy = self.policy
    var settings = configuration.settings
    settings.userAgent =
      configuration.network.userAgent ?? "\(ToolVersions.name)/\(ToolVersions.version)"
    settings.concurrency = policy.concurrency
    settings.connectionsPerHost = policy.connectionsPerHost
    settings.findsConnections = policy.perHost == nil
    settings.workers = Self.workers
    settings.rate = configuration.network.rate.schedule { zone(zoneName) }
    settings.minimumTLS = policy.connections.minimumTLS
    settings.proxyCAFile = environment["SSL_CERT_FILE"]
    settings.proxyCADirectory = environment["SSL_CERT_DIR"]
    // Configured trust anchors replace those of the environment.
    if settings.caFile == nil, settings.caDirectory == nil {
      settings.caFile = settings.proxyCAFile
      settings.caDirectory = settings.proxyCADirectory
    }
    settings.proxy = proxy(settings.proxy)
    return settings
  }

  /// Worker threads; hashing overlaps with receiving, and more than two gain little.
  private static let workers = 2

  private func proxy(_ proxy: TransportSettings.Proxy) -> TransportSettings.Proxy {
    guard case .environment = proxy else { return proxy }
    // Only `http_proxy` in lower case counts: in CGI, `HTTP_PROXY` may be a request header.
    let all = environment["all_proxy"] ?? environment["ALL_PROXY"]
    return .environment(
      http: environment["http_proxy"] ?? all,
      https: environment["https_proxy"] ?? environment["HTTPS_PROXY"] ?? all,
      exceptions: environment["no_proxy"] ?? environment["NO_PROXY"]
    )
  }
}
