package import PrefetchCore

/// The tool that wrote a list, as far as configurations and published trees need it.
package struct ListTool: Hashable, Sendable {
  /// Kind of list in messages: `a package-lock.json`.
  package var words: String
  package var layout: PublishingRules.Layout
  /// The tool's word for its packages, which names a segment: `wheels`.
  package var packages: String
  /// Whether the tool can read a tree; some download only from the list's own addresses.
  package var usesTree = true
}

extension ManifestReader {
  /// Returns the tool that wrote a list; nil when no single tool did or nothing shows which.
  package static func tool(for source: ManifestSource, bytes: RawSpan?) -> ListTool? {
    let row: FormatRow? =
      if let format = source.rules.format {
        FormatTable.row(declared: format)
      } else if let bytes {
        ((try? FormatDetection.kind(of: bytes, source: source)) ?? nil).flatMap(FormatTable.row)
      } else {
        FormatTable.row(name: FormatTable.fileName(of: source))
      }
    guard let row, let (layout, packages) = tree(of: row.kind) else { return nil }
    // `uv sync` downloads each package from its address in uv.lock.
    return ListTool(
      words: row.words,
      layout: layout,
      packages: packages,
      usesTree: row.kind != .uvLock
    )
  }

  private static func tree(
    of kind: DocumentKind
  ) -> (layout: PublishingRules.Layout, packages: String)? {
    switch kind {
    case .packageLock: (.npm, "npm")
    // pnpm reads no tree layout of another tool; it gets the registry's files by their URLs.
    case .pnpmLock: (.url, "pnpm")
    case .yarnLock: (.yarn, "yarn")
    case .cargoLock: (.cargo, "crates")
    case .goSum: (.go, "modules")
    case .pip, .pylock, .uvLock: (.pip, "wheels")
    case .bazelLock: (.bazel, "bazel")
    default: nil
    }
  }
}
