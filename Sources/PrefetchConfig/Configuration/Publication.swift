package import PrefetchCore
import PrefetchDocuments

/// A folder in which a segment's items appear under names that other tools look for.
package struct Publication: Hashable, Sendable {
  package var folder: String?
  package var layout = PublishingRules.Layout.url
  package var link = PublishingRules.Link.auto
  package var isAtomic = false
  package var keptGenerations = 1
  /// No key sets it: `mirror` declares its one segment by itself.
  package var mirror: MirrorRules?

  static let table = ObjectType(Self(), name: "publish") {
    Field("dir", \.folder, .path, "The folder")
    Field("layout", \.layout, .choice(), "How names in it are made")
    Field("link", \.link, .choice(), "How bodies get there")
    Field(
      "atomic",
      \.isAtomic,
      .boolean,
      "Whether the whole tree changes in one moment, or not at all"
    )
    Field("keep_generations", \.keptGenerations, .integer(1...1000), "How many past trees are kept")
  }
  .checking { _, facts, decoder in
    guard !facts.has("dir") else { return }
    decoder.report("config.missing-key", "`publish` has no `dir`", at: facts.node)
  }
}
