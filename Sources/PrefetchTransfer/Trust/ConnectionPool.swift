internal import PrefetchCore

/// The connections of one worker that were made under the same rules, and used under no others.
///
/// A connection that was made under other rules, or a session that was agreed on then, would never
/// be shown to those who judge certificates.
final class ConnectionPool {
  let number: Int
  let rules: ConnectionRules
  let options: RequestOptions
  /// Why nothing can go out under these rules.
  let objection: Failure?
  /// Nil where the set of transfers keeps the connections itself.
  let share: ConnectionShare?
  let sockets: OpenSockets
  /// The keys, by origin, that were found in place of those that are only to be reported.
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

  /// Whether addresses are looked at before a connection is made.
  var judgesAddresses: Bool { rules.reach != .anywhere }

  func note(unexpectedKey key: ContentDigest?, of origin: Int) {
    guard rules.pins.contains(where: \.onlyReports) else { return }
    unexpectedKeys[origin] = key
  }

  func unexpectedKey(of origin: Int) -> ContentDigest? {
    unexpectedKeys.isEmpty ? nil : unexpectedKeys[origin]
  }
}

extension ConnectionRules {
  /// What the settings of a run say of all its connections.
  init(_ settings: TransportSettings) {
    self.init()
    minimumTLS = settings.minimumTLS
  }

  var hasHoldingPins: Bool {
    pins.contains { !$0.onlyReports }
  }

  /// Pins that cannot be checked are not passed over.
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
  /// Where the configuration says so.
  var words: String {
    flatMap(\.entries).map { "`\($0)`" }.joined(separator: ", ")
  }
}
