struct ConfigurationKeyRow: Hashable, Sendable {
  /// Path such as `cache.size` or `segments[].ttl`.
  var path: String
  var type: String
  var defaultValue: String?
  var help: String
}

struct ConfigurationProse: Hashable, Sendable {
  var title: String
  var paragraphs: [String]
  var example: String?
}

enum ConfigurationPage {
  static func render(
    rows: [ConfigurationKeyRow],
    before: [ConfigurationProse],
    after: [ConfigurationProse]
  ) -> String {
    var page = Roff(
      name: "prefetch.yaml",
      section: 5,
      manual: "File Formats",
      date: ManualPage.date
    )
    page.section("NAME")
    page.line("prefetch.yaml - the configuration of prefetch")
    for prose in before { append(prose, to: &page) }
    page.section("KEYS")
    page.paragraph(
      "A key with a default in brackets may be left out."
    )
    var heading: String?
    for row in rows {
      let group = Self.group(of: row.path)
      if group != heading {
        page.subsection(group ?? "Top level")
        heading = group
      }
      append(row, to: &page)
    }
    for prose in after { append(prose, to: &page) }
    page.section("SEE ALSO")
    page.line("`prefetch`(1), `prefetch-manifest`(5), `prefetch-report`(5), `prefetch-sdk`(7)")
    return page.text
  }

  /// Returns `cache` for `cache.size`; nil for a key of the top level.
  private static func group(of path: String) -> String? {
    guard let dot = path.firstIndex(of: ".") else { return nil }
    return String(path[..<dot])
  }

  private static func append(_ prose: ConfigurationProse, to page: inout Roff) {
    page.section(prose.title.uppercased())
    for text in prose.paragraphs { page.paragraph(text) }
    if let example = prose.example { page.literal(example) }
  }

  private static func append(_ row: ConfigurationKeyRow, to page: inout Roff) {
    let defaultValue = row.defaultValue.map { " [\($0)]" } ?? ""
    page.entry("`\(row.path)` \(row.type.asPlaceholder)\(defaultValue)", row.help.asSentence)
  }
}
