internal import PrefetchCore
internal import PrefetchCrypto

/// The name under which the state remembers what happened to a URL.
///
/// It holds no signature and no token: what authorised a request has no place among memories of it.
package enum RememberedURL {
  /// The URL itself where nothing in it is secret; else what is left of it, and a digest of the whole.
  package static func name(of url: String) -> String {
    guard url.utf8.contains(UInt8(ascii: "?")), let parsed = try? WebURL(url) else {
      return UserInformation.masked(url)
    }
    let shown = parsed.redacted
    guard shown != parsed.string else { return url }
    return "\(shown)#\(SHA256.digest(of: parsed.string).hexadecimal(ofFirst: 8))"
  }
}
