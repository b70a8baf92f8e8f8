package import PrefetchCore

package struct NetworkInterfaces: Sendable {
  private let root: String

  /// `root` is a prefix of `/proc` and `/sys`, for tests.
  package init(root: String = "") {
    self.root = root
  }

  package struct Finding: Hashable, Sendable {
    package var interface: String?
    package var type: NetworkType?
    package var reason: String
  }

  package func look() -> Finding {
    guard let interface = defaultInterface else {
      return Finding(interface: nil, type: nil, reason: "no default route")
    }
    let (type, reason) = kind(of: interface)
    return Finding(interface: interface, type: type, reason: reason)
  }

  // MARK: Routes

  /// Interface of the default route with the lowest metric; IPv4 comes before IPv6.
  private var defaultInterface: String? {
    let routes = lines(of: "/proc/net/route").dropFirst().compactMap(Self.route)
    if let best = routes.min(by: { $0.metric < $1.metric }) { return best.interface }
    return lines(of: "/proc/net/ipv6_route").compactMap(Self.route6)
      .min { $0.metric < $1.metric }?.interface
  }

  private struct Route {
    var interface: String
    var metric: Int
  }

  private static let isUp = 0x1
  private static let rejects = 0x200

  /// Parses `eth0 00000000 010200C0 0003 0 0 100 00000000 …`, the metric before the mask.
  private static func route(_ line: Substring) -> Route? {
    let words = line.split(whereSeparator: \.isWhitespace)
    guard words.count >= 8, words[1] == "00000000", words[7] == "00000000",
      let flags = Int(words[3], radix: 16), flags & isUp != 0, flags & rejects == 0
    else { return nil }
    return Route(interface: String(words[0]), metric: Int(words[6]) ?? 0)
  }

  /// Parses `DESTINATION 00 SOURCE 00 NEXT METRIC REFERENCES USE FLAGS INTERFACE`.
  private static func route6(_ line: Substring) -> Route? {
    let words = line.split(whereSeparator: \.isWhitespace)
    guard words.count >= 10, words[0].allSatisfy({ $0 == "0" }), words[1] == "00",
      let flags = Int(words[8], radix: 16), flags & isUp != 0, flags & rejects == 0,
      words[9] != "lo"
    else { return nil }
    return Route(interface: String(words[9]), metric: Int(words[5], radix: 16) ?? 0)
  }

  // MARK: The way out

  package var leadsOut: Bool {
    let routes =
      lines(of: "/proc/net/route").dropFirst().compactMap(Self.routeInterface)
      + lines(of: "/proc/net/ipv6_route").compactMap(Self.routeInterface6)
    return routes.contains { interface in
      guard interface != "lo" else { return false }
      // A tunnel's state is `unknown`; a bridge without active ports is `down`.
      let state = text("/sys/class/net/\(interface)/operstate")
      return state == nil || state == "up" || state == "unknown"
    }
  }

  private static func routeInterface(_ line: Substring) -> String? {
    let words = line.split(whereSeparator: \.isWhitespace)
    guard words.count >= 8, let flags = Int(words[3], radix: 16), flags & isUp != 0,
      flags & rejects == 0
    else { return nil }
    return String(words[0])
  }

  /// Every interface has link-local and multicast routes, which lead nowhere.
  private static func routeInterface6(_ line: Substring) -> String? {
    let words = line.split(whereSeparator: \.isWhitespace)
    guard words.count >= 10, !words[0].hasPrefix("fe8"), !words[0].hasPrefix("ff"),
      let flags = Int(words[8], radix: 16), flags & isUp != 0, flags & rejects == 0
    else { return nil }
    return String(words[9])
  }

  // MARK: Kinds

  private func kind(of interface: String) -> (NetworkType?, String) {
    if let direct = directKind(of: interface) { return direct }
    // The type of a bridge or bond is that of its ports.
    let folder = "/sys/class/net/\(interface)"
    let slaves = text("\(folder)/bonding/slaves").map { $0.split(separator: " ").map(String.init) }
    let ports = names(in: "\(folder)/brif") + (slaves ?? []) + lowers(of: interface)
    for port in ports.sorted() {
      guard let (type, _) = directKind(of: port) else { continue }
      return (type, "the default route goes over `\(interface)`, which goes over `\(port)`")
    }
    let what = isVirtual(interface) ? ", a virtual network" : ""
    return (.ethernet, "the default route goes over `\(interface)`\(what)")
  }

  private func directKind(of interface: String) -> (NetworkType?, String)? {
    let folder = "/sys/class/net/\(interface)"
    let device = lines(of: "\(folder)/uevent").first { $0.hasPrefix("DEVTYPE=") }?.dropFirst(8)
    let reason = "the default route goes over `\(interface)`"
    if device == "wlan" || exists("\(folder)/wireless") || exists("\(folder)/phy80211") {
      return (.wifi, reason)
    }
    // 519 is a raw-IP link, as modems without Ethernet have it.
    if device == "wwan" || text("\(folder)/type") == "519" || interface.hasPrefix("wwan") {
      return (.cellular, reason)
    }
    guard !isVirtual(interface) else { return nil }
    return (.ethernet, reason)
  }

  private func isVirtual(_ interface: String) -> Bool {
    !exists("/sys/class/net/\(interface)/device")
  }

  /// `lower_NAME` links name the interfaces below a virtual one.
  private func lowers(of interface: String) -> [String] {
    names(in: "/sys/class/net/\(interface)").filter { $0.hasPrefix("lower_") }.map {
      String($0.dropFirst(6))
    }
  }

  // MARK: Files

  private func lines(of path: String) -> [Substring] {
    guard let bytes = try? FileReading.read(root + path, limit: 1 << 20) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
  }

  private func text(_ path: String) -> String? {
    lines(of: path).first.map(String.init)
  }

  private func exists(_ path: String) -> Bool {
    FileReading.exists(root + path)
  }

  private func names(in path: String) -> [String] {
    FolderListing.names(root + path)
  }
}
