/// Keeps web pages out: a page may connect to loopback, but names itself or its own host.
struct RequestGate: Sendable {
  /// Host names with port that mean this server; empty where any name may.
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

  /// An origin is foreign on every address; a host only where the names are known.
  ///
  /// Browsers name no origin with what a page of another site only embeds, and say its site instead.
  ///
  /// `hasToken` says that the path begins with the token.
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
