package import PrefetchCore
import PrefetchDocuments

/// App Transport Security: https only, except for the listed domains.
package struct SecurityRules: Sendable {
  private var general = TransportSecurity()
  package var exceptions: [String: SecurityException] = [:]
  package var plainHosts: [PlainHost] = []
  /// Pins from `NSPinnedDomains`, which are merged into `tls.pins` after reading.
  var pinnedDomains: [String: PinTable.Rule] = [:]

  package var effective: TransportSecurity {
    var security = general
    security.exceptions = ExceptionTable(exceptions.mapValues(\.rule))
    for entry in plainHosts {
      let name = entry.host.contains(":") ? "[\(entry.host)]" : entry.host
      security.plainHosts[name] = entry.rule
    }
    return security
  }

  static let table = ObjectType(Self(), name: "transport_security") {
    Field("NSAllowsArbitraryLoads", \.general.allowsArbitraryLoads, .strictBoolean)
      .help("Lifts the rules for hosts without an entry of their own")
    Field("NSAllowsArbitraryLoadsForMedia", \.general.allowsArbitraryLoadsForMedia, .strictBoolean)
      .help("Lifts the rules for video, audio and HLS items only")
    Field(
      "NSAllowsArbitraryLoadsInWebContent",
      \.general.allowsArbitraryLoadsInWebContent,
      .strictBoolean
    )
    .help("Lifts the rules for items of type `page` only")
    Field("NSAllowsLocalNetworking", \.general.allowsLocalNetworking, .strictBoolean)
      .help("Allows plain http to names without a dot, `.local` names and local addresses")
    Field(
      "NSExceptionDomains",
      \.exceptions,
      .map(of: HostKey.hostOrRange, to: .object(SecurityException.table))
    )
    .help("Rules for single hosts and address ranges")
    Field(
      "NSPinnedDomains",
      \.pinnedDomains,
      .map(of: HostKey.host, to: .object(PinTable.Rule.appleTable))
    )
    .help("Pins in Apple's spelling; the same as `tls.pins`")
  }
}

/// A host that may be reached by plain http, with all other rules unchanged.
package struct PlainHost: Sendable {
  package var host = ""
  package var rule = TransportSecurity.Exception(allowsInsecureHTTP: true)

  static let table = ObjectType(Self(), name: "plain_host", shorthand: "host") {
    Field("host", \.host, .host).help("Exact name or address of the host")
    Field("reason", \.rule.reason, .text).help("Reason for the exception")
    Field("expires", \.rule.expires, .date).help("Date after which the exception has no effect")
  }
  .requiring("host") { _ in "the entry has no `host`" }
}

extension Configuration {
  static func checkPlainHosts(
    _ configuration: Configuration,
    _ facts: ObjectFacts,
    _ decoder: inout NodeDecoder
  ) {
    let security = configuration.transportSecurity
    for entry in security.plainHosts where security.exceptions[entry.host] != nil {
      decoder.report(
        "config.conflict",
        "`\(entry.host)` is under both `allow_http` and `NSExceptionDomains`",
        hint: "set `NSExceptionAllowsInsecureHTTPLoads` in its `NSExceptionDomains` entry",
        at: facts.keyNode(of: "allow_http")
      )
    }
  }
}

/// Rules of one domain in place of the general ones; missing keys have their defaults.
package struct SecurityException: Sendable {
  package var rule = TransportSecurity.Exception()
  private var requiresCertificateTransparency = false
  private var allowsLegacyTLS = false

  static let table = ObjectType(Self(), name: "security_exception") {
    Field("NSIncludesSubdomains", \.rule.includesSubdomains, .strictBoolean)
      .help("Whether the entry covers names below, at any depth")
    Field("NSExceptionAllowsInsecureHTTPLoads", \.rule.allowsInsecureHTTP, .strictBoolean)
      .help("Whether plain http is allowed to the host")
      .synonyms(
        "NSTemporaryExceptionAllowsInsecureHTTPLoads",
        "NSThirdPartyExceptionAllowsInsecureHTTPLoads",
        "NSTemporaryThirdPartyExceptionAllowsInsecureHTTPLoads",
        areOutdated: true
      )
    Field("NSExceptionMinimumTLSVersion", \.rule.minimumTLS, .choice())
      .help("Oldest version of TLS for the host")
      .synonyms(
        "NSTemporaryExceptionMinimumTLSVersion",
        "NSThirdPartyExceptionMinimumTLSVersion",
        "NSTemporaryThirdPartyExceptionMinimumTLSVersion",
        areOutdated: true
      )
    Field("NSExceptionRequiresForwardSecrecy", \.rule.requiresForwardSecrecy, .strictBoolean)
      .help("Whether the key exchange must have forward secrecy")
      .synonyms(
        "NSTemporaryExceptionRequiresForwardSecrecy",
        "NSThirdPartyExceptionRequiresForwardSecrecy",
        "NSTemporaryThirdPartyExceptionRequiresForwardSecrecy",
        areOutdated: true
      )
    Field(
      "NSRequiresCertificateTransparency",
      \.requiresCertificateTransparency,
      .strictBoolean.describing { _ in .strictly(false) }
    )
    .help("Cannot be enforced, so `true` is refused")
    Field("legacy_tls", \.allowsLegacyTLS, .boolean).help("Admits TLS 1.0 and TLS 1.1")
    Field("reason", \.rule.reason, .text).help("Reason for the exception")
    Field("expires", \.rule.expires, .date).help("Date after which the exception has no effect")
  }
  .checking(check)

  private static let check: @Sendable (inout Self, ObjectFacts, inout NodeDecoder) -> Void = {
    exception,
    facts,
    decoder in
    if exception.requiresCertificateTransparency {
      let node = facts.keyNode(of: "NSRequiresCertificateTransparency")
      let isLenient = decoder.isLenient(node)
      decoder.report(
        "config.unenforceable",
        "certificate transparency cannot be enforced"
          + (isLenient ? "; the key is ignored" : "; remove `NSRequiresCertificateTransparency`"),
        severity: isLenient ? .warning : .error,
        at: node
      )
      exception.requiresCertificateTransparency = false
    }
    guard exception.rule.minimumTLS < .tls12, !exception.allowsLegacyTLS else { return }
    let node = facts.keyNode(of: "NSExceptionMinimumTLSVersion")
    let version = exception.rule.minimumTLS.rawValue
    exception.rule.minimumTLS = .tls12
    if decoder.isLenient(node) {
      let message = "`\(version)` is too old; TLS 1.2 stays the minimum"
      decoder.report("config.legacy-tls", message, severity: .warning, at: node)
    } else {
      let hint = "add `legacy_tls: true` beside it if there is no other way"
      decoder.report(
        "config.legacy-tls",
        "`\(version)` is broken and needs to be admitted",
        hint: hint,
        at: node
      )
    }
  }
}
