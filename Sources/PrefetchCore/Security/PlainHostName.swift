/// Names of hosts as `allow_http` takes them.
package enum PlainHostName {
  /// An address without the brackets that URLs have.
  package static func exception(for host: String) -> String {
    IPAddress(host: host)?.description ?? host
  }

  /// A URL of plain http whose host has no dot at its end: exceptions name no host that has one.
  package static func undotted(_ url: String) -> String {
    let scheme = "http://"
    guard url.lowercased().hasPrefix(scheme) else { return url }
    let rest = url.dropFirst(scheme.count)
    let host = rest.prefix { !"/?#:".contains($0) }
    guard host.hasSuffix("."), host.count > 1 else { return url }
    return "\(url.prefix(scheme.count))\(host.dropLast())\(rest.dropFirst(host.count))"
  }
}
