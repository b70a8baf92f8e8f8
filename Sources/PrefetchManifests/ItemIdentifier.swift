package import PrefetchCore
import PrefetchCrypto

package enum ItemIdentifier {
  /// Returns the first twelve hexadecimal digits of the SHA-256 of the URL.
  package static func make(for url: WebURL) -> String {
    make(for: url.string)
  }

  package static func make(for url: String) -> String {
    SHA256.digest(naming: url).hexadecimal(ofFirst: 6)
  }
}
