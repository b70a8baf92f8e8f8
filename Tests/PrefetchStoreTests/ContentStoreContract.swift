import PrefetchCore
import PrefetchCrypto
import PrefetchStore
import PrefetchTestSupport
import Testing

/// Contract of every content store, on disk or in memory.
@Suite("A content store")
struct ContentStoreContract {
  enum Kind: CaseIterable {
    case disk
    case memory
  }

  let temporary: TemporaryCache

  init() throws {
    temporary = try TemporaryCache()
  }

  private func open(_ kind: Kind) throws -> any ContentStore {
    switch kind {
    case .memory: MemoryStore()
    case .disk:
      try DiskStore.openForWriting(
        cache: temporary.cache,
        clockStart: Instant(seconds: 4_000_000_000)
      )
    }
  }

  @Test(
    "A store returns committed records, ordered by the bytes of their URLs",
    arguments: Kind.allCases
  )
  func givesBack(_ kind: Kind) throws {
    let store = try open(kind)
    var record = ContentRecord(url: "https://a.example/b", id: "b")
    record.provider = "shop"
    record.type = "thumbnail"
    record.state = .cached
    record.mime = "text/plain"
    record.status = 200
    record.headers = HeaderBlock([
      HeaderField("Content-Type", "text/plain"), HeaderField("X-Odd", ""),
      HeaderField("x-long", String(repeating: "ä", count: 300)),
    ])
    record.validators = Validators(
      entityTag: "\"1\"",
      lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"
    )
    record.finalURL = "https://b.example/b"
    record.fetchedAt = Instant(milliseconds: 1)
    record.validatedAt = Instant(milliseconds: 2)
    record.freshness = .undeclared(until: Instant(milliseconds: 77))
    record.hops = [
      HopTerms(
        url: "https://a.example/old",
        freshness: .alwaysRevalidate,
        mustRevalidate: true,
        variance: Variance.Hop(url: nil, names: ["accept", "x-key"], digest: .max)
      ),
      HopTerms(url: "https://b.example/", freshness: .declared(until: Instant(milliseconds: 5))),
    ]
    record.variance = Variance([
      Variance.Hop(url: nil, names: ["accept", "x-key"], digest: .max),
      Variance.Hop(url: "https://b.example/new", names: ["*"], digest: 0),
    ])
    record.expiresAt = Instant(milliseconds: -4)
    record.failure = Failure(.stalled, "too slow", isTransient: true)
    let body = try store.stage("hello")
    _ = try store.commit([
      .store(record, body: body, joining: []),
      .store(.init(url: "https://a.example/Z", id: "z"), body: nil, joining: []),
    ])

    record.digest = body.digest
    record.size = 5
    let records = try store.records()
    #expect(records.map(\.url) == ["https://a.example/Z", "https://a.example/b"])
    #expect(records[1] == record)
    #expect(try store.holders(records.map(\.url)) == [[], []])
    #expect(try store.text(of: body.digest) == "hello")
  }

  @Test(
    "A store holds bodies of any size",
    arguments: [0, 1, 65_536, 65_537, 1_000_000],
    Kind.allCases
  )
  func sizes(_ count: Int, _ kind: Kind) throws {
    let store = try open(kind)
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let sink = try store.beginBody(BodyPlan(expectedSize: Int64(count), algorithms: [.sha512]))
    for start in stride(from: 0, to: count, by: 50_000) {
      let chunk = Array(bytes[start..<min(count, start + 50_000)])
      try sink.append(unsafe chunk.span.bytes)
    }
    #expect(sink.size == Int64(count))
    let body = try sink.finish()
    #expect(body.digest == SHA256.digest(of: bytes))
    #expect(body.otherDigests[.sha512]?.count == 64)
    let staged = try store.withBytes(of: body) { unsafe $0.withUnsafeBytes { unsafe Array($0) } }
    #expect(staged == bytes)

    _ = try store.commit([.store(.cached("https://a.example/"), body: body, joining: [])])
    let stored = try store.withObject(body.digest) {
      unsafe $0.withUnsafeBytes { unsafe Array($0) }
    }
    #expect(stored == bytes)
  }

  @Test("A store computes the sums of a body's contents", arguments: Kind.allCases)
  func innerSums(_ kind: Kind) throws {
    let store = try open(kind)
    let emptyZip: [UInt8] = [0x50, 0x4B, 5, 6] + [UInt8](repeating: 0, count: 18)
    for (bytes, isZip) in [(emptyZip, true), (Array("no zip".utf8), false), ([], false)] {
      let sink = try store.beginBody(BodyPlan(algorithms: [.goZip, .goMod, .sha512]))
      try sink.append(unsafe bytes.span.bytes)
      let body = try sink.finish()
      #expect(body.otherDigests[.sha512]?.count == 64)
      #expect(body.otherDigests[.goMod]?.count == 32)
      #expect(body.otherDigests[.goZip] == (isZip ? SHA256.digest(of: "").bytes : nil))
      #expect(body.digestFailure?.code == (isZip ? nil : .digestMismatch))
      store.discard(body)
    }
  }

