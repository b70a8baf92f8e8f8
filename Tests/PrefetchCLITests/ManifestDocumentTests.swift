import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@testable import PrefetchCLI
@testable import PrefetchManifests

@Suite("The manifest and its description")
struct ManifestDocumentTests {
  private static func schema() throws -> Node {
    try readJSON(Array((RepositoryFile.top("man/prefetch-manifest.schema.json").read() ?? "").utf8))
  }

  private static func page() throws -> String {
    try #require(RepositoryFile.top("man/prefetch-manifest.5").read())
  }

  /// The first example of the manual page, as a reader would copy it.
  private static func example() throws -> [UInt8] {
    let lines = try page().split(separator: "\n")
    let start = try #require(lines.firstIndex(of: "\\fB{\\fR"))
    let end = try #require(lines[start...].firstIndex(of: "\\fB}\\fR"))
    let text = lines[start...end].map { line in
      String(line.dropFirst(3).dropLast(3)).replacing("\\(dq", with: "\"")
        .replacing("\\-", with: "-").replacing("\\e", with: "\\")
    }
    return Array(text.joined(separator: "\n").utf8)
  }

  private static func read(_ bytes: [UInt8]) throws -> Manifest {
    let source = ManifestSource(
      bytes: .file("-"),
      base: try WebURL("https://x.org/lists/m.json"),
      mime: nil,
      name: "m"
    )
    return try unsafe ManifestReader.read(bytes.span.bytes, source: source)
  }

  @Test("The example of the manual page is read without a complaint")
  func exampleIsRead() throws {
    let manifest = try Self.read(try Self.example())
    #expect(manifest.rejected == [])
    #expect(manifest.warnings == [])
    #expect(
      manifest.entries.map(\.url.string) == [
        "https://cdn.example.com/app/start.html", "https://cdn.example.com/app/img/logo.png",
        "https://cdn.example.com/app/data/prices.json",
        "https://cdn.example.com/app/lib/app-3f1c.js",
        "https://cdn.example.com/app/video/ep41.mp4",
      ]
    )
    #expect(manifest.segment == "basics")
    #expect(manifest.entries[3].lifetime == .immutable)
    #expect(manifest.entries[3].digests.count == 1)
    #expect(manifest.entries[4].categories == ["shows"])
    #expect(
      manifest.entries[4].thumbnail?.url.string == "https://cdn.example.com/app/video/ep41.jpg"
    )
  }

  @Test("The example of the manual page matches its schema")
  func exampleMatches() throws {
    let example = try readJSON(try Self.example())
    #expect(SchemaCheck.problems(of: example, schema: try Self.schema()) == [])
  }

  @Test("Every key of the schema is in the manual page")
  func manual() throws {
    let page = try Self.page()
    let schema = try Self.schema()
    let keys =
      [schema["properties"], schema["$defs"]?["item"]?["properties"]]
      .flatMap { $0?.mapping?.map(\.key) ?? [] }
    #expect(keys.count == 39)
    for key in keys { #expect(page.contains("\n\\fB\(key)\\fR \\fI"), "\(key)") }
  }

  @Test("Every other format is in the manual page, by its word or its file names")
  func formats() throws {
    let page = try Self.page().replacing("\\-", with: "-").lowercased()
    for format in ManifestFormat.allCases where ![.native, .ndjson].contains(format) {
      let row = try #require(FormatTable.row(declared: format))
      let words =
        ["format: \(format.rawValue)\\fr", "\\fb\(format.rawValue)\\fr"]
        + row.names.map { "\\fb\($0.replacing("*", with: ""))\\fr" }
      #expect(words.contains { page.contains($0) }, "\(format)")
    }
  }

  @Test(
    "Schema and reader refuse the same items",
    arguments: [
      #"{}"#, #"{"url": "a", "size": -1}"#, #"{"url": "a", "size": "1"}"#,
      #"{"url": "a", "priority": 0}"#, #"{"url": "a", "priority": 101}"#,
      #"{"url": "a", "ttl": "soon"}"#, #"{"url": "a", "expires": "tomorrow"}"#,
      #"{"url": "a", "integrity": "sha512"}"#, #"{"url": "a", "path": ""}"#,
      #"{"url": "a", "id": ""}"#, #"{"url": "a", "digests": {"sha256": [1]}}"#,
      #"{"url": "a", "categories": "tv"}"#, #"{"url": "a", "categories": [""]}"#,
      #"{"url": "a", "thumbnail": {"size": 1}}"#, #"{"url": "a", "behavior": "some"}"#,
    ]
  )
  func refusals(item: String) throws {
    let bytes = Array(
      #"{"format": "prefetch-manifest", "version": 1, "items": [\#(item)]}"#.utf8
    )
    #expect(try Self.read(bytes).rejected.count == 1)
    #expect(SchemaCheck.problems(of: try readJSON(bytes), schema: try Self.schema()) != [])
  }

  @Test(
    "Schema and reader accept the same items",
    arguments: [
      #""a.png""#, #"{"url": "a", "id": null, "ttl": null, "priority": null, "digests": null}"#,
      #"{"url": "a", "ttl": 90}"#, #"{"url": "a", "ttl": "1.5 h"}"#,
      #"{"url": "a", "expires": "2036-12-24"}"#, #"{"url": "a", "size": 0, "title": "x"}"#,
      #"{"url": "a", "headers": {"X-A": "b"}, "etag": "\"x\"", "mime": "text/plain"}"#,
      #"{"url": "a", "categories": ["tv", "tv/news"], "thumbnail": "a.png", "behavior": "none"}"#,
      #"{"url": "a", "thumbnail": {"url": "a.png", "size": 3, "mime": "image/png"}}"#,
    ]
  )
  func acceptance(item: String) throws {
    let bytes = Array(
      #"{"format": "prefetch-manifest", "version": 1, "items": [\#(item)]}"#.utf8
    )
    #expect(try Self.read(bytes).rejected == [])
    #expect(SchemaCheck.problems(of: try readJSON(bytes), schema: try Self.schema()) == [])
  }
}
