internal import PrefetchCore

/// Connection pools of a worker, one per set of rules.
struct ConnectionPools {
  private let settings: TransportSettings
  private let library: LibraryVersion
  private let sockets: OpenSockets
  private(set) var all: [ConnectionPool]
  private var byRules: [ConnectionRules: ConnectionPool]
  /// Pools by the rules' object; keeping the object ensures that no other gets its address.
  private var byObject: [ObjectIdentifier: (Shared<ConnectionRules>, ConnectionPool)] = [:]
  private var latest: (rules: Shared<ConnectionRules>, pool: ConnectionPool)?

  init(_ settings: TransportSettings, library: LibraryVersion, sockets: OpenSockets) {
    self.settings = settings
    self.library = library
    self.sockets = sockets
    let usual = ConnectionPool(
      number: 0,
      rules: ConnectionRules(settings),
      options: RequestOptions(settings, library: library),
      share: nil,
      sockets: sockets
    )
    all = [usual]
    byRules = [usual.rules: usual]
  }

  mutating func pool(for rules: Shared<ConnectionRules>?) -> ConnectionPool {
    guard let rules else { return all[0] }
    if let latest, latest.rules === rules { return latest.pool }
    let pool = known(rules) ?? make(rules.value)
    byObject[ObjectIdentifier(rules)] = (rules, pool)
    latest = (rules, pool)
    return pool
  }

  mutating func textualPool(for rules: Shared<ConnectionRules>?) -> ConnectionPool {
    var rules = rules?.value ?? all[0].rules
    rules.httpVersion = .http1
    return byRules[rules] ?? make(rules)
  }

  private func known(_ rules: Shared<ConnectionRules>) -> ConnectionPool? {
    byObject[ObjectIdentifier(rules)]?.1 ?? byRules[rules.value]
  }

  private mutating func make(_ rules: ConnectionRules) -> ConnectionPool {
    var settings = settings
    if let proxy = rules.proxy { settings.proxy = proxy }
    if let version = rules.httpVersion { settings.httpVersion = version }
    // Not every libcurl shows the certificate chain over QUIC.
    if rules.hasHoldingPins, settings.httpVersion == .auto || settings.httpVersion == .http3 {
      settings.httpVersion = .http2
    }
    let pool = ConnectionPool(
      number: all.count,
      rules: rules,
      options: RequestOptions(settings, library: library),
      share: ConnectionShare(sockets),
      sockets: sockets
    )
    all.append(pool)
    byRules[rules] = pool
    return pool
  }
}
