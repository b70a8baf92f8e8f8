import PrefetchCore

/// A second implementation of transport security that searches lists.
///
/// It shares no code with the product: hosts are given as their generated parts.
struct SecurityModel {
  struct Entry {
    enum Key: Equatable {
      /// Labels from the right.
      case name([String])
      /// Bits of an address, as zeros and ones.
      case bits(String, isVersion6: Bool)
    }

    var key: Key
    /// Text as written in the configuration.
    var text: String
    var isForSubdomains: Bool
    var opensHTTP: Bool
    /// TLS version as 10, 11, 12 or 13.
    var version: Int
    var isSecret: Bool
    var isOver: Bool
  }

  struct Host {
    /// Labels from the right; nil for an address.
    var labels: [String]?
    var bits = ""
    var isVersion6 = false
    var hasFinalDot = false
    var isInside = false
  }

  struct Verdict: Equatable {
    var mayBePlainHTTP: Bool
    var entry: String?
    var version: Int
    var isSecret: Bool
  }

  var entries: [Entry] = []
  var arbitrary = false
  var media: Bool?
  var web: Bool?
  var local: Bool?
  var general = 12

  func verdict(about host: Host, isMedia: Bool, isPage: Bool) -> Verdict {
    if let entry = chosen(for: host) {
      let name = "NSExceptionDomains.\(entry.text)"
      if entry.isOver {
        return Verdict(mayBePlainHTTP: false, entry: name, version: general, isSecret: true)
      }
      let version = entry.version < 12 ? entry.version : max(entry.version, general)
      return Verdict(
        mayBePlainHTTP: entry.opensHTTP,
        entry: name,
        version: version,
        isSecret: entry.isSecret
      )
    }
    var leave: [String] = []
    if local == true, isLocal(host) { leave.append("NSAllowsLocalNetworking") }
    if media == true, isMedia { leave.append("NSAllowsArbitraryLoadsForMedia") }
    if web == true, isPage { leave.append("NSAllowsArbitraryLoadsInWebContent") }
    if arbitrary, media == nil, web == nil, local == nil { leave.append("NSAllowsArbitraryLoads") }
    return Verdict(
      mayBePlainHTTP: !leave.isEmpty,
      entry: leave.first,
      version: general,
      isSecret: leave.isEmpty
    )
  }

  private func chosen(for host: Host) -> Entry? {
    var best: Entry?
    var bestLength = -1
    for entry in entries {
      var length = -1
      switch entry.key {
      case .name(let labels):
        guard let own = host.labels, !host.hasFinalDot, own.starts(with: labels) else { continue }
        if own.count == labels.count || entry.isForSubdomains { length = labels.count }
      case .bits(let bits, let isVersion6):
        guard host.labels == nil, isVersion6 == host.isVersion6, host.bits.hasPrefix(bits) else {
          continue
        }
        length = bits.count
      }
      if length > bestLength { (best, bestLength) = (entry, length) }
    }
    return best
  }

  private func isLocal(_ host: Host) -> Bool {
    guard let labels = host.labels else { return host.isInside }
    return !host.hasFinalDot && (labels.count == 1 || labels[0] == "local")
  }
}
