import PrefetchCore
import Testing

@testable import PrefetchManifests

/// Digests in the fragments of URLs, in every list with URLs.
@Suite("A digest in a fragment of a list")
struct FragmentDigestTests {
  private static let sum = LockReader.sha256
  private static let other = String(repeating: "cd", count: 32)
  private static let strong = String(repeating: "ef", count: 64)

  /// Lists with one item, whose URL ends with the inserted text.
  private static let lists: [(name: String, text: @Sendable (String) -> String)] = [
    ("list", { "https://a.example/x\($0)" }),
    ("list", { "https://b.example/x\thttps://a.example/x\($0)" }),
    (
      "native",
      { #"{"format":"prefetch-manifest","version":1,"items":["https://a.example/x\#($0)"]}"# }
    ),
    (
      "native",
      {
        #"{"format":"prefetch-manifest","version":1,"items":[{"url":"https://a.example/x\#($0)"}]}"#
      }
    ),
    (
      "native",
      {
        #"{"format":"prefetch-manifest","version":1,"items":[{"url":"https://b.example/x","#
          + #""alternates":["https://a.example/x\#($0)"]}]}"#
      }
    ),
    ("json", { #"[{"url":"https://a.example/x\#($0)","revision":"1"}]"# }),
    ("checksums", { "\(String(repeating: "ef", count: 64))  https://a.example/x\($0)" }),
    (
      "sitemap",
      {
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>https://a.example/x\($0.replacing("&", with: "&amp;"))</loc></url></urlset>"
      }
    ),
    (
      "rss",
      {
        "<rss version='2.0'><channel><item><enclosure url='https://a.example/x\($0)'/></item></channel></rss>"
      }
    ),
    (
      "metalink",
      {
        "<metalink xmlns='urn:ietf:params:xml:ns:metalink'><file name='x'><url>https://a.example/x\($0)</url></file></metalink>"
      }
    ),
    (
      "package-lock",
      {
        #"{"lockfileVersion":3,"packages":{"node_modules/x":{"version":"1","resolved":"https://a.example/x\#($0)"}}}"#
      }
    ),
    (
      "pylock",
      {
        "lock-version = '1.0'\n[[packages]]\nname = 'x'\nsdist = { url = 'https://a.example/x\($0)', hashes = {} }"
      }
    ),
  ]

  private func read(_ number: Int, _ fragment: String) -> Result<Manifest, Failure> {
    let (name, text) = Self.lists[number]
    return readText(
      text(fragment),
      format: ManifestFormat(rawValue: name),
      base: nil,
      crossesHosts: true
    )
  }

  @Test("A digest in a fragment is required of the body", arguments: lists.indices)
  func declared(number: Int) throws {
    let entry = try #require(try read(number, "#sha256=\(Self.sum)").get().entries.first)
    let digest = try #require(entry.digests.first { $0.algorithm == .sha256 })
    #expect(digest.description == "sha256:\(Self.sum)", "\(Self.lists[number].name)")
    #expect(!entry.url.string.contains("#"))
  }

  @Test(
    "A malformed digest in a fragment is refused together with its item",
    arguments: lists.indices
  )
  func malformed(number: Int) {
    switch read(number, "#sha256=zz") {
    case .failure(let failure): #expect(failure.message.contains("not a sha256"))
    case .success(let manifest):
      // An unusable mirror costs only the mirror.
      let words = manifest.rejected.map(\.failure.message) + manifest.warnings.map(\.message)
      #expect(words.contains { $0.contains("not a sha256") || $0.contains("its digest") })
      #expect(manifest.entries.allSatisfy { $0.url.host == "b.example" })
    }
  }

  @Test(
    "A digest in a fragment that contradicts the digest beside it is refused",
    arguments: [
      #"{"format":"prefetch-manifest","version":1,"items":[{"url":"https://a.example/x#sha256=SUM","digests":{"sha256":"OTHER"}}]}"#,
      "OTHER  https://a.example/x#sha256=SUM",
      "<metalink xmlns='urn:ietf:params:xml:ns:metalink'><file name='x'><hash type='sha-256'>OTHER</hash><url>https://a.example/x#sha256=SUM</url></file></metalink>",
    ]
  )
  func contradicted(text: String) {
    let text = text.replacing("SUM", with: Self.sum).replacing("OTHER", with: Self.other)
    switch readText(text, base: nil) {
    case .failure(let failure): #expect(failure.message.contains("digest"))
    case .success(let manifest): #expect(manifest.entries.isEmpty && !manifest.rejected.isEmpty)
    }
  }

  @Test(
    "A digest in a fragment is added to one of another algorithm, and other fragments are ignored"
  )
  func together() throws {
    let text = "\(Self.strong)  https://a.example/x#intro&sha256=\(Self.sum)"
    let entry = try #require(try readText(text, base: nil).get().entries.first)
    #expect(Set(entry.digests.map(\.algorithm)) == [.sha256, .sha512])
    #expect(entry.url.string == "https://a.example/x")
  }
}
