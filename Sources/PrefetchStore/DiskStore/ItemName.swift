internal import PrefetchCore
internal import PrefetchCrypto

/// Id of an item without a declared id: twelve digits of the SHA-256 of its URL.
enum ItemName {
  static func made(from url: String) -> String {
    SHA256.digest(naming: url).hexadecimal(ofFirst: length / 2)
  }

  /// Returns the id for a row: nil for an id that can be made from the URL.
  static func stored(_ id: String, url: String) -> String? {
    guard !id.isEmpty else { return nil }
    return couldBeMade(id) && id == made(from: url) ? nil : id
  }

  static func couldBeMade(_ id: String) -> Bool {
    id.utf8.count == length && id.utf8.allSatisfy { Hexadecimal.value(of: $0) != nil }
  }

  private static let length = 12
}
