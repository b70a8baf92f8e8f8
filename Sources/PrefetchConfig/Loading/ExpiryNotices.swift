package import PrefetchCore

/// Exceptions and pins that end.
extension LoadedConfiguration {
  private struct Dated {
    var what: String
    var host: String
    var expires: Instant?
    /// How long before its end the user should hear of it.
    var notice: Duration
    var path: ValuePath
    /// What its end means.
    var consequence: String
  }

  /// Those past their time, with a severity for them, and warnings before: 14 days for exceptions,
  /// 30 for pins, since a new key has to be put in place first.
  package func expiryDiagnostics(
    at now: Instant,
    expired severity: Diagnostic.Severity
  ) -> [Diagnostic] {
    dated.compactMap { entry in
      guard let expires = entry.expires, expires < now + entry.notice else { return nil }
      let isOver = expires <= now
      let day = Timestamp.format(expires).prefix(10)
      let message =
        isOver
        ? "the \(entry.what) for `\(entry.host)` expired on \(day); \(entry.consequence)"
        : "the \(entry.what) for `\(entry.host)` expires on \(day)"
      return diagnostic(
        isOver ? "config.expired" : "config.expiring",
        message,
        severity: isOver ? severity : .warning,
        hint: "remove it, or give it a later `expires`",
        at: entry.path
      )
    }
  }

  private var dated: [Dated] {
    let exceptions = configuration.transportSecurity.exceptions.sorted { $0.key < $1.key }
    let pins = configuration.pins.sorted { $0.key < $1.key }
    let plainHosts = configuration.transportSecurity.plainHosts.enumerated().map { index, entry in
      Dated(
        what: "permission for plain http",
        host: entry.host,
        expires: entry.rule.expires,
        notice: .seconds(14 * 86_400),
        path: ValuePath([.key("allow_http"), .index(index), .key("expires")]),
        consequence: "plain http to it is refused"
      )
    }
    return plainHosts
      + exceptions.map { host, exception in
        Dated(
          what: "exception",
          host: host,
          expires: exception.rule.expires,
          notice: .seconds(14 * 86_400),
          path: ValuePath([
            .key("transport_security"), .key("NSExceptionDomains"), .key(host), .key("expires"),
          ]),
          consequence: "its hosts are held to the rules for all"
        )
      }
      + pins.map { host, pin in
        Dated(
          what: "pin",
          host: host,
          expires: pin.expires,
          notice: .seconds(30 * 86_400),
          path: ValuePath([.key("tls"), .key("pins"), .key(host), .key("expires")]),
          consequence: "it is ignored"
        )
      }
  }
}
