import PrefetchCore
import Testing

@testable import PrefetchManifests

@Suite struct SitemapTests {
  static let head =
    "<?xml version=\"1.0\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"

  @Test(
    "Pages of a sitemap are read with their facts",
    arguments: [
      (
        "<url><loc>https://cdn.example/?a=1&amp;b=2</loc><lastmod>2026-11-19</lastmod><changefreq>daily</changefreq></url>",
        ["https://cdn.example/?a=1&b=2 published=2026-11-19T00:00:00.000Z"]
      ),
      (
        "<url><loc>\n <![CDATA[http://cdn.example/x]]> </loc><priority>1.0</priority></url>",
        ["http://cdn.example/x priority=1"]
      ),
      ("<url><loc>/x</loc><priority>0.8</priority></url>", ["https://cdn.example/x priority=21"]),
      ("<url><loc>/x</loc><priority>0.5</priority></url>", ["https://cdn.example/x priority=51"]),
      ("<url><loc>/x</loc><priority>0</priority></url>", ["https://cdn.example/x priority=100"]),
      (
        "<url><loc>/x</loc><priority>high</priority><lastmod>soon</lastmod></url>",
        ["https://cdn.example/x"]
      ),
      (
        "<url><loc>/x</loc><image:image><image:loc>https://o.example/i</image:loc></image:image></url>",
        ["https://cdn.example/x"]
      ),
      ("<url><loc>/x</loc></url><url><loc>/x</loc></url>", ["https://cdn.example/x"]),
      ("<other><loc>/y</loc></other><url><loc>/x</loc></url>", ["https://cdn.example/x"]),
      ("", []),
    ] as [(String, [String])]
  )
  func pages(text: String, expected: [String]) throws {
    let found = try readText("\(Self.head)\(text)</urlset>").get()
    #expect(found.everything == expected)
  }

  @Test("Names of elements count without their prefix, in any namespace")
  func prefixes() throws {
    let text = "<s:urlset xmlns:s=\"x\"><s:url><s:loc>/x</s:loc></s:url></s:urlset>"
    #expect(try readText(text).get().lines == ["https://cdn.example/x"])
  }

  @Test(
    "An invalid page of a sitemap fails alone with its position",
    arguments: [
      ("<url>\n</url>", ": manifest_invalid: line 3, column 1: `loc` is missing"),
      (
        "<url>\n <loc>https://www.cdn.example/y</loc></url>",
        "https://www.cdn.example/y: bad_url: line 4, column 2: it is on another host, `www.cdn.example`; `cross_host: true` allows this"
      ),
      (
        "<url><loc>ftp://cdn.example/</loc></url>",
        "ftp://cdn.example/: bad_url: line 3, column 6: it has the scheme `ftp`; only `http` and `https` are fetched"
      ),
    ]
  )
  func refused(page: String, refusal: String) throws {
    let text = "\(Self.head)\(page)<url><loc>/x</loc></url></urlset>"
    let manifest = try readText(text).get()
    #expect(manifest.lines == ["https://cdn.example/x"])
    #expect(manifest.refusals == [refusal])
  }

  @Test("Other hosts are accepted where the configuration says so")
  func hosts() throws {
    let text = "\(Self.head)<url><loc>https://o.example/y</loc></url></urlset>"
    #expect(try readText(text, crossesHosts: true).get().lines == ["https://o.example/y"])
  }

  static func index(_ count: Int) -> String {
    let children = (1...count).map { "<sitemap>\n<loc>/s\($0).xml.gz</loc></sitemap>" }.joined()
    return "<sitemapindex>\(children)</sitemapindex>"
  }

  @Test("An index names further documents")
  func children() throws {
    let manifest = try readText(Self.index(2)).get()
    #expect(manifest.entries.isEmpty)
    #expect(
      manifest.furtherDocuments.map(\.url.string) == [
        "https://cdn.example/s1.xml.gz", "https://cdn.example/s2.xml.gz",
      ]
    )
    #expect(manifest.furtherDocuments.map(\.kind) == [.sitemap(level: 1), .sitemap(level: 1)])
    let nested = try readText(Self.index(1), documentRole: .sitemap(level: 1)).get()
    #expect(nested.furtherDocuments.map(\.kind) == [.sitemap(level: 2)])
  }

  @Test("An invalid child fails alone, also as the first")
  func badChild() throws {
    let text = "<sitemapindex><sitemap/><sitemap><loc>/s.xml</loc></sitemap></sitemapindex>"
    let manifest = try readText(text).get()
    #expect(manifest.furtherDocuments.map(\.url.string) == ["https://cdn.example/s.xml"])
    #expect(
      manifest.refusals == [": manifest_invalid: line 1, column 15: `loc` is missing"]
    )
  }

  @Test("Indexes of sitemaps are limited in depth and number")
  func limits() throws {
    #expect(
      throws: Failure(
        .manifestInvalid,
        "line 1, column 15: it is an index of sitemaps below 2 others, and deeper ones are not followed"
      )
    ) { try readText(Self.index(1), documentRole: .sitemap(level: 2)).get() }
    #expect(try readText(Self.index(1_000)).get().furtherDocuments.count == 1_000)
    #expect(
      throws: Failure(
        .manifestInvalid,
        "line 1001, column 35: it lists more than 1000 sitemaps, which is as many as are read"
      )
    ) { try readText(Self.index(1_001)).get() }
  }

  @Test("A child on another host is refused")
  func foreignChild() throws {
    let text = "<sitemapindex><sitemap><loc>https://o.example/s</loc></sitemap></sitemapindex>"
    let manifest = try readText(text).get()
    #expect(manifest.furtherDocuments.isEmpty)
    #expect(manifest.rejected.map(\.failure.code) == [.badURL])
  }

  @Test("A sitemap may be a text of URLs of its own host")
  func text() throws {
    let text = "https://cdn.example/a\nhttps://o.example/b\n"
    for manifest in [
      try readText(text, format: .sitemap).get(),
      try readText(text, documentRole: .sitemap(level: 1)).get(),
    ] {
      #expect(manifest.lines == ["https://cdn.example/a"])
      #expect(manifest.rejected.map(\.failure.code) == [.badURL])
    }
  }

  @Test("A sitemap of the largest size is read into columns")
  func large() throws {
    let pages = (0..<50_000).map {
      "<url><loc>https://cdn.example/page/\($0)</loc><lastmod>2026-11-19</lastmod></url>\n"
    }
    let manifest = try readText("\(Self.head)\(pages.joined())</urlset>").get()
    #expect(manifest.entries.count == 50_000)
    #expect(!manifest.entries.indices.contains { manifest.entries.hasExtras(at: $0) })
  }

  @Test(
    "Dates of a sitemap may be as short as a year",
    arguments: [
      ("2026", "2026-01-01T00:00:00.000Z"), ("2026-11", "2026-11-01T00:00:00.000Z"),
      ("2026-11-19", "2026-11-19T00:00:00.000Z"), ("2026-11-19T05:06Z", "2026-11-19T05:06:00.000Z"),
      ("2026-11-19T05:06+01:00", "2026-11-19T04:06:00.000Z"),
      ("2026-11-19T05:06:07.5-02:00", "2026-11-19T07:06:07.500Z"), ("", nil), ("20261119", nil),
      ("2026-13", nil), ("äöüß", nil), ("2026-11-19T05:06", nil),
    ] as [(String, String?)]
  )
  func dates(text: String, expected: String?) {
    #expect(WebDate.parse(text).map(Timestamp.format) == expected)
  }
}
