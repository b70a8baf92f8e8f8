import PrefetchConfig
import PrefetchCore
import PrefetchManifests

/// Finds layouts of published trees that the tool behind a segment's list cannot read.
struct LayoutLints {
  let loaded: LoadedConfiguration
  let builder: RequestBuilder

  var diagnostics: [Diagnostic] {
    loaded.configuration.segments.enumerated().compactMap { number, segment in
      let declaration = builder.declaration(segment)
      if let rules = declaration.publishing, rules.layout == .hf, rules.hub == nil {
        return Diagnostic(
          "config.conflict",
          "segment `\(segment.name)` has layout `hf`, and its list is no repository of a hub",
          hint: "layout `hf` is for lists such as `manifest: hf:ORG/NAME`",
          path: "segments[\(number)].publish.layout"
        )
      }
      guard let layout = declaration.publishing?.layout, Self.isForOneTool(layout),
        let tool = LocalList.tool(of: declaration), tool.layout != layout
      else { return nil }
      return Diagnostic(
        "config.conflict",
        "segment `\(segment.name)` has layout `\(layout.rawValue)`, and its list is \(tool.words)",
        hint: "`layout: \(tool.layout.rawValue)` is for that list",
        path: "segments[\(number)].publish.layout"
      )
    }
  }

  private static func isForOneTool(_ layout: PublishingRules.Layout) -> Bool {
    switch layout {
    case .npm, .pip, .go, .cargo, .yarn, .hf: true
    // Bazel finds bodies of any kind by their digests.
    case .bazel, .url, .basename, .hls: false
    }
  }
}
