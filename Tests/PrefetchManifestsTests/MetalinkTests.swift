import PrefetchCore
import Testing

@Suite struct MetalinkTests {
  static let sha256 = String(repeating: "ab", count: 32)
  static let sha1 = String(repeating: "12", count: 20)

  static func current(_ files: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <metalink xmlns="urn:ietf:params:xml:ns:metalink">
    <published>2026-11-20T05:00:00Z</published>
    \(files)
    </metalink>
    """
  }

  static func old(_ files: String) -> String {
    """
    <metalink version="3.0" xmlns="http://www.metalinker.org/" pubdate="Fri, 20 Nov 2026 05:00:00 GMT">
    <files>\(files)</files></metalink>
    """
  }

  @Test(
    "Files of a metalink have their digests and mirrors in order",
    arguments: [
      (
        current(
          """
          <file name="d/tool.tar.gz"><size>12</size><identity>Tool</identity>
          <hash type="sha-1">\(sha1)</hash><hash type="sha-256">\(sha256)</hash><hash type="x">1</hash>
          <pieces length="1" type="sha-1"><hash>zz</hash></pieces>
          <url>https://worst.example/x</url><url priority="2">https://b.example/x</url>
          <url priority="1" location="de"> https://a.example/x
          </url><url priority="1">https://a.example/x</url><url>ftp://f.example/x</url>
          <url>rsync://f.example/x</url><metaurl mediatype="torrent">https://t.example/x</metaurl></file>
          """
        ),
        [
          "https://a.example/x path=d/tool.tar.gz size=12 sha256:abab sha1:1212 published=2026-11-20T05:00:00.000Z or https://b.example/x or https://worst.example/x"
        ]
      ),
      (
        old(
          """
          <file name="t"><size>5</size><mm0:timestamp xmlns:mm0="m">1</mm0:timestamp>
          <verification><hash type="sha256">\(sha256)</hash><pieces type="sha1"><hash>1</hash></pieces>
          </verification><mm0:alternates xmlns:mm0="m"><mm0:alternate><size>9</size></mm0:alternate></mm0:alternates>
          <resources maxconnections="1"><url type="http" preference="10">http://low.example/t</url>
          <url type="https" preference="100">https://high.example/t</url><url type="ftp">ftp://x/t</url>
          <url type="bittorrent">https://x.example/t.torrent</url><url>https://none.example/t</url>
          </resources></file>
          """
        ),
        [
          "https://high.example/t path=t size=5 sha256:abab published=2026-11-20T05:00:00.000Z or http://low.example/t or https://none.example/t"
        ]
      ),
      (
        "<m:metalink xmlns:m='urn:x'><m:file name='a'><m:url>https://a.example/a</m:url></m:file><file/></m:metalink>",
        ["https://a.example/a path=a"]
      ),
      (current(""), []),
    ] as [(String, [String])]
  )
  func good(text: String, expected: [String]) throws {
    #expect(try readText(text).get().everything == expected)
  }

  @Test(
    "An invalid file of a metalink fails alone with its position",
    arguments: [
      (
        "<file name=\"../x\"><url>https://a.example/x</url></file>",
        "https://a.example/x: unsafe_name: line 4, column 1: the name `../x` would leave the folder"
      ),
      (
        "<file><url>https://a.example/x</url></file>",
        "https://a.example/x: bad_name: line 4, column 1: `name` is missing"
      ),
      (
        "<file name=\"x\">\n<url>ftp://a.example/x</url></file>",
        "x: bad_url: line 4, column 1: it has no `http` or `https` URL"
      ),
      (
        "<file name=\"x\">\n<url>https://</url></file>",
        "x: bad_url: line 5, column 1: it names no host"
      ),
      (
        "<file name=\"x\"><url>https://a.example/x</url>\n <hash type=\"sha-256\">12</hash></file>",
        "https://a.example/x: manifest_invalid: line 5, column 2: this is not a sha256 in hexadecimal or base64"
      ),
      (
        "<file name=\"x\"><url>https://a.example/x</url><size>-1</size></file>",
        "https://a.example/x: manifest_invalid: line 4, column 46: `size` must be a number of bytes"
      ),
    ]
  )
  func refused(file: String, refusal: String) throws {
    let good = "<file name=\"ok\"><url>https://a.example/ok</url></file>"
    let manifest = try readText(Self.current(file + good)).get()
    #expect(manifest.entries.map(\.path) == ["ok"])
    #expect(manifest.refusals == [refusal])
  }

  @Test(
    "A broken metalink fails as a whole with its position",
    arguments: [
      (
        "<metalink>\n<file name='x'>\n",
        "line 3, column 1: the document ends too early, an element is not closed"
      ),
      (
        "<metalink>\n</file></metalink>",
        "line 2, column 3: this end tag does not fit the element that is open"
      ),
      ("<metalink>\n&nbsp;</metalink>", "line 2, column 1: the entity is not known"),
      ("<metalink/>\nx", "line 2, column 1: the document ends before this"),
      ("<metalink>\n a & b</metalink>", "line 2, column 5: this is not XML"),
      (
        "<!DOCTYPE metalink [\n<!ENTITY a \"b\">]>\n<metalink/>",
        "line 2, column 12: a manifest may not declare entities; write the text where it is used"
      ),
      (
        "<?xml version='1.0' encoding='KOI8-R'?><metalink/>",
        "line 1, column 1: the document says it is written in `KOI8-R`; save it as UTF-8"
      ),
      (
        "<metalink>\(String(repeating: "<a>", count: 40))",
        "line 1, column 104: elements are nested deeper than 32"
      ),
      (
        "<metalink><file name='x'>\(String(repeating: "<url/>", count: 10_001))</file></metalink>",
        "line 1, column 60026: it holds more than 10000 elements"
      ),
    ]
  )
  func broken(text: String, message: String) {
    #expect(throws: Failure(.manifestInvalid, message)) { try readText(text).get() }
  }

  @Test("The number of mirrors of one file is limited")
  func mirrors() throws {
    let urls = (0..<300).map { "<url>https://m\($0).example/x</url>" }.joined()
    let manifest = try readText(Self.current("<file name='x'>\(urls)</file>")).get()
    #expect(manifest.entries.first?.alternates.count == 100)
  }
}
