import PrefetchCore
import PrefetchManifests
import Testing

@Suite("A manifest that a publisher writes")
struct NativeManifestTextTests {
  private static let digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
  private static let generated = Instant(seconds: 1_800_000_000)

  private static func item(_ path: String, modified: Instant) throws -> NativeManifestText.Item {
    var item = NativeManifestText.Item(
      url: NativeManifestText.reference(to: path),
      size: 5,
      modified: modified,
      digest: try #require(ContentDigest(digest))
    )
    item.path = path
    return item
  }

  private static func text(
    _ layout: NativeManifestText.Layout,
    _ items: [NativeManifestText.Item]
  ) throws -> [UInt8] {
    var heading = NativeManifestText.Heading(
      base: try WebURL("https://cdn.example.org/app/"),
      generated: generated
    )
    heading.expires = generated + .seconds(60)
    heading.segment = "basics"
    heading.priority = 3
    var text = NativeManifestText(layout)
    var bytes = text.opening(heading)
    for item in items { bytes += text.item(item) }
    return bytes + text.closing()
  }

  private static func read(_ bytes: [UInt8]) throws -> Manifest {
    let source = ManifestSource(bytes: .file("m"), base: nil, mime: nil, name: "m")
    return unsafe try ManifestReader.read(bytes.span.bytes, source: source)
  }

  @Test(
    "A written manifest is read back as it was, in either layout",
    arguments: [NativeManifestText.Layout.document, .lines]
  )
  func roundTrip(layout: NativeManifestText.Layout) throws {
    let paths = ["a.txt", "b/c d#?%.txt", "ä:ö\"'.js", "x//../y".replacing("//../", with: "/..z/")]
    let items = try paths.map { try Self.item($0, modified: Instant(seconds: 5)) }
    let manifest = try Self.read(try Self.text(layout, items))
    #expect(manifest.rejected == [])
    #expect(manifest.generated == Self.generated)
    #expect(manifest.expires == Self.generated + .seconds(60))
    #expect(manifest.segment == "basics")
    #expect(manifest.priority == 3)
    #expect(manifest.entries.map(\.path) == paths)
    #expect(
      manifest.entries.map(\.url.string) == [
        "https://cdn.example.org/app/a.txt",
        "https://cdn.example.org/app/b/c%20d%23%3F%25.txt",
        "https://cdn.example.org/app/%C3%A4%3A%C3%B6%22'.js",
        "https://cdn.example.org/app/x/..z/y",
      ]
    )
    #expect(manifest.entries.allSatisfy { $0.size == 5 && $0.digests.count == 1 })
  }

  @Test(
    "A manifest without items is written",
    arguments: [NativeManifestText.Layout.document]
  )
  func empty(layout: NativeManifestText.Layout) throws {
    #expect(try Self.read(try Self.text(layout, [])).entries.count == 0)
  }

  @Test(
    "An earlier manifest supplies the digests of unchanged files",
    arguments: [NativeManifestText.Layout.document, .lines]
  )
  func earlier(layout: NativeManifestText.Layout) throws {
    let old = Instant(milliseconds: 1_700_000_000_123)
    let recent = Self.generated - .seconds(1)
    let items = [try Self.item("a b", modified: old), try Self.item("new", modified: recent)]
    let earlier = try EarlierManifest(try Self.text(layout, items))
    #expect(earlier.generated == Self.generated)
    #expect(earlier.digest(of: "a%20b", size: 5, modified: old)?.hexadecimal == Self.digest)
    #expect(earlier.digest(of: "a%20b", size: 6, modified: old) == nil)
    #expect(earlier.digest(of: "a%20b", size: 5, modified: old + .milliseconds(1)) == nil)
    #expect(earlier.digest(of: "other", size: 5, modified: old) == nil)
    // The file may have changed again within one tick of the clock.
    #expect(earlier.digest(of: "new", size: 5, modified: recent) == nil)
  }

  @Test(
    "A document without files is refused as an earlier manifest",
    arguments: [
      "", "{}", "hello\n", "{\"format\":\"prefetch-manifest\",\"version\":1,\"items\":[]}",
    ]
  )
  func noManifest(text: String) {
    #expect(throws: Failure.self) { try EarlierManifest(Array(text.utf8)) }
  }
}

extension Instant {
  fileprivate static func - (a: Self, b: Duration) -> Self {
    Instant(milliseconds: a.milliseconds - b.milliseconds)
  }
}
