import Glibc
import PrefetchCore
import PrefetchCrypto
import PrefetchStore
import Testing

@Suite("A part of a body")
struct KeptPartTests {
  let temporary: TemporaryCache
  /// Now, since parts that are days old are tidied away.
  let start: Instant

  init() throws {
    temporary = try TemporaryCache()
    start = Instant(seconds: Int64(time(nil)) + 60)
  }

  private static let key = "https://a.example/big"
  private static let described = PartialBody(
    source: "https://b.example/big",
    validator: "\"1\"",
    offset: 0,
    wholeSize: 3_000_000,
    head: head("\"1\"")
  )
  private static let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

  /// Returns a head with an unusual name and with bytes that are not text.
  private static func head(_ tag: String) -> HeaderBlock {
    var head = HeaderBlock([
      HeaderField("ETag", tag), HeaderField("Content-Type", "video/mp4"),
      HeaderField("X-Empty", ""),
    ])
    let value = (0x20...0xFF).map { UInt8($0) }
    unsafe head.append(name: Array("X-Odd".utf8).span.bytes, value: value.span.bytes)
    return head
  }

  private var folder: String {
    temporary.cache + "/partial"
  }

  private var name: String {
    SHA256.digest(of: Self.key).hexadecimal
  }

  private func open() throws -> DiskStore {
    try DiskStore.openForWriting(cache: temporary.cache, clockStart: start)
  }

  private func plan(_ part: PartialBody = described, key: String = key) -> BodyPlan {
    BodyPlan(
      expectedSize: part.wholeSize,
      algorithms: [.sha512],
      partialKey: key,
      resumption: .with(part)
    )
  }

  private func append(_ range: Range<Int>, to sink: any BodySink) throws {
    for start in stride(from: range.lowerBound, to: range.upperBound, by: 50_000) {
      let chunk = Array(Self.bytes[start..<min(range.upperBound, start + 50_000)])
      try sink.append(unsafe chunk.span.bytes)
    }
  }

  /// Leaves a partial body behind as a kill does: only written bytes.
  private func leavePart(of count: Int, in store: DiskStore) throws {
    let sink = try store.beginBody(plan())
    try append(0..<count, to: sink)
  }

  @Test("A part of a body is continued by a later run, and the whole body becomes an object")
  func continued() throws {
    var store = try open()
    let sink = try store.beginBody(plan())
    try append(0..<1_234_567, to: sink)
    var expected = Self.described
    expected.offset = 1_234_567
    #expect(sink.suspend() == expected)
    #expect(throws: Failure.self) { try append(0..<1, to: sink) }
    try store.close()

    store = try open()
    #expect(try store.partials() == [Self.key: expected])
    let rest = try store.beginBody(plan(expected))
    #expect(rest.size == 1_234_567)
    try append(1_234_567..<3_000_000, to: rest)
    let body = try rest.finish()
    #expect(body.digest == SHA256.digest(of: Self.bytes))
    #expect(body.size == 3_000_000)
    #expect(try body.otherDigests == wholeDigests(store))
    #expect(body.prefix == Array(Self.bytes.prefix(StagedBody.prefixLength)))
    _ = try store.commit([.store(.cached(Self.key), body: body, joining: [])])
    #expect(FileTree.names(folder).isEmpty)
    #expect(try store.verify().bad.isEmpty)
    let path = store.objectPath(body.digest)
    #expect(FileTree.status(path).map { $0.st_mode & 0o777 } == 0o444)
    #expect(FileTree.status(path)?.st_nlink == 1)
  }

  @Test("A part of a body keeps the headers and the size of the last response")
  func renewed() throws {
    var store = try open()
    var part = Self.described
    part.wholeSize = nil
    let first = try store.beginBody(plan(part))
    try append(0..<1_200_000, to: first)
    part = try #require(first.suspend())
    #expect(part.head == Self.described.head)
    part.wholeSize = 3_000_000
    part.head = Self.head("\"renewed\"")
    let second = try store.beginBody(plan(part))
    try append(1_200_000..<1_500_000, to: second)
    part.offset = 1_500_000
    #expect(second.suspend() == part)
    try store.close()
    store = try open()
    #expect(try store.partials() == [Self.key: part])
  }

