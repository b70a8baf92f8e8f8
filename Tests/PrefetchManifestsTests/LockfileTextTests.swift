import PrefetchCore
import PrefetchTestSupport
import Testing

@testable import PrefetchManifests

@Suite("prefetch.lock") struct LockfileTextTests {
  private func read(_ bytes: [UInt8]) throws -> Lockfile {
    try unsafe LockfileText.read(bytes.span.bytes)
  }

  /// Returns a lock with random items, streams and platforms.
  private func lock(_ random: inout SeededRandom) throws -> Lockfile {
    var lock = Lockfile()
    if Bool.random(using: &random) { lock.platform = "linux/x86_64" }
    for name in ["b", "a", "c d"].prefix(Int.random(in: 0...3, using: &random)) {
      var segment = LockedSegment(name: name)
      if Bool.random(using: &random) { segment.list = digest(&random) }
      var (items, pieces): ([ManifestEntry], [LockedPiece]) = ([], [])
      var entries = EntryTable()
      for number in 0..<Int.random(in: 0...5, using: &random) {
        var entry = ManifestEntry(
          url: try WebURL("https://a.example/\(number)?q=\(name.utf8.count)")
        )
        entry.size = Int64.random(in: 0...1 << 40, using: &random)
        entry.digests = [ExpectedDigest(algorithm: .sha256, bytes: digest(&random).bytes)]
        if Bool.random(using: &random) { entry.path = "d/\"ü\"/\(number)" }
        if Int.random(in: 0..<3, using: &random) == 0 {
          entry.type = "hls"
          for piece in 0..<Int.random(in: 1...3, using: &random) {
            pieces.append(
              LockedPiece(
                item: entry.url.string,
                key: "https://a.example/\(number)/\(piece).ts",
                size: 3,
                digest: digest(&random)
              )
            )
          }
        }
        items.append(entry)
      }
      for item in items.shuffled(using: &random) { entries.appendToColumns(item) }
      segment.add(entries, pieces.shuffled(using: &random))
      lock.set(segment)
    }
    return lock
  }

  private func digest(_ random: inout SeededRandom) -> ContentDigest {
    let bytes = (0..<32).map { _ in UInt8.random(in: 1...255, using: &random) }
    return ContentDigest(bytes: bytes) ?? .none
  }

  @Test("A lock that is written and read is the same, and equal locks have equal bytes")
  func roundTrip() throws {
    var random = SeededRandom(48)
    for _ in 0..<200 {
      let lock = try lock(&random)
      let bytes = LockfileText.bytes(of: lock)
      let read = try read(bytes)
      #expect(read == lock)
      #expect(LockfileText.bytes(of: read) == bytes)
      #expect(LockfileChanges(from: lock, to: read).lines.isEmpty)
    }
  }

  @Test("Changes name what was added, changed and removed, in the order of URLs")
  func changes() throws {
    func segment(_ items: [(String, UInt8)]) throws -> Lockfile {
      var lock = Lockfile()
      var segment = LockedSegment(name: "s")
      var entries = EntryTable()
      for (name, byte) in items {
        var entry = ManifestEntry(url: try WebURL("https://a.example/\(name)"))
        entry.size = 1
        let bytes = [UInt8](repeating: byte, count: 32)
        entry.digests = [ExpectedDigest(algorithm: .sha256, bytes: bytes)]
        entries.appendToColumns(entry)
      }
      segment.add(entries)
      lock.set(segment)
      return lock
    }
    let old = try segment([("a", 1), ("b", 1), ("c", 1)])
    let new = try segment([("d", 1), ("c", 2), ("a", 1)])
    let lines = LockfileChanges(from: old, to: new).lines.map { "\($0.mark) \($0.url.suffix(1))" }
    #expect(lines == ["- b", "~ c", "+ d"])
    let all = LockfileChanges(from: nil, to: old).lines.map(\.mark)
    #expect(all == ["+", "+", "+"])
  }

  @Test("Placeholders take the place of secrets, and come back")
  func placeholders() throws {
    var random = SeededRandom(1)
    var lock = try lock(&random)
    while lock.segments.allSatisfy({ $0.items.isEmpty }) { lock = try self.lock(&random) }
    let bytes = LockfileText.bytes(of: lock) { $0.replacing("a.example", with: "${file:host}") }
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(!text.contains("a.example") && text.contains("${file:host}"))
    let filled = try unsafe LockfileText.read(bytes.span.bytes) {
      $0.replacing("${file:host}", with: "a.example")
    }
    #expect(filled == lock)
    #expect(throws: LockfileText.Fault.self) {
      try unsafe LockfileText.read(bytes.span.bytes) { _ in nil }
    }
  }
}
