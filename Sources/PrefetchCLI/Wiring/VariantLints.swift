import PrefetchConfig
import PrefetchCore

/// Finds segments that request a URL with different headers; a cache holds one body per URL.
struct VariantLints {
  private struct Mention {
    var segment: String
    var headers: [String: String]
  }

  let configuration: Configuration

  /// A finding per pair of segments, for the first URL that both name.
  var diagnostics: [Diagnostic] {
    var known: [String: Mention] = [:]
    var reported: Set<[String]> = []
    var diagnostics: [Diagnostic] = []
    for (index, segment) in configuration.segments.enumerated() {
      for (url, own) in urls(of: segment) {
        let mention = Mention(
          segment: segment.name,
          headers: Self.values(segment.declaration.headers + own)
        )
        guard let first = known[url.string] else {
          known[url.string] = mention
          continue
        }
        let names = Self.difference(first.headers, mention.headers)
        guard first.segment != mention.segment, !names.isEmpty,
          reported.insert([first.segment, mention.segment]).inserted
        else { continue }
        let headers = names.map { "`\($0)`" }.joined(separator: ", ")
        diagnostics.append(
          Diagnostic(
            "config.other-headers",
            "segments `\(first.segment)` and `\(mention.segment)` ask for `\(url.redacted)` with different \(headers)",
            severity: .warning,
            hint:
              "where its server's answer depends on that (`Vary`), `\(mention.segment)` fails as `unsupported`",
            path: "segments[\(index)].headers"
          )
        )
      }
    }
    return diagnostics
  }

  private func urls(of segment: Segment) -> [(WebURL, [HeaderField])] {
    if let url = segment.manifestURL { return [(url, [])] }
    return segment.urls.compactMap { entry in entry.url.map { ($0, entry.item.headers) } }
  }

  private static func difference(_ one: [String: String], _ other: [String: String]) -> [String] {
    Set(one.keys).union(other.keys).filter { one[$0] != other[$0] }.sorted()
  }

  private static func values(_ fields: [HeaderField]) -> [String: String] {
    Dictionary(fields.map { ($0.name.lowercased(), $0.value) }) { _, last in last }
  }
}
