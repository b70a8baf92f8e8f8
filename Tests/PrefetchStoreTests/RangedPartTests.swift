import Glibc
import PrefetchCore
import PrefetchCrypto
import PrefetchStore
import Testing

@Suite("A part of a body with holes")
struct RangedPartTests {
  private let temporary: TemporaryCache
  private let start: Instant

  init() throws {
    temporary = try TemporaryCache()
    start = Instant(seconds: Int64(time(nil)) + 60)
  }

  private static let key = "https://a.example/big"
  private static let size = 24_000_000
  private static let described = PartialBody(
    source: key,
    validator: "\"1\"",
    offset: 0,
    wholeSize: Int64(size),
    head: HeaderBlock([HeaderField("ETag", "\"1\"")])
  )
  private static let bytes: [UInt8] = {
    let block = (0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    return Array(repeatElement(block, count: 25).joined().prefix(size))
  }()

  private func open() throws -> DiskStore {
    try DiskStore.openForWriting(cache: temporary.cache, clockStart: start)
  }

  private func sink(_ store: DiskStore, _ part: PartialBody = described) throws -> any RangeSink {
    let plan = BodyPlan(
      expectedSize: part.wholeSize,
      algorithms: [.sha512],
      partialKey: Self.key,
      resumption: .with(part)
    )
    return try #require(try store.beginBody(plan) as? any RangeSink)
  }

  private func write(_ range: Range<Int>, to sink: any RangeSink) throws {
    for start in stride(from: range.lowerBound, to: range.upperBound, by: 60_000) {
      let chunk = Array(Self.bytes[start..<min(range.upperBound, start + 60_000)])
      try sink.write(unsafe chunk.span.bytes, at: Int64(start))
    }
  }

  /// Begins a body with a hole after its first bytes.
  private func begin(_ store: DiskStore) throws -> any RangeSink {
    let sink = try sink(store)
    #expect(!sink.beginRanges(), "a body without a file has no ranges")
    try write(0..<2_000_000, to: sink)
    #expect(sink.beginRanges())
    try write(12_000_000..<18_000_000, to: sink)
    return sink
  }

  private func checkWhole(_ sink: any RangeSink) throws {
    while sink.size < Self.size {
      let before = sink.size
      try sink.hashWritten(atMost: 1_000_000)
      try #require(sink.size > before)
    }
    let body = try sink.finish()
    #expect(body.digest == SHA256.digest(of: Self.bytes))
    #expect(body.size == Self.size)
    #expect(body.otherDigests[.sha512]?.count == 64)
  }

  @Test("Bytes that arrive out of order become the whole body, hashed in order")
  func outOfOrder() throws {
    let store = try open()
    let sink = try begin(store)
    #expect(sink.size == 2_000_000)
    #expect(throws: Failure.self) { _ = try sink.finish() }
    try write(2_000_000..<12_000_000, to: sink)
    #expect(sink.size == 12_000_000)
    try sink.hashWritten(atMost: 1_000_000)
    #expect(sink.size == 13_000_000)
    // The span still grows while it is read.
    try write(18_000_000..<Self.size, to: sink)
    try checkWhole(sink)
  }

  @Test("A suspended body keeps its spans, and the holes are filled later in any order")
  func suspended() throws {
    var store = try open()
    let first = try begin(store)
    var expected = Self.described
    expected.offset = 2_000_000
    expected.spans = [12_000_000..<18_000_000]
    #expect(first.suspend() == expected)
    try store.close()

    store = try open()
    #expect(try store.partials() == [Self.key: expected])
    let second = try sink(store, expected)
    #expect(second.size == 2_000_000)
    try write(20_000_000..<Self.size, to: second)
    expected.spans.append(20_000_000..<Int64(Self.size))
    #expect(second.suspend() == expected)

    let third = try sink(store, expected)
    try write(18_000_000..<20_000_000, to: third)
    try write(2_000_000..<12_000_000, to: third)
    try checkWhole(third)
  }

  @Test("A span that was read halfway when its body broke off is kept whole")
  func readHalfway() throws {
    let store = try open()
    let first = try begin(store)
    try write(2_000_000..<12_000_000, to: first)
    try first.hashWritten(atMost: 3_000_000)
    #expect(first.size == 15_000_000)
    let part = try #require(first.suspend())
    #expect(part.offset == 12_000_000)
    #expect(part.spans == [12_000_000..<18_000_000])
    #expect(part.firstHole.start == 18_000_000)
    let second = try sink(store, part)
    try write(18_000_000..<Self.size, to: second)
    try checkWhole(second)
  }

  @Test("A killed process leaves only spans whose bytes are in the file")
  func killed() throws {
    let store = try open()
    let sink = try begin(store)
    let part = try #require(try store.partials()[Self.key])
    #expect(part.offset > 1_900_000 && part.offset <= 2_000_000)
    #expect(part.spans.count == 1)
    #expect(part.spans.first?.lowerBound == 12_000_000)
    #expect(part.spans.first.map { $0.upperBound > 13_000_000 } == true)
    withExtendedLifetime(sink) {}
  }

  @Test("A damaged span is found when the gap before it is closed")
  func damaged() throws {
    let store = try open()
    let part = try #require(try begin(store).suspend())
    let path = try #require(
      FileTree.names("\(temporary.cache)/partial").first { $0.hasSuffix(".body") }
    )
    let file = unsafe Glibc.open("\(temporary.cache)/partial/\(path)", O_WRONLY)
    try #require(file >= 0)
    var byte = ~Self.bytes[14_000_000]
    try #require(unsafe pwrite(file, &byte, 1, 14_000_000) == 1)
    close(file)
    let sink = try sink(store, part)
    try write(2_000_000..<12_000_000, to: sink)
    #expect(throws: Failure.self) { try checkWhole(sink) }
    sink.abandon()
    #expect(try store.partials().isEmpty)
  }

  @Test("A body whose rest would take reserved space arrives in order")
  func reservedSpace() throws {
    let store = try open()
    var plan = BodyPlan(
      expectedSize: Int64(Self.size),
      partialKey: Self.key,
      resumption: .with(Self.described)
    )
    plan.heedsFreeDisk = true
    let sink = try #require(try store.beginBody(plan) as? any RangeSink)
    try write(0..<2_000_000, to: sink)
    store.staging.keepFree(.max / 2)
    #expect(!sink.beginRanges())
    store.staging.keepFree(0)
    #expect(sink.beginRanges())
  }

  @Test("Forgotten spans are no part any more, and their bytes arrive again in order")
  func forgotten() throws {
    let store = try open()
    let sink = try begin(store)
    sink.forgetSpans()
    #expect(try store.partials()[Self.key]?.spans == [])
    try write(2_000_000..<Self.size, to: sink)
    try checkWhole(sink)
  }
}
