import PrefetchConfig
import PrefetchCore
import PrefetchManifests
import PrefetchSystem

/// Layouts of published trees that the tool behind a segment's list cannot read.
struct LayoutLints {
  let loaded: LoadedConfiguration
  let builder: RequestBuilder

  var diagnostics: [Diagnostic] {
    loaded.configuration.segments.enumerated().compactMap { number, segment in
      let declaration = builder.declaration(segment)
      guard let layout = declaration.publishing?.layout, Self.isForOneTool(layout),
        let (words, fitting) = self.layout(of: declaration), fitting != layout
      else { return nil }
      return Diagnostic(
        "config.conflict",
        "segment `\(segment.name)` has layout `\(layout.rawValue)`, and its list is \(words)",
        hint: "`layout: \(fitting.rawValue)` is for that list",
        path: "segments[\(number)].publish.layout"
      )
    }
  }

  private static func isForOneTool(_ layout: PublishingRules.Layout) -> Bool {
    switch layout {
    case .npm, .pip, .go, .cargo, .yarn: true
    // Bazel finds bodies of any kind by their digests.
    case .bazel, .url, .basename, .hls: false
    }
  }

  private func layout(
    of declaration: SegmentDeclaration
  ) -> (words: String, layout: PublishingRules.Layout)? {
    switch declaration.source {
    case .inline: return nil
    case .remote(let url):
      return ManifestReader.layout(
        for: source(.file(url.path), named: url.path, declaration),
        bytes: nil
      )
    case .file(let path):
      let source = source(.file(path), named: path, declaration)
      guard !FileReading.isStream(path) else { return nil }
      let found = try? FileReading.withBytes(of: path, limit: 64 << 20) {
        ManifestReader.layout(for: source, bytes: $0)
      }
      return found ?? ManifestReader.layout(for: source, bytes: nil)
    }
  }

  private func source(
    _ bytes: ManifestSource.Bytes,
    named name: String,
    _ declaration: SegmentDeclaration
  ) -> ManifestSource {
    ManifestSource(
      bytes: bytes,
      base: nil,
      mime: nil,
      name: name,
      rules: declaration.manifestRules
    )
  }
}
