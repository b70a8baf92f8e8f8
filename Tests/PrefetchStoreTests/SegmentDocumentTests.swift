import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import Testing

@testable import PrefetchStore

@Suite("The further documents of a manifest")
struct SegmentDocumentTests {
  let temporary: TemporaryCache

  init() throws {
    temporary = try TemporaryCache()
  }

  private func open(_ kind: ContentStoreContract.Kind) throws -> any ContentStore {
    switch kind {
    case .memory: MemoryStore()
    case .disk:
      try DiskStore.openForWriting(
        cache: temporary.cache,
        clockStart: Instant(seconds: 4_000_000_000)
      )
    }
  }

  private func record(_ name: String, _ text: String) -> DocumentRecord {
    var record = DocumentRecord(url: "https://a.example/\(name)", digest: SHA256.digest(of: text))
    record.finalURL = "https://b.example/\(name)"
    record.validators = Validators(
      entityTag: "\"\(name)\"",
      lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"
    )
    record.generated = Instant(milliseconds: 7)
    record.isSignature = name.hasSuffix("minisig")
    return record
  }

  @Test(
    "Further documents of a manifest are returned in order and removed when no segment names them",
    arguments: ContentStoreContract.Kind.allCases
  )
  func keeps(_ kind: ContentStoreContract.Kind) throws {
    let store = try open(kind)
    let records = [record("2", "two"), record("1", "one"), record("1.minisig", "sig")]
    _ = try store.commit([
      .segment(SegmentRecord(key: .basics), manifest: try store.stage("m")),
      .documents(
        .basics,
        records,
        bodies: [try store.stage("two"), try store.stage("one"), try store.stage("sig")]
      ),
    ])
    #expect(try store.segments().first?.documents == records)
    // Writing the segment's facts does not change its documents.
    var facts = try #require(try store.segments().first)
    facts.state = .current
    facts.documents = []
    _ = try store.commit([.segment(facts, manifest: nil)])
    #expect(try store.segments().first?.documents == records)
    let inventory = try store.readInventory()
    #expect(try store.missingObjects(of: inventory) == [])

    _ = try store.commit([.documents(.other, [records[0]], bodies: [])])
    _ = try store.commit([.documents(.basics, [records[1]], bodies: [])])
    #expect(try store.text(of: records[0].digest) == "two")
    #expect(throws: Failure.self) { try store.text(of: records[2].digest) }
    _ = try store.commit([.forget(.other)])
    #expect(throws: Failure.self) { try store.text(of: records[0].digest) }
    #expect(try store.segments().first?.documents == [records[1]])
    #expect(try store.text(of: records[1].digest) == "one")
  }

  @Test(
    "Further documents of a manifest are refused without their bodies",
    arguments: ContentStoreContract.Kind.allCases
  )
  func dangling(_ kind: ContentStoreContract.Kind) throws {
    let store = try open(kind)
    #expect(throws: Failure.self) {
      try store.commit([.documents(.basics, [record("1", "one")], bodies: [])])
    }
    #expect(try store.segments().isEmpty)
  }

  @Test(
    "Further documents of a manifest are verified, are no orphans, and are refetched when damaged"
  )
  func upkeep() throws {
    try temporary.run { store in
      _ = try store.commit([
        .segment(SegmentRecord(key: .basics), manifest: nil),
        .documents(.basics, [record("1", "one")], bodies: [try store.stage("one")]),
      ])
    }
    let digest = SHA256.digest(of: "one")
    try temporary.run { store in
      let (text, report) = (try store.text(of: digest), try store.verify())
      #expect(text == "one" && report.checked == 1)
    }
    let path = BodyPaths(cache: temporary.cache).path(of: digest)
    FileTree.setWritable(true, path)
    FileTree.write(Array("two".utf8), to: path)
    let store = try DiskStore.openForWriting(
      cache: temporary.cache,
      clockStart: Instant(seconds: 4_000_000_000)
    )
    let bad = try store.verify().bad
    #expect(bad.map(\.urls) == [["https://a.example/1"]])
    try store.dropDamaged(bad.map(\.digest))
    #expect(try store.segments().first?.documents == [])
    #expect(try store.verify().bad == [])
    try store.finishRun()
  }

  @Test("Documents of a body that is not kept leave no file")
  func passing() throws {
    try temporary.run { store in
      var plan = BodyPlan(expectedSize: 200_000, algorithms: [.sha512])
      plan.keepsBytes = false
      let sink = try store.beginBody(plan)
      let bytes = [UInt8](repeating: 7, count: 200_000)
      unsafe try sink.append(bytes.span.bytes)
      let body = try sink.finish()
      #expect(body.size == 200_000 && body.digest == SHA256.digest(of: bytes))
      #expect(body.prefix.count == StagedBody.prefixLength && body.otherDigests.count == 1)
      store.discard(body)
      #expect(throws: Failure.self) {
        try store.commit([.store(.cached("https://a.example/"), body: body, joining: [])])
      }
    }
  }
}
