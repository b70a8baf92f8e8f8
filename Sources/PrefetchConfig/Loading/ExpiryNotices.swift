package import PrefetchCore

extension LoadedConfiguration {
  private struct Dated {
    var what: String
    var host: String
    var expires: Instant?
    var notice: Duration
    var path: ValuePath
    var consequence: String
  }

  /// Returns expired entries and warnings: exceptions 14 days ahead, pins 30, to deploy a new key.
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
