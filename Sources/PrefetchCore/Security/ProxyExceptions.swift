/// The hosts that are asked without the proxy, as `no_proxy` lists them.
///
/// libcurl reads such a list too; but where it matters whether a proxy stands before a host, it is
/// told, lest the two understand a list differently.
package struct ProxyExceptions {
  private let words: [Substring]
  /// A star means every host only where it is the whole list.
  private let holdsForAll: Bool

  package init(_ list: String) {
    holdsForAll = list == "*"
    words = list.split { $0 == "," || $0 == " " || $0 == "\t" }
  }

  /// `host` as URLs have it: in small letters, version 6 in brackets.
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
  /// Whether a request would go through it.
  package func stands(before url: WebURL) -> Bool {
    switch self {
    case .none:
      return false
    case .url(let proxy):
      return !proxy.value.isEmpty
    case .environment(let http, let https, let exceptions):
      guard let proxy = url.scheme == .http ? http : https, !proxy.isEmpty else { return false }
      return !ProxyExceptions(exceptions ?? "").contain(url.host)
    }
  }
}
