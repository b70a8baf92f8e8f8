internal import PrefetchCore
internal import PrefetchCrypto

/// Name of a URL in the state, without the secrets that authorised a request.
package enum RememberedURL {
  /// Returns the URL itself, or its redacted form with a digest when the URL contains secrets.
  package static func name(of url: String) -> String {
    guard url.utf8.span.contains(UInt8(ascii: "?")), let parsed = try? WebURL(url) else {
      return UserInformation.masked(url)
    }
    let shown = parsed.redacted
    guard shown != parsed.string else { return url }
    return "\(shown)#\(SHA256.digest(of: parsed.string).hexadecimal(ofFirst: 8))"
  }
}
