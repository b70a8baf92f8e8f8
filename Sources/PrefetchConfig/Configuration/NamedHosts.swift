package import PrefetchCore

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
    for name in pins.keys { hosts.insert(name.contains(":") ? "[\(name)]" : name) }
    hosts.formUnion(policy.connections.rules.compactMap { $0.url?.host })
    return hosts
  }

  /// Every URL that it names itself.
  package var namedURLs: [WebURL] {
    var urls = [registration.url, analytics.endpoint].compactMap(\.self)
    for segment in segments {
      let declaration = segment.declaration
      if case .remote(let url)? = segment.manifest { urls.append(url) }
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
