import PrefetchCore
import Testing

@testable import PrefetchManifests

@Suite struct FeedTests {
  @Test("A reference to an external document type is kept as text")
  func unknownReference() throws {
    let type = "<!DOCTYPE rss PUBLIC \"-//N//DTD RSS 0.91//EN\" \"http://n.example/rss-0.91.dtd\">"
    let text = """
      \(type)<rss><channel><item><description>&eacute;</description><title>Caf&eacute;</title>
      <enclosure url="https://a.example/x"/></item></channel></rss>
      """
    #expect(try readText(text).get().entries.map(\.title) == ["Caf&eacute;"])
    let page = "<urlset><url><loc>/a&x;b</loc></url></urlset>"
    let manifest = try readText(type.replacing("rss", with: "urlset") + page).get()
    #expect(manifest.lines == ["https://cdn.example/a&x;b"])
  }

  @Test(
    "An entry of a feed has its enclosed files",
    arguments: [
      (
        """
        <rss version="2.0" xmlns:itunes="i"><channel><title>Show</title><ttl>60</ttl>
        <item><title>One</title><itunes:title>No</itunes:title><description>&lt;p></description>
        <guid isPermaLink="false">ep-1</guid><pubDate>Fri, 20 Nov 2026 05:00:00 GMT</pubDate>
        <enclosure url="https://cdn.example/1.mp3?a=1&amp;b=2" length="1" type="audio/mpeg"/></item>
        <item><title>No file</title><guid>ep-0</guid></item>
        <item><guid>ep-1</guid><enclosure url="2.bin" type="application/zip"/></item>
        </channel></rss>
        """,
        [
          "https://cdn.example/1.mp3?a=1&b=2 id=ep-1 type=audio title=One published=2026-11-20T05:00:00.000Z",
          "https://cdn.example/lists/2.bin",
        ]
      ),
      (
        """
        <feed xmlns="http://www.w3.org/2005/Atom"><title>Feed</title><entry><title>A</title><id>urn:a</id>
        <link href="https://cdn.example/page"/><link rel="enclosure" href="/a.mp4" type="video/mp4" length="x"/>
        <link rel="enclosure" href="/b.mp4"/><source><id>no</id></source>
        <updated>2026-11-21T00:00:00Z</updated><published>2026-11-20T00:00:00Z</published></entry>
        <entry><id>urn:c</id><updated>2026-11-22T00:00:00Z</updated><link rel="enclosure" href="/c"/></entry></feed>
        """,
        [
          "https://cdn.example/a.mp4 id=urn:a type=video title=A published=2026-11-20T00:00:00.000Z",
          "https://cdn.example/b.mp4 title=A published=2026-11-20T00:00:00.000Z",
          "https://cdn.example/c id=urn:c published=2026-11-22T00:00:00.000Z",
        ]
      ),
      ("<rss><channel/></rss>", []),
    ] as [(String, [String])]
  )
  func good(text: String, expected: [String]) throws {
    #expect(try readText(text).get().everything == expected)
  }

  @Test(
    "An invalid file of a feed fails alone with its position",
    arguments: [
      ("<item>\n<enclosure/></item>", ": manifest_invalid: line 2, column 1: `url` is missing"),
      (
        "<item>\n <enclosure url='ftp://a.example/x'/></item>",
        "ftp://a.example/x: bad_url: line 2, column 2: it has the scheme `ftp`; only `http` and `https` are fetched"
      ),
    ]
  )
  func refused(item: String, refusal: String) throws {
    let text = "<rss><channel>\(item)<item><enclosure url='/x'/></item></channel></rss>"
    let manifest = try readText(text).get()
    #expect(manifest.lines == ["https://cdn.example/x"])
    #expect(manifest.refusals == [refusal])
  }

  @Test("A broken feed fails as a whole with its position")
  func broken() {
    #expect(
      throws: Failure(
        .manifestInvalid,
        "line 2, column 1: this is not closed before the document ends"
      )
    ) { try readText("<rss>\n<channel").get() }
  }

  @Test("A feed in an older Latin encoding is read")
  func encoding() throws {
    let head = "<?xml version='1.0' encoding='ISO-8859-1'?><rss><channel><item><title>"
    let bytes =
      Array(head.utf8) + [0xE4]
      + Array("</title><enclosure url='https://a.example/x'/></item></channel></rss>".utf8)
    let source = ManifestSource(bytes: .file("f"), base: nil, mime: nil, name: "f")
    #expect(try readBytes(bytes, source).get().lines == ["https://a.example/x title=ä"])
  }

  @Test(
    "Dates of feeds are read in the format of mail",
    arguments: [
      ("Fri, 20 Nov 2026 05:00:00 GMT", "2026-11-20T05:00:00.000Z"),
      ("Fri, 20 Nov 2026 05:00:00 +0130", "2026-11-20T03:30:00.000Z"),
      ("Fri, 20 Nov 2026 05:00:00 -0500", "2026-11-20T10:00:00.000Z"),
      ("20 Nov 2026 05:00:00 EST", "2026-11-20T10:00:00.000Z"),
      ("6 Nov 94 08:49 UT", "1994-11-06T08:49:00.000Z"),
      ("fri, 1 nov 2026 05:00:00", "2026-11-01T05:00:00.000Z"), ("Fri", nil), ("", nil),
      ("Fri, 32 Nov 2026 05:00:00 GMT", nil), ("Fri, 20 Nov 2026 05:00:00 XYZ", nil),
      ("a b c d e f g h", nil), ("1 2 3 4 5", nil),
    ] as [(String, String?)]
  )
  func dates(text: String, expected: String?) {
    #expect(MailDate.parse(text).map(Timestamp.format) == expected)
  }
}
