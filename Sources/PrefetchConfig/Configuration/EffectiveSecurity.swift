package import PrefetchCore

/// What the configuration says about trust, as the values that decide.
extension SecurityRules {
  package var decisive: TransportSecurity {
    var security = TransportSecurity()
    security.allowsArbitraryLoads = allowsArbitraryLoads
    security.allowsArbitraryLoadsForMedia = allowsArbitraryLoadsForMedia
    security.allowsArbitraryLoadsInWebContent = allowsArbitraryLoadsInWebContent
    security.allowsLocalNetworking = allowsLocalNetworking
    security.exceptions = ExceptionTable(exceptions.mapValues(\.decisive))
    return security
  }
}

extension SecurityException {
  var decisive: TransportSecurity.Exception {
    TransportSecurity.Exception(
      includesSubdomains: includesSubdomains,
      allowsInsecureHTTP: allowsInsecureHTTPLoads,
      minimumTLS: ConnectionRules.MinimumTLS(minimumVersion),
      requiresForwardSecrecy: requiresForwardSecrecy,
      reason: reason,
      expires: expires
    )
  }
}

extension ConnectionRules.MinimumTLS {
  fileprivate init(_ version: SecurityException.MinimumVersion) {
    self =
      switch version {
      case .tls10: .tls10
      case .tls11: .tls11
      case .tls12: .tls12
      case .tls13: .tls13
      }
  }
}

extension TLS {
  package var pinTable: PinTable {
    PinTable(
      pins.map { host, pin in
        var entry = PinTable.Entry(host: host, place: pin.place)
        entry.includesSubdomains = pin.includesSubdomains
        entry.leaf = pin.leaf.map { Set($0) }
        entry.authority = pin.authority.map { Set($0) }
        entry.onlyReports = pin.onlyReports
        entry.expires = pin.expires
        return entry
      }
    )
  }

  /// Certificates of ours, by ``WebURL/authority``.
  package var clientCertificates: [String: ConnectionRules.ClientCertificate] {
    client.compactMapValues { pair in
      guard let certificate = pair.certificate, let key = pair.key else { return nil }
      return ConnectionRules.ClientCertificate(certificate: certificate, key: key)
    }
  }
}

extension Configuration {
  /// Every host that it names itself, wherever that may be.
  package var namedHosts: Set<String> {
    var hosts: Set<String> = []
    var last = ""
    // Thousands of URLs in a row name one host.
    for url in namedURLs where url.host != last {
      last = url.host
      hosts.insert(last)
    }
    for name in tls.pins.keys { hosts.insert(name.contains(":") ? "[\(name)]" : name) }
    for rule in transport.rules {
      if let host = rule.match.url.flatMap({ URLPattern($0).host }) { hosts.insert(host) }
    }
    return hosts
  }

  /// Every URL that it names itself.
  package var namedURLs: [WebURL] {
    var urls = [registration.url, analytics.endpoint].compactMap(\.self)
    for segment in segments {
      if case .remote(let url)? = segment.manifest { urls.append(url) }
      urls += segment.urls.compactMap(\.url) + segment.alternates
      urls += [segment.base, segment.npm.url, segment.pip.url, segment.go.url].compactMap(\.self)
    }
    return urls
  }
}
