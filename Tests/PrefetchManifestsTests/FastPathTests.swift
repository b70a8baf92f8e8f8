import PrefetchCore
import PrefetchDocuments
import Testing

@testable import PrefetchManifests

/// The way over bytes against the way over trees.
@Suite struct FastPathTests {
  static func tree(_ bytes: [UInt8]) -> Result<Manifest, Failure> {
    do throws(Failure) {
      return .success(try NativeManifest.readTree(bytes, source: ManifestText.source))
    } catch {
      return .failure(error)
    }
  }

  static func layout(_ bytes: [UInt8], usesFastPath: Bool = true) -> Result<Manifest, Failure>? {
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe NativeLayout.read(bytes, source: ManifestText.source, usesFastPath: usesFastPath)
    }
  }

  @Test("Valid manifests with invalid items are read by the short path with the same result")
  func documents() {
    var text = ManifestText(seed: 1)
    var (fast, columnCount) = (0, 0)
    for _ in 0..<ManifestText.rounds {
      let bytes = text.document()
      let expected = Self.tree(bytes)
      guard let found = Self.layout(bytes) else { continue }
      fast += 1
      #expect(found == expected, "\(String(decoding: bytes, as: UTF8.self))")
      guard case .success(let manifest) = found else { continue }
      columnCount += manifest.entries.indices.count { !manifest.entries.hasExtras(at: $0) }
    }
    #expect(fast > ManifestText.rounds / 3)
    #expect(columnCount > ManifestText.rounds / 20)
  }

  @Test("No input crashes the short path, and its result equals that of a tree")
  func mutations() {
    var text = ManifestText(seed: 2)
    var (good, bad) = (0, 0)
    for _ in 0..<ManifestText.rounds {
      let bytes = text.mutated(text.document())
      let expected = Self.tree(bytes)
      let found = Self.layout(bytes)
      guard case .success(let manifest) = expected else {
        bad += 1
        if let found, found != expected, !isLines(bytes, found) {
          Issue.record("\(String(decoding: bytes, as: UTF8.self)): \(found), not \(expected)")
        }
        continue
      }
      good += 1
      guard let found else { continue }
      #expect(found == .success(manifest), "\(String(decoding: bytes, as: UTF8.self))")
    }
    #expect(good > 0)
    #expect(bad > 0)
  }

  /// Returns whether the bytes may be a manifest of lines: a truncated object followed by more.
  private func isLines(_ bytes: [UInt8], _ found: Result<Manifest, Failure>) -> Bool {
    let long = Self.layout(bytes, usesFastPath: false)
    return found == long && DocumentReader.read(bytes, source: "m", syntax: .json).node == nil
  }

  @Test("Items in lines have the same result, plain or not")
  func lines() {
    var text = ManifestText(seed: 3)
    var read = 0
    for _ in 0..<ManifestText.rounds / 2 {
      let head = "{\"format\": \"prefetch-manifest\", \"version\": 1}\n"
      let items = (0..<text.random(4)).map { _ in text.item() }
      var bytes = Array((head + items.map { $0 + "\n" }.joined()).utf8)
      if text.random(2) == 0 { bytes = text.mutated(bytes) }
      let found = Self.layout(bytes)
      if case .success = found { read += 1 }
      #expect(found == Self.layout(bytes, usesFastPath: false))
    }
    #expect(read > ManifestText.rounds / 8)
  }

  @Test(
    "Members of an item may be in any order",
    arguments: [
      "{\"items\": [\"x\", \"/y\"], \"version\": 1, \"base\": \"d/\", \"format\": \"prefetch-manifest\"}",
      "{\"base\": \"d/\", \"items\": [\"x\", \"/y\"], \"version\": 1, \"format\": \"prefetch-manifest\"}",
    ]
  )
  func order(text: String) throws {
    let manifest = try #require(Self.layout(Array(text.utf8))).get()
    #expect(
      manifest.entries.map(\.url.string) == [
        "https://cdn.example/app/d/x", "https://cdn.example/y",
      ]
    )
  }

  @Test("The keys of items are distinguished by their bytes")
  func members() throws {
    let names = [
      "url", "size", "digests", "mime", "id", "provider", "type", "integrity", "title", "etag",
      "ttl", "expires", "path", "priority", "headers", "network", "mtime", "alternates",
      "required", "categories", "thumbnail", "behavior", "seconds", "info",
    ]
    var found: [NativeItemFields.Member?] = []
    for name in names {
      try unsafe Array("\(name)\"........".utf8).withUnsafeBytes { bytes in
        let cursor = try #require(unsafe JSONCursor(bytes))
        let key = JSONCursor.Stretch(start: 0, count: name.utf8.count)
        found.append(NativeItemFields.Member(cursor.number(of: key), length: key.count))
      }
    }
    #expect(found == NativeItemFields.Member.allCases.map { $0 })
  }
}
