internal import PrefetchCore
internal import PrefetchCrypto

/// Name of an entry below the tier's URL.
enum TierName {
  case body(ContentDigest)
  case record(of: String)

  func url(below base: WebURL) -> WebURL {
    let name =
      switch self {
      case .body(let digest): "cas/\(digest.hexadecimal)"
      case .record(let url): "ac/\(SHA256.digest(of: "prefetch/1\n\(url)").hexadecimal)"
      }
    // The name cannot make the URL invalid.
    return (try? WebURL(base.string + (base.string.hasSuffix("/") ? "" : "/") + name)) ?? base
  }
}
