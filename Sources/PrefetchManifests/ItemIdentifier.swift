package import PrefetchCore
import PrefetchCrypto

/// The id of an item whose publisher gave it none.
package enum ItemIdentifier {
  /// The first twelve digits of the SHA-256 of its URL.
  package static func make(for url: WebURL) -> String {
    make(for: url.string)
  }

  package static func make(for url: String) -> String {
    SHA256.digest(of: url).hexadecimal(ofFirst: 6)
  }
}
