package import PrefetchCore

/// Which layout of a published tree the tool that wrote a list can read.
extension ManifestReader {
  /// The layout for the tool that wrote a list; nil where no single tool did, or nothing tells which.
  ///
  /// `bytes` are those of a local list.
  package static func layout(
    for source: ManifestSource,
    bytes: RawSpan?
  ) -> (words: String, layout: PublishingRules.Layout)? {
    let row: FormatRow? =
      if let format = source.rules.format {
        FormatTable.row(declared: format)
      } else if let bytes {
        ((try? FormatDetection.kind(of: bytes, source: source)) ?? nil).flatMap(FormatTable.row)
      } else {
        FormatTable.row(name: FormatTable.fileName(of: source))
      }
    guard let row, let layout = layout(of: row.kind) else { return nil }
    return (row.words, layout)
  }

  private static func layout(of kind: DocumentKind) -> PublishingRules.Layout? {
    switch kind {
    case .packageLock: .npm
    // pnpm reads no tree of another tool, and gets the files of its registry.
    case .pnpmLock: .url
    case .yarnLock: .yarn
    case .cargoLock: .cargo
    case .goSum: .go
    case .pip, .pylock, .uvLock: .pip
    case .bazelLock: .bazel
    default: nil
    }
  }
}
