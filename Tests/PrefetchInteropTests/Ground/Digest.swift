import PrefetchCore
import PrefetchCrypto

/// SHA-256 in the spelling of manifests and object names.
enum Digest {
  static func hexadecimal(_ text: String) -> String {
    hexadecimal(Array(text.utf8))
  }

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    SHA256.digest(of: bytes).hexadecimal
  }

  static func base64(_ text: String) -> String {
    Base64.encode(SHA256.digest(of: Array(text.utf8)).bytes)
  }

  /// The name of a piece of a stream that has this body.
  static func marking(_ name: String, _ text: String) -> String {
    let dot = name.lastIndex(of: ".") ?? name.endIndex
    return "\(name[..<dot])-\(hexadecimal(text).prefix(12))\(name[dot...])"
  }
}
