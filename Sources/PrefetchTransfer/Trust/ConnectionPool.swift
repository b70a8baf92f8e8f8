internal import PrefetchCore

/// Connections made under one set of rules, which a connection under other rules might not pass.
final class ConnectionPool {
  let number: Int
  let rules: ConnectionRules
  let options: RequestOptions
  /// Why no request can be sent under these rules; nil if one can.
  let objection: Failure?
  /// Connections of the pool; nil when the multi handle keeps them itself.
  let share: ConnectionShare?
  let sockets: OpenSockets
  /// Unexpected keys, by origin, found by report-only pins.
  private var unexpectedKeys: [Int: ContentDigest] = [:]

  init(
    number: Int,
    rules: ConnectionRules,
    options: RequestOptions,
    share: ConnectionShare?,
    sockets: OpenSockets
  ) {
    self.number = number
    self.rules = rules
    self.options = options
    self.share = share
    self.sockets = sockets
    let isAlone = number == 0 || share != nil
    objection =
      isAlone
      ? rules.objection(of: options.library)
      : Failure(.internal, "no memory left to keep connections apart")
  }

  var judgesAddresses: Bool { rules.reach != .anywhere }

  func setUnexpectedKey(_ key: ContentDigest?, of origin: Int) {
    guard rules.pins.contains(where: \.onlyReports) else { return }
    unexpectedKeys[origin] = key
  }

  func unexpectedKey(of origin: Int) -> ContentDigest? {
    unexpectedKeys.isEmpty ? nil : unexpectedKeys[origin]
  }
}

extension ConnectionRules {
  init(_ settings: TransportSettings) {
    self.init()
    minimumTLS = settings.minimumTLS
  }

  var hasHoldingPins: Bool {
    pins.contains { !$0.onlyReports }
  }

  /// Returns a failure for pins that cannot be checked, which must not be ignored.
  fileprivate func objection(of library: LibraryVersion) -> Failure? {
    guard hasHoldingPins, !library.hasOurOpenSSL else { return nil }
    return Failure(
      .transportSecurity,
      "the pins in \(pins.words) cannot be checked: this libcurl uses \(library.tls ?? "no TLS"), "
        + "and needs the OpenSSL that prefetch is linked with"
    )
  }
}

extension [PinRule] {
  var words: String {
    flatMap(\.entries).map { "`\($0)`" }.joined(separator: ", ")
  }
}