  @Test("A store forgets abandoned and discarded bodies", arguments: Kind.allCases)
  func discards(_ kind: Kind) throws {
    let store = try open(kind)
    let sink = try store.beginBody(BodyPlan())
    let bytes = Array("x".utf8)
    try sink.append(unsafe bytes.span.bytes)
    sink.abandon()
    sink.abandon()
    #expect(throws: Failure.self) { try sink.finish() }
    let body = try store.stage("y")
    store.discard(body)
    #expect(throws: Failure.self) {
      try store.commit([.store(.cached("https://a.example/"), body: body, joining: [])])
    }
    #expect(try store.readInventory().count == 0)
  }

  @Test("A store replaces a body and removes the old one", arguments: Kind.allCases)
  func replaces(_ kind: Kind) throws {
    let store = try open(kind)
    try store.put(["https://a.example/": "old"], in: .basics)
    try store.put(["https://a.example/": "new"], in: nil)
    #expect(try store.records().map(\.digest) == [SHA256.digest(of: "new")])
    #expect(try store.holders(["https://a.example/"]) == [[0]])
    #expect(throws: Failure.self) { try store.text(of: SHA256.digest(of: "old")) }
  }

  @Test(
    "A store keeps an item while a segment of any configuration holds it",
    arguments: Kind.allCases
  )
  func sharedBetweenIdentities(_ kind: Kind) throws {
    let store = try open(kind)
    let urls = ["https://a.example/1", "https://a.example/2"]
    try store.put([urls[0]: "one", urls[1]: "two"], in: .basics)
    _ = try store.commit([.joinNew(.other, urls: [urls[0]])])
    #expect(try store.holders(urls) == [[0, 1], [0]])

    let removed = try store.commit([.forget(.basics)])
    #expect(removed.map(\.url) == ["https://a.example/2"])
    #expect(removed.map(\.size) == [3])
    #expect(try store.records().map(\.url) == ["https://a.example/1"])
    #expect(try store.segments().map(\.key) == [.other])

    let rest = try store.leave(.other, ["https://a.example/1", "https://none"])
    #expect(rest.map(\.url) == ["https://a.example/1"])
    #expect(throws: Failure.self) { try store.text(of: SHA256.digest(of: "one")) }
  }

  @Test("A store keeps items that no segment ever held", arguments: Kind.allCases)
  func onDemandStays(_ kind: Kind) throws {
    let store = try open(kind)
    try store.put(["https://a.example/get": "got"], in: nil)
    let removed = try store.leave(.basics, ["https://a.example/get"])
    #expect(removed.isEmpty)
    #expect(try store.readInventory().count == 1)
  }

  @Test("A store keeps an object that another item still names", arguments: Kind.allCases)
  func sharedObject(_ kind: Kind) throws {
    let store = try open(kind)
    try store.put(["https://a.example/1": "same", "https://a.example/2": "same"], in: .basics)
    _ = try store.leave(.basics, ["https://a.example/1"])
    #expect(try store.text(of: SHA256.digest(of: "same")) == "same")
    _ = try store.leave(.basics, ["https://a.example/2"])
    #expect(throws: Failure.self) { try store.text(of: SHA256.digest(of: "same")) }
  }

  @Test("A store keeps the facts and the manifest of a segment", arguments: Kind.allCases)
  func segments(_ kind: Kind) throws {
    let store = try open(kind)
    var record = SegmentRecord(key: .basics)
    record.priority = 3
    record.manifestURL = "https://a.example/m"
    record.manifestFinalURL = "https://b.example/m"
    record.validators = Validators(entityTag: "W/\"m\"")
    record.generated = Instant(milliseconds: 7)
    record.itemCount = 2
    record.lastChecked = Instant(milliseconds: 8)
    record.lastSuccess = Instant(milliseconds: 9)
    record.state = .current
    _ = try store.commit([.segment(record, manifest: try store.stage("manifest 1"))])
    record.manifest = SHA256.digest(of: "manifest 1")
    #expect(try store.segments() == [record])

    _ = try store.commit([.segment(record, manifest: try store.stage("manifest 2"))])
    #expect(try store.text(of: SHA256.digest(of: "manifest 2")) == "manifest 2")
    #expect(throws: Failure.self) { try store.text(of: SHA256.digest(of: "manifest 1")) }
  }

  @Test("A store applies all changes of a commit or none", arguments: Kind.allCases)
  func allOrNothing(_ kind: Kind) throws {
    let store = try open(kind)
    #expect(throws: Failure.self) {
      try store.commit([
        .store(.cached("https://a.example/"), body: try store.stage("a"), joining: []),
        .joinNew(.basics, urls: ["https://a.example/", "https://unknown.example/"]),
      ])
    }
    #expect(try store.readInventory().count == 0)
    #expect(try store.segments().isEmpty)
  }

  @Test("A store refuses a record of a body that it does not hold", arguments: Kind.allCases)
  func refusesDangling(_ kind: Kind) throws {
    let store = try open(kind)
    var record = ContentRecord.cached("https://a.example/")
    record.digest = SHA256.digest(of: "never stored")
    #expect(throws: Failure.self) { try store.commit([.store(record, body: nil, joining: [])]) }
    #expect(try store.readInventory().count == 0)
  }

  @Test("A store accepts a record of a body that another item brought", arguments: Kind.allCases)
  func reusesBody(_ kind: Kind) throws {
    let store = try open(kind)
    try store.put(["https://a.example/1": "same"], in: nil)
    var record = ContentRecord.cached("https://a.example/2")
    record.digest = SHA256.digest(of: "same")
    record.size = 4
    _ = try store.commit([.store(record, body: nil, joining: [])])
    #expect(try store.records().map(\.size) == [4, 4])
  }

  @Test("A store accepts hundreds of bodies in one commit", arguments: Kind.allCases)
  func manyBodies(_ kind: Kind) throws {
    let store = try open(kind)
    var changes: [StoreChange] = []
    for number in 0..<600 {
      let body = try store.stage("body \(number)")
      let record = ContentRecord.cached("https://a.example/\(number)")
      changes.append(.store(record, body: body, joining: []))
    }
    _ = try store.commit(changes)
    for number in [0, 299, 599] {
      #expect(try store.text(of: SHA256.digest(of: "body \(number)")) == "body \(number)")
    }
    #expect(try store.readInventory().count == 600)
  }
}
