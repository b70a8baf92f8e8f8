internal import PrefetchCore
internal import PrefetchCrypto

/// What something is called below the URL of a tier.
enum TierName {
  case body(ContentDigest)
  /// What an origin last said of a URL.
  case record(of: String)

  func url(below base: WebURL) -> WebURL {
    let name =
      switch self {
      case .body(let digest): "cas/\(digest.hexadecimal)"
      case .record(let url): "ac/\(SHA256.digest(of: "prefetch/1\n\(url)").hexadecimal)"
      }
    // The base is a URL, and the name has nothing that would make it none.
    return (try? WebURL(base.string + (base.string.hasSuffix("/") ? "" : "/") + name)) ?? base
  }
}