  @Test("A part of a body keeps only the relevant headers of an oversized block")
  func longHead() throws {
    let store = try open()
    var part = Self.described
    part.head = HeaderBlock(
      (0..<280).map { HeaderField("X-\($0)", String(repeating: "x", count: 350)) }
    )
    part.head.append(HeaderField("Content-Type", "video/mp4"))
    let sink = try store.beginBody(plan(part))
    try append(0..<1_500_000, to: sink)
    let kept = try #require(sink.suspend())
    #expect(kept.head == HeaderBlock([HeaderField("Content-Type", "video/mp4")]))
    #expect(try store.partials() == [Self.key: kept])
  }

  @Test(
    "A part of at least 64 KiB is kept when the transfer breaks, without a name until it is large",
    arguments: [
      (65_535, 900_000, nil), (65_536, 900_000, 65_536), (65_536, nil, 65_536),
      (899_999, 900_000, 899_999), (899_999, nil, 899_999),
    ] as [(Int, Int64?, Int64?)]
  )
  func small(_ count: Int, _ whole: Int64?, _ offset: Int64?) throws {
    var store = try open()
    var part = Self.described
    part.wholeSize = whole
    let sink = try store.beginBody(plan(part))
    try append(0..<count, to: sink)
    #expect(FileTree.names(folder).isEmpty)
    let kept = sink.suspend()
    #expect(kept?.offset == offset)
    #expect(FileTree.names(folder) == (offset == nil ? [] : ["\(name).body", "\(name).facts"]))
    try store.close()
    store = try open()
    #expect(try store.partials() == (kept.map { [Self.key: $0] } ?? [:]))
    guard let kept else { return }
    let rest = try store.beginBody(plan(kept))
    try append(count..<900_000, to: rest)
    let body = try rest.finish()
    #expect(body.digest == SHA256.digest(of: Array(Self.bytes[..<900_000])))
    _ = try store.commit([.store(.cached(Self.key), body: body, joining: [])])
    #expect(FileTree.names(folder).isEmpty)
  }

  @Test("A part of less than 1 MiB is dropped where another process keeps one")
  func smallAndOther() throws {
    let store = try open()
    let first = try store.beginBody(plan())
    try append(0..<1_500_000, to: first)
    var part = Self.described
    part.wholeSize = 900_000
    let second = try store.beginBody(plan(part))
    try append(0..<800_000, to: second)
    #expect(second.suspend() == nil)
    #expect(first.suspend()?.offset == 1_500_000)
  }

