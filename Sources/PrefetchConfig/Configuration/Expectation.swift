import PrefetchCore
import PrefetchDocuments

/// What the bodies of a segment must look like.
package struct Expectation: Hashable, Sendable {
  package var mime: [String] = []
  package var minimumSize: Int64?
  package var maximumSize: Int64?
  package var magic: String?

  static let table = ObjectType(Self(), name: "expect") {
    Field("mime", \.mime, .oneOrMore(.mediaType), "Media types, `image/*` for all of a kind")
    Field("min_size", \.minimumSize, .size, "Fewest bytes of a body")
    Field("max_size", \.maximumSize, .size, "Most bytes of a body")
    Field(
      "magic",
      \.magic,
      .text.nonEmpty,
      "First bytes of a body, as text or in hexadecimal digits"
    )
  }
  .checking { expectation, facts, decoder in
    guard let minimum = expectation.minimumSize, let maximum = expectation.maximumSize,
      minimum > maximum
    else { return }
    decoder.report(
      "config.bad-value",
      "`min_size` is above `max_size`",
      at: facts.place(of: "min_size")
    )
  }
}
