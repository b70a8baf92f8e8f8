import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import Testing

/// Fragments of URLs in configurations.
@Suite struct FragmentTests {
  private static let sum = String(repeating: "ab", count: 32)
  private static let other = String(repeating: "cd", count: 32)

  @Test(
    "A digest in a URL's fragment is required of the body",
    arguments: [
      "\"https://a.example/x#sha256=\(sum)\"", "{url: \"https://a.example/x#sha256=\(sum)\"}",
      "{url: \"https://a.example/x#sha256=\(sum)\", sha256: \(sum)}",
      "{url: \"https://a.example/x#sha256=\(sum)\", digests: {sha256: \(sum)}}",
      "{url: \"https://a.example/x\", alternates: [\"https://b.example/x#sha256=\(sum)\"]}",
    ]
  )
  func declared(item: String) throws {
    let loaded = load(yaml: "segments: [{name: s, urls: [\(item)]}]")
    #expect(loaded.rendered == "\n")
    let entry = try #require(loaded.configuration.segments[0].urls[0].manifestEntry)
    #expect(entry.digests.map(\.description) == ["sha256:\(Self.sum)"])
    #expect(entry.url.string == "https://a.example/x")
    #expect(loaded.canonical("segments.0.urls.0.url") == .string("https://a.example/x"))
  }

  @Test(
    "A malformed or contradicting digest in a URL's fragment is an error",
    arguments: [
      ("\"https://a.example/x#sha256=zz\"", "config.bad-url"),
      ("{url: \"https://a.example/x#sha512=\(sum)\"}", "config.bad-url"),
      ("{url: \"https://a.example/x#sha256=\(sum)\", sha256: \(other)}", "config.conflict"),
      (
        "{url: \"https://a.example/x\", thumbnail: \"https://a.example/y#md5=x\"}",
        "config.bad-url"
      ),
      (
        "{url: \"https://a.example/x\", digests: {sha256: \(other)}, "
          + "alternates: [\"https://b.example/x#sha256=\(sum)\"]}",
        "config.conflict"
      ),
    ]
  )
  func refused(item: String, code: String) {
    #expect(load(yaml: "segments: [{name: s, urls: [\(item)]}]").codes == [code])
  }

  @Test("A fragment without a meaning is reported by `check` only")
  func useless() {
    let loaded = load(
      yaml: """
        segments:
          - {name: s, base: "https://a.example/#x", urls: ["https://a.example/x#intro"]}
          - {name: t, manifest: "https://a.example/list#part"}
        """
    )
    #expect(loaded.rendered == "\n")
    #expect(loaded.securityLints.map(\.code) == Array(repeating: "config.fragment", count: 3))
    #expect(loaded.securityLints.map(\.severity) == Array(repeating: .warning, count: 3))
    #expect(
      loaded.securityLints.map(\.path) == [
        "segments[0].base", "segments[0].urls[0].url", "segments[1].manifest",
      ]
    )
  }

  @Test("A digest in the fragment of a manifest's URL is an error")
  func manifest() {
    let loaded = load(
      yaml: "segments: [{name: s, manifest: \"https://a.example/list#sha256=\(Self.sum)\"}]"
    )
    #expect(loaded.codes == ["config.bad-url"])
  }
}
