package import PrefetchCore

extension Configuration {
  /// Hosts that the configuration itself names, wherever that is.
  package var namedHosts: Set<String> {
    var hosts: Set<String> = []
    var last = ""
    for url in namedURLs where url.host != last {
      last = url.host
      hosts.insert(last)
    }
    for name in pins.keys { hosts.insert(name.contains(":") ? "[\(name)]" : name) }
    hosts.formUnion(policy.connections.rules.compactMap { $0.url?.host })
    return hosts
  }

  package var namedURLs: [WebURL] {
    var urls = [registration.url, analytics.endpoint].compactMap(\.self)
    for segment in segments {
      let declaration = segment.declaration
      if let url = segment.manifestURL { urls.append(url) }
      urls += segment.urls.compactMap(\.url) + declaration.alternates
      for entry in segment.urls { urls += entry.item.furtherURLs }
      urls += [
        declaration.base, declaration.manifestRules.npmRegistry, declaration.manifestRules.pipIndex,
        declaration.manifestRules.goProxy, declaration.manifestRules.pointers.base,
      ].compactMap(\.self)
    }
    return urls
  }
}
