import PrefetchCore
import Testing

@Suite struct AlternateSourcesTests {
  struct Row: Sendable {
    var item: String
    var base: String?
    var servers: [String]
    var named: [String] = []
    var expected: [String]
  }

  static let rows: [Row] = [
    Row(
      item: "https://a.example/x/y?z=1",
      servers: ["https://m.example/", "http://n.example:8080"],
      expected: ["https://m.example/x/y?z=1", "http://n.example:8080/x/y?z=1"]
    ),
    Row(
      item: "https://a.example/x/y",
      servers: ["https://m.example/mirror/a/", "https://m.example/mirror/b"],
      expected: ["https://m.example/mirror/a/x/y", "https://m.example/mirror/b/x/y"]
    ),
    Row(
      item: "https://a.example/app/v1/y?z",
      base: "https://a.example/app/",
      servers: ["https://m.example/copy/"],
      expected: ["https://m.example/copy/v1/y?z"]
    ),
    Row(
      item: "https://a.example/app/y",
      base: "https://a.example/app/manifest.json",
      servers: ["https://m.example/"],
      expected: ["https://m.example/y"]
    ),
    Row(
      item: "https://b.example/app/y",
      base: "https://a.example/app/",
      servers: ["https://m.example/"],
      expected: ["https://m.example/app/y"]
    ),
    Row(
      item: "https://a.example/other/y",
      base: "https://a.example/app/",
      servers: ["https://m.example/"],
      expected: ["https://m.example/other/y"]
    ),
    Row(
      item: "https://a.example/x",
      servers: ["https://a.example/", "https://m.example/", "https://m.example"],
      expected: ["https://m.example/x"]
    ),
    Row(
      item: "https://a.example",
      servers: ["https://m.example"],
      expected: ["https://m.example/"]
    ),
    Row(item: "https://a.example/x", servers: [], expected: []),
    Row(
      item: "https://a.example/x",
      servers: ["https://m.example/", "https://n.example/"],
      named: ["https://n.example/other", "https://m.example/x", "https://a.example/x"],
      expected: ["https://n.example/other", "https://m.example/x", "https://n.example/x"]
    ),
  ]

  @Test("An alternate replaces the base, or scheme and host", arguments: rows)
  func table(row: Row) throws {
    let urls = AlternateSources.urls(
      of: try WebURL(row.item),
      named: try row.named.map { try WebURL($0) },
      base: try row.base.map { try WebURL($0) },
      servers: try row.servers.map { try WebURL($0) }
    )
    #expect(urls.map(\.string) == row.expected)
  }
}
