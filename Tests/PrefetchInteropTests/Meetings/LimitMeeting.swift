import Testing

/// Settings that prevent transfers or decide their order.
enum Limit: String, Sendable, CaseIterable {
  case cacheSize = "cache.size"
  case maximumFileSize = "max_file_size"
  case dailyLimit = "daily_limit"
  case minimumFree = "min_free"
  case priority
  case deadline

  /// The code or rule by which the large body stays away, and how a run ends then.
  var outcome: (word: String, exit: Int32) {
    switch self {
    case .cacheSize: ("cache_full", 3)
    case .maximumFileSize: ("too_large", 3)
    case .dailyLimit: ("daily_limit", 75)
    case .minimumFree: ("free_disk", 75)
    case .priority: ("added", 0)
    case .deadline: ("deadline", 75)
    }
  }

  /// Returns the limit's configuration; `isMet` puts the limit between the two bodies' sizes.
  func lines(isMet: Bool) -> [String] {
    var network = ["concurrency: 1", "retries: { items: 0, delay: 1ms, max_delay: 2ms }"]
    var cache = ["min_free: 0"]
    let size = isMet ? "1MB" : "10MB"
    switch self {
    case .cacheSize: cache.append("size: \(size)")
    case .maximumFileSize: cache.append("max_file_size: \(size)")
    case .dailyLimit: network.append("daily_limit: \(size)")
    case .minimumFree: cache = ["min_free: \(isMet ? "1000TB" : "1")"]
    case .priority: break
    case .deadline: network.append("timeouts: { run: \(isMet ? "2s" : "10m") }")
    }
    return [
      "network: { \(network.joined(separator: ", ")) }",
      "cache: { \(cache.joined(separator: ", ")) }",
    ]
  }
}

/// Feature that is combined with a limit.
enum LimitNeighbour: String, Sendable, CaseIterable {
  case declaredSize = "a declared size"
  case unknownSize = "an unknown size"
  /// An earlier run has stored the first half.
  case resume
  /// The first source no longer has the body.
  case alternates
  case get
  /// A client of `serve --pull` requests the body.
  case pull
  case publish
  case plan = "a dry run"
  case twoSegments = "two segments"
  /// The large body is a piece of a stream.
  case stream
}

/// A combination of limit and feature: a small and a large body, with the limit between or above
/// them.
struct LimitMeeting: Sendable, CustomTestStringConvertible {
  var limit: Limit
  var neighbour: LimitNeighbour
  var isMet: Bool

  static let all = Limit.allCases.flatMap { limit in
    LimitNeighbour.allCases.flatMap { neighbour in
      [true, false].map { LimitMeeting(limit: limit, neighbour: neighbour, isMet: $0) }
    }
  }

  var testDescription: String {
    "\(limit.rawValue)\(isMet ? "" : " far away") × \(neighbour.rawValue)"
  }
}