  @Test("A part without headers from an earlier version is ignored")
  func olderFacts() throws {
    let store = try open()
    let sink = try store.beginBody(plan())
    try append(0..<1_500_000, to: sink)
    _ = sink.suspend()
    let path = "\(folder)/\(name).facts"
    let text = String(decoding: try #require(FileTree.read(path)), as: UTF8.self)
    var lines = text.split(separator: "\n").dropLast().map(String.init)
    lines[0] = "prefetch-partial/1"
    lines.removeAll { $0.hasPrefix("head ") }
    let facts = lines.joined(separator: "\n") + "\n"
    let sum = SHA256.digest(of: facts).hexadecimal.prefix(16)
    FileTree.write(Array((facts + "sum \(sum)\n").utf8), to: path)
    #expect(try store.partials().isEmpty)
    let whole = try store.beginBody(plan())
    try append(0..<3_000_000, to: whole)
    #expect(try whole.finish().digest == SHA256.digest(of: Self.bytes))
  }

  private func wholeDigests(_ store: DiskStore) throws -> [DigestAlgorithm: [UInt8]] {
    let hasher = try BodyHasher(alsoHashing: [.sha512])
    unsafe hasher.update(Self.bytes.span.bytes)
    return hasher.finish().others
  }

  @Test("A part after a kill has the bytes that were written")
  func afterKill() throws {
    try leavePart(of: 2_000_000, in: try open())
    let store = try open()
    let part = try #require(try store.partials()[Self.key])
    // Bytes in the write buffer are lost with the process.
    #expect(part.offset > 1_900_000)
    let rest = try store.beginBody(plan(part))
    try append(Int(part.offset)..<3_000_000, to: rest)
    #expect(try rest.finish().digest == SHA256.digest(of: Self.bytes))
  }

  @Test(
    "A part after a restart of the machine has the bytes that were sealed",
    arguments: [true, false]
  )
  func afterReboot(_ isSealed: Bool) throws {
    let store = try open()
    let sink = try store.beginBody(plan())
    try append(0..<1_500_000, to: sink)
    let sealed = isSealed ? sink.suspend() : nil
    withExtendedLifetime(sink) {}
    try pretendReboot()
    let body = try #require(FileTree.read("\(folder)/\(name).body"))
    FileTree.write(body + [UInt8](repeating: 0, count: 4096), to: "\(folder)/\(name).body")
    #expect(try store.partials()[Self.key] == sealed)
    guard let sealed else { return }
    let rest = try store.beginBody(plan(sealed))
    try append(1_500_000..<3_000_000, to: rest)
    #expect(try rest.finish().digest == SHA256.digest(of: Self.bytes))
  }

  /// Rewrites the facts with another boot's uptime.
  private func pretendReboot() throws {
    let path = "\(folder)/\(name).facts"
    let text = String(decoding: try #require(FileTree.read(path)), as: UTF8.self)
    var lines = text.split(separator: "\n").map(String.init)
    lines[5] = "boot 00000000-0000-0000-0000-000000000000"
    let body = lines[..<9].joined(separator: "\n") + "\n"
    let sum = SHA256.digest(of: body).hexadecimal.prefix(16)
    FileTree.write(Array((body + "sum \(sum)\n").utf8), to: path)
  }

  @Test("A part of a body of unknown size is kept once it is large")
  func growing() throws {
    let store = try open()
    var part = Self.described
    part.wholeSize = nil
    let sink = try store.beginBody(plan(part))
    try append(0..<900_000, to: sink)
    #expect(FileTree.names(folder).isEmpty)
    try append(900_000..<1_300_000, to: sink)
    #expect(FileTree.names(folder) == ["\(name).body", "\(name).facts"])
    part.offset = 1_300_000
    #expect(sink.suspend() == part)
  }

  enum Unkept: CaseIterable {
    case small
    case noKey
    case noValidator
    case nothingArrived
    case oddText
  }

  @Test(
    "A part that cannot be continued or is too small leaves no file",
    arguments: Unkept.allCases
  )
  func unkept(_ reason: Unkept) throws {
    let store = try open()
    var part = Self.described
    if reason == .small { part.wholeSize = 60_000 }
    if reason == .oddText { part.validator = "\"1\"\n" }
    var plan = plan(part)
    if reason == .noKey { plan.partialKey = nil }
    if reason == .noValidator { plan = BodyPlan(algorithms: [.sha512], partialKey: Self.key) }
    let sink = try store.beginBody(plan)
    let count = reason == .nothingArrived ? 0 : reason == .small ? 50_000 : 800_000
    try append(0..<count, to: sink)
    #expect(sink.suspend() == nil)
    #expect(FileTree.names(folder).isEmpty)
    #expect(try store.partials().isEmpty)
  }

  enum Change: CaseIterable {
    case gone
    case shorter
    case noFacts
    case damagedFacts
    case otherValidator
    case otherSource
    case otherSize
    case farther
    case published
    case pipe
  }

  @Test(
    "A part that differs from its description is refused as transient, and not offered",
    arguments: Change.allCases
  )
  func changed(_ change: Change) throws {
    let store = try open()
    let sink = try store.beginBody(plan())
    try append(0..<1_500_000, to: sink)
    var part = try #require(sink.suspend())
    let body = "\(folder)/\(name).body"
    let facts = "\(folder)/\(name).facts"
    switch change {
    case .gone: unsafe unlink(body)
    case .shorter: FileTree.write(Array(Self.bytes[..<1_400_000]), to: body)
    case .noFacts: unsafe unlink(facts)
    case .damagedFacts:
      var bytes = try #require(FileTree.read(facts))
      bytes[bytes.count / 2] ^= 1
      FileTree.write(bytes, to: facts)
    case .otherValidator: part.validator = "\"2\""
    case .otherSource: part.source = "https://c.example/"
    case .otherSize: part.wholeSize = 2_000_000
    case .farther: part.offset = 1_500_001
    case .published: unsafe link(body, temporary.path + "/object")
    case .pipe:
      unsafe unlink(body)
      unsafe mkfifo(body, 0o600)
    }
    if ![.otherValidator, .otherSource, .otherSize, .farther].contains(change) {
      #expect(try store.partials().isEmpty)
    }
    let failure = #expect(throws: Failure.self) { try store.beginBody(plan(part)) }
    #expect(failure?.isTransient == true)
    if change == .published {
      #expect(FileTree.read(temporary.path + "/object")?.count == 1_500_000)
    }
    // The broken part hinders no writer: the body is fetched from its beginning.
    let whole = try store.beginBody(plan())
    try append(0..<3_000_000, to: whole)
    _ = try store.commit([.store(.cached(Self.key), body: try whole.finish(), joining: [])])
    #expect(try store.verify().bad.isEmpty)
    #expect(FileTree.names(folder).isEmpty)
  }

  @Test("A part belongs to one writer, and another one fetches the body without a part")
  func twoWriters() throws {
    let store = try open()
    let first = try store.beginBody(plan())
    try append(0..<1_500_000, to: first)
    let part = try #require(try store.partials()[Self.key])
    let failure = #expect(throws: Failure.self) { try store.beginBody(plan(part)) }
    #expect(failure?.isTransient == true)
    let second = try store.beginBody(plan())
    try append(0..<3_000_000, to: second)
    #expect(try second.finish().digest == SHA256.digest(of: Self.bytes))
    store.forgetPartial(Self.key)
    #expect(FileTree.names(folder).count == 2)
    try append(1_500_000..<1_600_000, to: first)
    #expect(first.suspend()?.offset == 1_600_000)
    store.forgetPartial(Self.key)
    #expect(FileTree.names(folder).isEmpty)
  }

  enum End: CaseIterable {
    case abandoned
    case discarded
    case whole
    case small
  }

  @Test("A part is removed when its body ends another way", arguments: End.allCases)
  func ends(_ end: End) throws {
    try leavePart(of: 1_500_000, in: try open())
    let store = try open()
    let part = try #require(try store.partials()[Self.key])
    switch end {
    case .abandoned:
      let sink = try store.beginBody(plan(part))
      sink.abandon()
    case .discarded:
      let sink = try store.beginBody(plan(part))
      try append(Int(part.offset)..<3_000_000, to: sink)
      store.discard(try sink.finish())
    case .whole, .small:
      let sink = try store.beginBody(plan())
      try append(0..<(end == .whole ? 3_000_000 : 1000), to: sink)
      _ = try store.commit([.store(.cached(Self.key), body: try sink.finish(), joining: [])])
    }
    #expect(FileTree.names(folder).isEmpty)
  }

  @Test("A part survives the end of a run until it is a week old or damaged")
  func tidying() throws {
    try temporary.run(at: start) { (store: DiskStore) throws in
      try leavePart(of: 1_500_000, in: store)
      FileTree.write([1], to: folder + "/" + String(repeating: "a", count: 64) + ".body")
      FileTree.write([1], to: folder + "/" + String(repeating: "b", count: 64) + ".facts")
    }
    #expect(FileTree.names(folder) == ["\(name).body", "\(name).facts"])
    try temporary.run(at: start + .seconds(6 * 24 * 3600)) { _ in }
    #expect(FileTree.names(folder).count == 2)
    try temporary.run(at: start + .seconds(8 * 24 * 3600)) { _ in }
    #expect(FileTree.names(folder).isEmpty)
  }

  @Test("A part is visible to readers, which change nothing")
  func readers() throws {
    try leavePart(of: 1_500_000, in: try open())
    let before = FileTree.listing(temporary.cache)
    do {
      let reader = try #require(try temporary.reader())
      let part = try #require(try reader.partials()[Self.key])
      #expect(part.validator == "\"1\"")
      reader.forgetPartial(Self.key)
      #expect(throws: Failure.self) { try reader.beginBody(plan(part)) }
    }
    #expect(FileTree.listing(temporary.cache) == before)
  }

  @Test("A part gives up its descriptor when hundreds of bodies wait for their commit")
  func crowded() throws {
    let store = try DiskStore.openForWriting(
      cache: temporary.cache,
      clockStart: start,
      descriptors: 64
    )
    var changes: [StoreChange] = []
    for number in 0..<300 {
      let body = try store.stage("body \(number)")
      let record = ContentRecord.cached("https://a.example/\(number)")
      changes.append(.store(record, body: body, joining: []))
    }
    let sink = try store.beginBody(plan())
    try append(0..<3_000_000, to: sink)
    changes.append(.store(.cached(Self.key), body: try sink.finish(), joining: []))
    #expect(try store.partials().isEmpty)
    _ = try store.commit(changes)
    #expect(try store.verify().bad.isEmpty)
    #expect(FileTree.status(store.objectPath(SHA256.digest(of: Self.bytes)))?.st_nlink == 1)
  }
}
