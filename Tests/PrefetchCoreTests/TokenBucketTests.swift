import PrefetchCore
import Testing

@Suite("Token buckets")
struct TokenBucketTests {
  @Test("A full bucket gives its burst at once, then its rate")
  func burst() {
    var bucket = TokenBucket(rate: 1_000, burst: 500, now: .seconds(10))
    bucket.consume(500, at: .seconds(10))
    #expect(bucket.readyAt == .seconds(10))
    bucket.consume(250, at: .seconds(10))
    #expect(bucket.readyAt == .milliseconds(10_250))
    bucket.consume(1_000, at: .milliseconds(10_100))
    #expect(bucket.readyAt == .milliseconds(11_250))
  }

  @Test("A pause fills a bucket up to its burst")
  func pause() {
    var bucket = TokenBucket(rate: 1_000, burst: 500, now: .zero)
    bucket.consume(3_000, at: .zero)
    #expect(bucket.readyAt == .milliseconds(2_500))
    bucket.consume(500, at: .seconds(100))
    #expect(bucket.readyAt == .seconds(100))
  }

  @Test(
    "A bucket passes at most its rate and burst over any time",
    arguments: [1, 7, 1_000, 1_000_003, 10_000_000_000]
  )
  func average(rate: Int64) {
    var bucket = TokenBucket(rate: rate, burst: rate, now: .zero)
    var now = Duration.zero
    var consumed: Int64 = 0
    for step in 1...1_000 {
      now = max(now, bucket.readyAt)
      let bytes = max(1, rate / 10 * Int64(step % 7))
      bucket.consume(bytes, at: now)
      consumed += bytes
    }
    let paid = max(now, bucket.readyAt)
    #expect(paid >= .seconds(consumed / rate - 1))
    #expect(paid <= .seconds(consumed / rate + 1))
  }

  @Test("Absurd amounts of a bucket neither overflow nor trap")
  func extremes() {
    var bucket = TokenBucket(rate: 0, burst: -1, now: .zero)
    bucket.consume(Int64.max, at: .zero)
    #expect(bucket.readyAt == .seconds(Int64.max))
    var fast = TokenBucket(rate: .max, burst: .max, now: .zero)
    fast.consume(.max, at: .zero)
    #expect(fast.readyAt == .zero)
  }
}
