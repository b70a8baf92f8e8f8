import PrefetchCore
import Testing

@Suite("Response times of hosts")
struct ResponseTimesTests {
  @Test(
    "A percentile is exact to an eighth, whatever the times",
    arguments: [1, 7, 8, 15, 16, 100, 999, 12_345, 987_654, 30_000_000, 86_399_999_999]
  )
  func precision(microseconds: Int64) throws {
    var times = ResponseTimes()
    times.record(.microseconds(microseconds))
    let reported = try #require(times.percentile(50))
    let most = Duration.microseconds(microseconds + microseconds / 8)
    #expect(reported >= .microseconds(microseconds) && reported <= most)
    #expect(times.percentile(99) == reported && times.responses == 1)
  }

  @Test("Longer times never count as shorter ones")
  func order() {
    var last = Duration.zero
    for power in 0..<36 {
      for part in 0..<8 {
        let time = Duration.microseconds((Int64(8 + part) << power) / 8)
        var times = ResponseTimes()
        times.record(time)
        let reported = times.percentile(50) ?? .zero
        #expect(reported >= last && reported >= time)
        last = reported
      }
    }
  }

  @Test("Percentiles cover all responses of all added runs")
  func percentiles() {
    var times = ResponseTimes()
    for _ in 0..<90 { times.record(.milliseconds(10)) }
    var others = ResponseTimes()
    for _ in 0..<9 { others.record(.milliseconds(100)) }
    others.record(.seconds(10))
    times.add(others)
    #expect(times.responses == 100)
    let reported = [50, 90, 91, 99, 100].map { times.percentile($0)?.milliseconds ?? 0 }
    #expect((10...11).contains(reported[0]) && reported[1] == reported[0])
    #expect((100...112).contains(reported[2]) && reported[3] == reported[2])
    #expect((10_000...11_250).contains(reported[4]))
    #expect(ResponseTimes().percentile(50) == nil)
  }

  @Test("A time of days, or a negative one, still counts")
  func extremes() {
    var times = ResponseTimes()
    times.record(.seconds(1_000_000))
    times.record(.seconds(-3))
    #expect(times.responses == 2 && times.percentile(1) == .zero)
    #expect(times.percentile(100) ?? .zero > .seconds(86_400))
    #expect(ResponseTimes(counts: [-1: 3, 5: 0, 100_000: 4, 3: 2]).counts == [3: 2])
  }

  @Test("The time of a server begins when the request was sent")
  func figures() {
    var figures = TransferFigures()
    #expect(figures.responseTime == nil)
    figures.firstByte = .milliseconds(80)
    #expect(figures.responseTime == .milliseconds(80))
    figures.requested = .milliseconds(60)
    #expect(figures.responseTime == .milliseconds(20))
    figures.requested = .milliseconds(90)
    #expect(figures.responseTime == .zero)
  }
}
