import PrefetchCore
import PrefetchTestSupport
import Testing

@testable import PrefetchManifests

@Suite("Repositories of a hub as lists") struct HubListTests {
  private static let api = "https://hub.example/mirror/api/datasets/acme/words"
  private static let commit = String(repeating: "c0", count: 20)

  private func read(
    _ text: String,
    _ path: String,
    isTree: Bool = false,
    link: PageHint.Link = .unstated
  ) throws -> Manifest {
    let url = try WebURL("\(Self.api)\(path)")
    var source = ManifestSource(bytes: .file("m"), base: url, mime: nil, name: url.string)
    source.address = url
    source.page = PageHint(url, link: link)
    source.rules.format = .hf
    source.documentRole = isTree ? .hubTree : nil
    return try readBytes(Array(text.utf8), source).get()
  }

  @Test("A revision leads to the tree of its commit, below the address of the hub")
  func revision() throws {
    let text = HubText.revision("acme/words", Self.commit, [])
    let manifest = try read(text, "/revision/refs%2Fpr%2F1")
    #expect(manifest.itemCount == 0)
    #expect(
      manifest.furtherDocuments.map(\.url.string)
        == ["\(Self.api)/tree/\(Self.commit)?recursive=true&expand=false"]
    )
    #expect(manifest.furtherDocuments.allSatisfy { $0.isImmutable })
  }

  @Test(
    "A revision without a commit is refused",
    arguments: ["{}", "{\"sha\": null}", "{\"sha\": \"main\"}", "{\"sha\": \"../../x\"}", "[]"]
  )
  func noCommit(text: String) {
    #expect(throws: Failure.self) { try read(text, "/revision/main") }
  }

  @Test("A large file has its SHA-256, a small one only the name of its git blob")
  func files() throws {
    let files = [
      HubText.File("a b/model.bin", "large", isLarge: true), HubText.File("config.json", "{}"),
    ]
    let manifest = try read(HubText.tree(files), "/tree/\(Self.commit)", isTree: true)
    let site = "https://hub.example/mirror/datasets/acme/words/resolve/\(Self.commit)"
    #expect(
      manifest.entries.map(\.url.string) == ["\(site)/a%20b/model.bin", "\(site)/config.json"]
    )
    #expect(manifest.entries.map(\.path) == ["a b/model.bin", "config.json"])
    #expect(manifest.entries.map(\.size) == [5, 2])
    #expect(manifest.entries.map(\.digests.count) == [1, 0])
    #expect(manifest.entries.map(\.revision) == [nil, files[1].blob])
    #expect(manifest.entries.allSatisfy { $0.lifetime == .immutable })
  }

  @Test(
    "A file with an unsafe path or a spoilt digest is refused alone",
    arguments: [
      "{\"type\": \"file\", \"path\": \"../x\", \"size\": 1}",
      "{\"type\": \"file\", \"path\": \"/x\", \"size\": 1}",
      "{\"type\": \"file\", \"size\": 1}",
      "{\"type\": \"file\", \"path\": \"x\", \"lfs\": {\"oid\": \"12\", \"size\": 1}}",
      "{\"type\": \"file\", \"path\": \"x\", \"lfs\": {}}",
    ]
  )
  func refused(node: String) throws {
    let text = "[\(node), {\"type\": \"file\", \"path\": \"y\", \"size\": 1}]"
    let manifest = try read(text, "/tree/\(Self.commit)", isTree: true)
    #expect(manifest.entries.map(\.path) == ["y"])
    #expect(manifest.rejected.count == 1)
  }

  @Test("A next page must be on the server of the hub")
  func pages() throws {
    let next = "\(Self.api)/tree/\(Self.commit)?cursor=Zg%3D%3D&limit=1"
    let text = HubText.tree([HubText.File("x", "x")])
    let path = "/tree/\(Self.commit)?recursive=true"
    let manifest = try read(text, path, isTree: true, link: .next(next))
    #expect(manifest.furtherDocuments.map(\.url.string) == [next])
    #expect(throws: Failure.self) {
      try read(text, path, isTree: true, link: .next("https://other.example/tree?cursor=1"))
    }
    #expect(try read(text, path, isTree: true).furtherDocuments.isEmpty)
  }

  @Test(
    "An address that names no revision is refused",
    arguments: ["/x", "/resolve/main", "/revision"]
  )
  func foreignAddress(path: String) {
    let text = HubText.revision("acme/words", Self.commit, [])
    #expect(throws: Failure.self) { try read(text, path) }
  }
}
