package enum NetworkQuality: String, Hashable, Sendable, CaseIterable {
  case poor
  case good
  case excellent
  case unknown
}

/// Thresholds of the throughput, and the reaction to each quality.
package struct QualityPolicy: Hashable, Sendable {
  package enum Reaction: String, Hashable, Sendable, CaseIterable {
    case go
    case throttle
    case stop

    fileprivate var strictness: Int {
      switch self {
      case .go: 0
      case .throttle: 1
      case .stop: 2
      }
    }
  }

  /// Bytes a second from which the network is good; nil if it is never poor.
  package var good: Int64?
  package var excellent: Int64?
  package var reactions: [NetworkQuality: Reaction] = [:]

  package init() {}

  package func reaction(to quality: NetworkQuality) -> Reaction {
    reactions[quality] ?? .go
  }

  package var isMeasured: Bool {
    good != nil || excellent != nil
  }

  package var matters: Bool {
    reactions.values.contains { $0 != .go }
  }

  package func quality(_ measurement: TransferSamples.Measurement?) -> NetworkQuality {
    guard isMeasured, let measurement else { return .unknown }
    // Servers that answer after seconds make even the fastest line poor.
    guard !measurement.isSlowToRespond else { return .poor }
    return quality(ofRate: measurement.rate)
  }

  package func quality(ofRate rate: Int64?) -> NetworkQuality {
    guard isMeasured, let rate else { return .unknown }
    if let good, rate < good { return .poor }
    if let excellent, rate >= excellent { return .excellent }
    return .good
  }

  package func bound(under quality: NetworkQuality) -> BundleRules.Quality {
    switch quality {
    case .poor: .low
    // Without a threshold for excellent, nothing is better than good.
    case .good: excellent == nil ? .high : .medium
    case .excellent, .unknown: .high
    }
  }

  package func narrowed(by other: Self) -> Self {
    var narrowed = self
    narrowed.good = [good, other.good].compactMap(\.self).max()
    narrowed.excellent = [excellent, other.excellent].compactMap(\.self).max()
    for quality in NetworkQuality.allCases {
      let (mine, others) = (reaction(to: quality), other.reaction(to: quality))
      let stricter = mine.strictness < others.strictness ? others : mine
      if stricter != .go { narrowed.reactions[quality] = stricter }
    }
    return narrowed
  }
}

/// Recent transfers that say something about the network.
package struct TransferSamples: Hashable, Sendable {
  package struct Sample: Hashable, Sendable {
    package var type: NetworkType?
    package var began: Instant
    package var ended: Instant
    /// Bytes of the body; 0 if too few to measure throughput.
    package var bytes: Int64
    package var firstByte: Duration?

    package init(
      type: NetworkType?,
      began: Instant,
      ended: Instant,
      bytes: Int64,
      firstByte: Duration?
    ) {
      self.type = type
      self.began = began
      self.ended = ended
      self.bytes = bytes
      self.firstByte = firstByte
    }
  }

  package struct Measurement: Hashable, Sendable {
    package var rate: Int64?
    package var isSlowToRespond: Bool
    package var expires: Instant
  }

  /// Smallest body to measure, in bytes: less is over before a connection has found its speed.
  package static let smallestBody: Int64 = 64 << 10
  package static let memory: Duration = .seconds(900)
  private static let capacity = 32
  private static let slowResponse: Duration = .seconds(2)
  private static let minimumResponses = 3

  package private(set) var all: [Sample]

  package init(_ samples: [Sample] = []) {
    all = samples.suffix(Self.capacity)
  }

  package mutating func add(_ sample: Sample) {
    if all.count >= Self.capacity { all.removeFirst(all.count - Self.capacity + 1) }
    all.append(sample)
  }

  package func measurement(of type: NetworkType?, at now: Instant) -> Measurement? {
    let recent = all.filter { $0.type == type && $0.ended <= now && now < $0.ended + Self.memory }
    guard let last = recent.map(\.ended).max() else { return nil }
    let times = recent.compactMap(\.firstByte).sorted()
    let isSlow =
      times.count >= Self.minimumResponses && times[times.count / 2] > Self.slowResponse
    return Measurement(
      rate: Self.rate(of: recent.filter { $0.bytes > 0 }),
      isSlowToRespond: isSlow,
      expires: last + Self.memory
    )
  }

  /// Returns all bytes over the time in which any sample was in flight.
  private static func rate(of samples: [Sample]) -> Int64? {
    var busy: Int64 = 0
    var bytes: Int64 = 0
    var end = Int64.min
    for sample in samples.sorted(by: { $0.began < $1.began }) {
      bytes = bytes.addingSaturated(sample.bytes)
      let start = max(end, sample.began.milliseconds)
      end = max(end, sample.ended.milliseconds)
      busy += max(0, end - start)
    }
    guard bytes > 0 else { return nil }
    return Int64((Double(bytes) * 1000 / Double(max(1, busy))).rounded(.down))
  }
}
