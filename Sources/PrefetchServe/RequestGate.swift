/// Refuses requests of foreign web pages, which can connect to loopback but name their own host.
struct RequestGate: Sendable {
  /// Host names with port of this server; empty when any name is accepted.
  private let authorities: Set<String>
  private let access: ServeAccess

  init(listening address: ListenAddress, access: ServeAccess = ServeAccess()) {
    self.access = access
    guard address.isLoopback else {
      authorities = []
      return
    }
    let hosts = [
      "localhost", "127.0.0.1", "[::1]", address.isIPv6 ? "[\(address.host)]" : address.host,
    ]
    var authorities: Set<String> = []
    for host in hosts {
      authorities.insert("\(host):\(address.port)")
      if address.port == 80 { authorities.insert(host) }
    }
    self.authorities = authorities
  }

  /// Returns whether a request is admitted: no foreign origin, and on loopback no unknown host.
  ///
  /// Browsers send no `Origin` for embedded content, but `Sec-Fetch-Site`.
  func admits(host: String?, origin: String?, site: String?, hasToken: Bool = false) -> Bool {
    if !access.admits(origin: origin, hasToken: hasToken) {
      if site?.lowercased() == "cross-site" { return false }
      if let origin, !isOwn(origin: origin, host: host) { return false }
    }
    guard !authorities.isEmpty else { return true }
    guard let host else { return false }
    return authorities.contains(host.lowercased())
  }

  private func isOwn(origin: String, host: String?) -> Bool {
    let scheme = "http://"
    guard origin.lowercased().hasPrefix(scheme) else { return false }
    let authority = origin.dropFirst(scheme.count).lowercased()
    return authorities.isEmpty ? authority == host?.lowercased() : authorities.contains(authority)
  }
}
