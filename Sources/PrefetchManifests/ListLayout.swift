package import PrefetchCore

/// The tool that wrote a list, as far as configurations and trees are concerned.
package struct ListTool: Hashable, Sendable {
  /// The kind of list in messages: `a package-lock.json`.
  package var words: String
  /// The layout of the tree that the tool reads.
  package var layout: PublishingRules.Layout
  /// What the tool calls its packages, which names a segment: `wheels`.
  package var packages: String
  /// Whether the tool installs from the list itself and never asks a tree.
  package var asksTree = true
}

extension ManifestReader {
  /// Returns the tool that wrote a list; nil where no single tool did, or nothing tells which.
  ///
  /// `bytes` are those of a local list.
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
    // `uv sync` asks for each package at the address in uv.lock.
    return ListTool(
      words: row.words,
      layout: layout,
      packages: packages,
      asksTree: row.kind != .uvLock
    )
  }

  private static func tree(
    of kind: DocumentKind
  ) -> (layout: PublishingRules.Layout, packages: String)? {
    switch kind {
    case .packageLock: (.npm, "npm")
    // pnpm reads no tree of another tool, and gets the files of its registry.
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
