package enum PlainHostName {
  /// Returns a host, an address without the brackets of URLs.
  package static func exception(for host: String) -> String {
    IPAddress(host: host)?.description ?? host
  }

  /// Returns a plain-http URL without its host's final dot, since no exception names such a host.
  package static func undotted(_ url: String) -> String {
    let scheme = "http://"
    guard url.lowercased().hasPrefix(scheme) else { return url }
    let rest = url.dropFirst(scheme.count)
    let host = rest.prefix { !"/?#:".contains($0) }
    guard host.hasSuffix("."), host.count > 1 else { return url }
    return "\(url.prefix(scheme.count))\(host.dropLast())\(rest.dropFirst(host.count))"
  }
}
