internal import PrefetchCore
internal import PrefetchCrypto

/// The id of an item whose publisher gave it none: the first twelve digits of the SHA-256 of its
/// URL.
enum ItemName {
  static func made(from url: String) -> String {
    SHA256.digest(of: url).hexadecimal(ofFirst: length / 2)
  }

  /// What a row holds: nil for an id that can be made again.
  static func stored(_ id: String, url: String) -> String? {
    guard !id.isEmpty else { return nil }
    return couldBeMade(id) && id == made(from: url) ? nil : id
  }

  static func couldBeMade(_ id: String) -> Bool {
    id.utf8.count == length && id.utf8.allSatisfy { Hexadecimal.value(of: $0) != nil }
  }

  private static let length = 12
}
