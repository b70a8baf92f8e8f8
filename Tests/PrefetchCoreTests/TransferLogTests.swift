import Testing

@testable import PrefetchCore

@Suite("The log of many transfers")
struct TransferLogTests {
  private static let start = Instant(seconds: 1_795_150_800)

  private static func request(
    _ number: Int,
    at start: Duration,
    lasting length: Duration,
    bytes: Int64 = 0,
    firstByte: Duration? = nil
  ) throws -> RequestResult {
    var figures = TransferFigures()
    figures.started = Self.start + start
    figures.total = length
    figures.firstByte = firstByte
    figures.wireBytes = bytes
    return RequestResult(
      url: try WebURL("https://cdn.example.com/\(number)"),
      status: 200,
      isRetry: false,
      figures: figures
    )
  }

  @Test("A few transfers are all kept, in order of their start")
  func few() throws {
    var log = TransferLog()
    log.add(try Self.request(1, at: .milliseconds(30), lasting: .milliseconds(5)), in: Self.start)
    log.add(try Self.request(2, at: .milliseconds(10), lasting: .milliseconds(50)), in: Self.start)
    log.add(try Self.request(3, at: .milliseconds(30), lasting: .milliseconds(1)), in: Self.start)
    #expect(log.count == 3)
    #expect(log.entries.map(\.request.url?.path) == ["/2", "/1", "/3"])
    #expect(log.entries.map(\.end.milliseconds) == [60, 35, 31])
  }

  @Test("The longest of many transfers are kept, whatever their order")
  func many() throws {
    for seed in [7, 7919, 104_729] {
      var log = TransferLog()
      let total = 5 * TransferLog.mostEntries + 13
      for number in 0..<total {
        let length = number * seed % total
        let request = try Self.request(
          number,
          at: .milliseconds(number),
          lasting: .milliseconds(length)
        )
        log.add(request, in: Self.start)
      }
      #expect(log.count == total)
      let shortest = total - TransferLog.mostEntries
      #expect(
        log.entries.map(\.length.milliseconds).sorted() == (shortest..<total).map { Int64($0) }
      )
      #expect(log.entries.map(\.start) == log.entries.map(\.start).sorted())
    }
  }

  @Test("A request that was taken back is not logged")
  func unsent() {
    var log = TransferLog()
    log.add(RequestResult(status: nil, isRetry: false), in: Self.start)
    #expect(log.count == 0 && log.entries.isEmpty)
  }

  @Test("A clock that was set back makes no transfer start before the run")
  func clock() throws {
    var log = TransferLog()
    let request = try Self.request(1, at: .seconds(-60), lasting: .milliseconds(5), bytes: 10)
    log.add(request, in: Self.start)
    #expect(log.entries.map(\.start) == [.zero])
    #expect(log.timeline.counts.reduce(0, +) == 10)
  }

  @Test("Bytes are counted at their time, and none is lost in a long run")
  func timeline() {
    var timeline = ByteTimeline()
    timeline.add(30, from: .milliseconds(1), to: .milliseconds(4))
    #expect(timeline.counts == [0, 10, 10, 10] && timeline.span == .milliseconds(1))
    timeline.add(7, from: .milliseconds(2), to: .milliseconds(2))
    #expect(timeline.counts == [0, 10, 17, 10])
    timeline.add(5, from: .seconds(9), to: .seconds(9) + .milliseconds(1))
    #expect(timeline.counts.count <= ByteTimeline.mostSpans)
    #expect(timeline.counts.first == 37 && timeline.counts.last == 5)
    timeline.add(1_000_003, from: .milliseconds(3), to: .seconds(86_400))
    #expect(timeline.counts.reduce(0, +) == 1_000_045)
    #expect(timeline.counts.allSatisfy { $0 >= 0 })
    #expect(timeline.counts.count <= ByteTimeline.mostSpans)
  }

  @Test("An empty transfer leaves no trace in the timeline")
  func nothing() {
    var timeline = ByteTimeline()
    timeline.add(0, from: .zero, to: .seconds(1000))
    #expect(timeline == ByteTimeline())
  }
}
