/// Hosts of `no_proxy`.
///
/// libcurl parses such lists too, but gets our result wherever it matters, so that both agree.
package struct ProxyExceptions {
  private let words: [Substring]
  /// Whether the whole list is `*`; elsewhere a star has no meaning.
  private let holdsForAll: Bool

  package init(_ list: String) {
    holdsForAll = list == "*"
    words = list.split { $0 == "," || $0 == " " || $0 == "\t" }
  }

  /// Whether the list contains `host`, which is lower case with IPv6 in brackets, as in URLs.
  package func contain(_ host: String) -> Bool {
    if holdsForAll { return true }
    let name = host.hasPrefix("[") ? host.dropFirst().dropLast() : host[...]
    if let address = IPAddress(name) {
      return words.contains { Self.matches($0, address) }
    }
    return words.contains { Self.matches($0, name: name) }
  }

  private static func matches(_ word: Substring, name: Substring) -> Bool {
    let suffix = word.drop { $0 == "." }.lowercased()
    guard !suffix.isEmpty else { return false }
    let rest = name.hasSuffix(".") ? name.dropLast() : name
    let wanted = suffix.hasSuffix(".") ? String(suffix.dropLast()) : suffix
    return rest == wanted || rest.hasSuffix(".\(wanted)")
  }

  private static func matches(_ word: Substring, _ address: IPAddress) -> Bool {
    let parts = word.split(separator: "/", omittingEmptySubsequences: false)
    guard let first = parts.first else { return false }
    let literal = first.hasPrefix("[") ? first.dropFirst().dropLast() : first
    guard let network = IPAddress(literal), network.bytes.count == address.bytes.count else {
      return false
    }
    guard parts.count > 1 else { return network == address }
    guard parts.count == 2, let length = Int(parts[1]),
      (0...network.bytes.count * 8).contains(length)
    else { return false }
    return network.bytes.indices.allSatisfy { index in
      let kept = min(max(length - index * 8, 0), 8)
      let mask = UInt8(truncatingIfNeeded: 0xFF00 >> kept)
      return network.bytes[index] & mask == address.bytes[index] & mask
    }
  }
}

extension TransportSettings.Proxy {
  package func stands(before url: WebURL) -> Bool {
    address(before: url) != nil
  }

  /// Returns host and port of the proxy for a URL, without credentials; nil for none.
  package func name(before url: WebURL) -> String? {
    guard let address = address(before: url) else { return nil }
    let rest = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address[...]
    let authority = rest.prefix { !"/?#".contains($0) }
    return String(
      authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    )
  }

  private func address(before url: WebURL) -> String? {
    switch self {
    case .none:
      return nil
    case .url(let proxy):
      return proxy.value.isEmpty ? nil : proxy.value
    case .environment(let http, let https, let exceptions):
      guard let proxy = url.scheme == .http ? http : https, !proxy.isEmpty,
        !ProxyExceptions(exceptions ?? "").contain(url.host)
      else { return nil }
      return proxy
    }
  }
}

extension Failure {
  package static func wantedByProxy(_ name: String?) -> Failure {
    let who = name.map { "the proxy `\($0)`" } ?? "a proxy"
    return Failure(
      .credentialsRefused,
      "\(who) did not accept our credentials (407); "
        + "set user and password in `network.proxy`, or in `https_proxy`"
    )
  }
}
