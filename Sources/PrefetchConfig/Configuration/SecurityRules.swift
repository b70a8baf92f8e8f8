package import PrefetchCore
import PrefetchDocuments

/// App Transport Security: https only, unless a domain is excepted.
package struct SecurityRules: Hashable, Sendable {
  package var allowsArbitraryLoads = false
  /// Present with any value, these three take the effect from the one above.
  package var allowsArbitraryLoadsForMedia: Bool?
  package var allowsArbitraryLoadsInWebContent: Bool?
  package var allowsLocalNetworking: Bool?
  package var exceptions: [String: SecurityException] = [:]
  /// Moved to `tls.pins` after reading.
  var pinnedDomains: [String: Pin] = [:]

  static let table = ObjectType(Self(), name: "transport_security") {
    Field(
      "NSAllowsArbitraryLoads",
      \.allowsArbitraryLoads,
      .strictBoolean,
      "Switches the rules off for hosts without an entry of their own"
    )
    Field(
      "NSAllowsArbitraryLoadsForMedia",
      \.allowsArbitraryLoadsForMedia,
      .strictBoolean,
      "The same for video, audio and HLS items only"
    )
    Field(
      "NSAllowsArbitraryLoadsInWebContent",
      \.allowsArbitraryLoadsInWebContent,
      .strictBoolean,
      "The same for items of type `page` only"
    )
    Field(
      "NSAllowsLocalNetworking",
      \.allowsLocalNetworking,
      .strictBoolean,
      "Allows plain http to unqualified names, `.local` names and addresses of this network"
    )
    Field(
      "NSExceptionDomains",
      \.exceptions,
      .map(of: HostKey.hostOrRange, to: .object(SecurityException.table)),
      "Rules of single hosts and address ranges"
    )
    Field(
      "NSPinnedDomains",
      \.pinnedDomains,
      .map(of: HostKey.host, to: .object(Pin.appleTable)),
      "Pins as Apple writes them; the same as `tls.pins`"
    )
  }
}

/// What holds for one domain instead of the rules for all; missing keys have their defaults.
package struct SecurityException: Hashable, Sendable {
  package enum MinimumVersion: String, Hashable, Sendable, CaseIterable {
    case tls10 = "TLSv1.0"
    case tls11 = "TLSv1.1"
    case tls12 = "TLSv1.2"
    case tls13 = "TLSv1.3"
  }

  package var includesSubdomains = false
  package var allowsInsecureHTTPLoads = false
  package var minimumVersion = MinimumVersion.tls12
  package var requiresForwardSecrecy = true
  package var requiresCertificateTransparency = false
  package var allowsLegacyTLS = false
  package var reason: String?
  package var expires: Instant?

  static let table = ObjectType(Self(), name: "security_exception") {
    Field(
      "NSIncludesSubdomains",
      \.includesSubdomains,
      .strictBoolean,
      "Whether it holds for names below, at any depth"
    )
    Field(
      "NSExceptionAllowsInsecureHTTPLoads",
      \.allowsInsecureHTTPLoads,
      .strictBoolean,
      "Whether plain http is allowed"
    )
    .synonyms(
      "NSTemporaryExceptionAllowsInsecureHTTPLoads",
      "NSThirdPartyExceptionAllowsInsecureHTTPLoads",
      "NSTemporaryThirdPartyExceptionAllowsInsecureHTTPLoads",
      areOutdated: true
    )
    Field("NSExceptionMinimumTLSVersion", \.minimumVersion, .choice(), "Oldest version of TLS")
      .synonyms(
        "NSTemporaryExceptionMinimumTLSVersion",
        "NSThirdPartyExceptionMinimumTLSVersion",
        "NSTemporaryThirdPartyExceptionMinimumTLSVersion",
        areOutdated: true
      )
    Field(
      "NSExceptionRequiresForwardSecrecy",
      \.requiresForwardSecrecy,
      .strictBoolean,
      "Whether the key exchange must have forward secrecy"
    )
    .synonyms(
      "NSTemporaryExceptionRequiresForwardSecrecy",
      "NSThirdPartyExceptionRequiresForwardSecrecy",
      "NSTemporaryThirdPartyExceptionRequiresForwardSecrecy",
      areOutdated: true
    )
    Field(
      "NSRequiresCertificateTransparency",
      \.requiresCertificateTransparency,
      .strictBoolean,
      "Cannot be enforced; `true` is refused"
    )
    Field("legacy_tls", \.allowsLegacyTLS, .boolean, "Admits `TLSv1.0` and `TLSv1.1` above")
    Field("reason", \.reason, .text, "Why there is an exception")
    Field("expires", \.expires, .date, "When it ceases to hold")
  }
  .checking(check)

  private static let check: @Sendable (inout Self, ObjectFacts, inout NodeDecoder) -> Void = {
    exception,
    facts,
    decoder in
    if exception.requiresCertificateTransparency {
      let place = facts.place(of: "NSRequiresCertificateTransparency")
      let isLenient = decoder.isLenient(place)
      decoder.report(
        "config.unenforceable",
        "certificate transparency cannot be enforced"
          + (isLenient ? "; the key is ignored" : "; remove `NSRequiresCertificateTransparency`"),
        severity: isLenient ? .warning : .error,
        at: place
      )
      exception.requiresCertificateTransparency = false
    }
    let isLegacy = exception.minimumVersion == .tls10 || exception.minimumVersion == .tls11
    guard isLegacy, !exception.allowsLegacyTLS else { return }
    let place = facts.place(of: "NSExceptionMinimumTLSVersion")
    let version = exception.minimumVersion.rawValue
    exception.minimumVersion = .tls12
    if decoder.isLenient(place) {
      let message = "`\(version)` is too old; TLS 1.2 stays the minimum"
      decoder.report("config.legacy-tls", message, severity: .warning, at: place)
    } else {
      let hint = "add `legacy_tls: true` beside it if there is no other way"
      decoder.report(
        "config.legacy-tls",
        "`\(version)` is broken and needs to be admitted",
        hint: hint,
        at: place
      )
    }
  }
}
