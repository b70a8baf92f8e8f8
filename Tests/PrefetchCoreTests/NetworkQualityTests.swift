import PrefetchCore
import Testing

@Suite struct NetworkQualityTests {
  private let now = Instant(seconds: 1_700_000_000)

  private func sample(
    from start: Int64,
    to end: Int64,
    _ bytes: Int64,
    firstByte: Int64 = 10
  ) -> TransferSamples.Sample {
    TransferSamples.Sample(
      type: .wifi,
      began: Instant(milliseconds: now.milliseconds - start),
      ended: Instant(milliseconds: now.milliseconds - end),
      bytes: bytes,
      firstByte: .milliseconds(firstByte)
    )
  }

  private var policy: QualityPolicy {
    var policy = QualityPolicy()
    policy.good = 100_000
    policy.excellent = 1_000_000
    policy.reactions = [.poor: .stop, .good: .throttle]
    return policy
  }

  @Test("Concurrent transfers are measured together, and pauses do not count")
  func together() {
    let samples = TransferSamples([
      sample(from: 5000, to: 3000, 200_000), sample(from: 4000, to: 3000, 100_000),
      sample(from: 1000, to: 0, 300_000),
    ])
    let measurement = samples.measurement(of: .wifi, at: now)
    #expect(measurement?.rate == 200_000)
    #expect(measurement?.expires == now + .seconds(900))
    #expect(samples.measurement(of: .ethernet, at: now) == nil)
    #expect(samples.measurement(of: .wifi, at: now + .seconds(900)) == nil)
  }

  @Test(
    "Rates are compared with both thresholds",
    arguments: [
      (99_999, .poor, .stop), (100_000, .good, .throttle), (999_999, .good, .throttle),
      (1_000_000, .excellent, .go),
    ] as [(Int64, NetworkQuality, QualityPolicy.Reaction)]
  )
  func levels(rate: Int64, level: NetworkQuality, reaction: QualityPolicy.Reaction) {
    let samples = TransferSamples([sample(from: 1000, to: 0, rate)])
    let quality = policy.quality(samples.measurement(of: .wifi, at: now))
    #expect(quality == level)
    #expect(policy.reaction(to: quality) == reaction)
  }

  @Test("Small bodies are no evidence of throughput, and slow responses make a poor network")
  func smallBodies() {
    let quick = TransferSamples((0..<5).map { _ in sample(from: 20, to: 10, 0) })
    #expect(policy.quality(quick.measurement(of: .wifi, at: now)) == .unknown)
    let slow = TransferSamples((0..<3).map { _ in sample(from: 20, to: 10, 0, firstByte: 2001) })
    #expect(policy.quality(slow.measurement(of: .wifi, at: now)) == .poor)
    let few = TransferSamples((0..<2).map { _ in sample(from: 20, to: 10, 0, firstByte: 2001) })
    #expect(policy.quality(few.measurement(of: .wifi, at: now)) == .unknown)
    #expect(policy.quality(nil) == .unknown)
  }

  @Test("Only the last transfers count")
  func capacity() {
    var samples = TransferSamples()
    for _ in 0..<40 { samples.add(sample(from: 2000, to: 1000, 1)) }
    #expect(samples.all.count == 32)
    for _ in 0..<32 { samples.add(sample(from: 1000, to: 0, 10_000_000)) }
    #expect(policy.quality(samples.measurement(of: .wifi, at: now)) == .excellent)
  }

  @Test("A stop by quality ends when the measurement is too old")
  func stop() {
    var network = NetworkPolicy()
    network.quality = policy
    var situation = NetworkSituation()
    situation.conditions.type = .wifi
    situation.samples = TransferSamples([sample(from: 1000, to: 0, 10)])
    let until = now + .seconds(900)
    #expect(
      network.verdict(in: situation, at: now) == .deferred(Deferral(rule: .quality, until: until))
    )
    #expect(network.nextChange(in: situation, after: now) == until)
    #expect(network.verdict(in: situation, at: until) == .allowed)
    situation.samples = TransferSamples([sample(from: 1000, to: 0, 200_000)])
    #expect(network.verdict(in: situation, at: now) == .throttle)
  }
}
