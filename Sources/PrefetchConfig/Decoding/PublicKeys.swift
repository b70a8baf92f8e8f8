import PrefetchCore
import PrefetchDocuments

extension ValueType where Value == String {
  /// A minisign public key: base64 of `Ed`, a key number and 32 bytes.
  static var publicKey: Self {
    scalar("a minisign public key", summary: "public key", code: "config.bad-key") {
      text throws(ValueComplaint) in
      let trimmed = Blanks.trimmed(text)
      guard let bytes = Base64.decode(trimmed), bytes.count == 42, bytes.starts(with: "Ed".utf8)
      else {
        throw ValueComplaint(
          "`\(trimmed)` is no minisign public key",
          hint: "take the second line of the `.pub` file, which begins with `RW`"
        )
      }
      return trimmed
    } encode: {
      .string($0)
    }
  }
}
