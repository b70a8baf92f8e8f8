/// Requests that one server received in a night, with their times.
struct FleetFigures: Equatable {
  /// Share of one request.
  struct Share: Hashable {
    enum Kind: Int, Hashable {
      /// Response with a body.
      case whole
      /// Response with status 304.
      case confirmed
      /// Response without a body: not found, or a HEAD.
      case bare
      case written
    }

    var kind: Kind
    /// Bytes of the body, in either direction.
    var bytes: Int64
  }

  private(set) var requests = 0
  private(set) var whole = 0
  private(set) var confirmed = 0
  private(set) var bare = 0
  private(set) var written = 0
  private(set) var sentBytes: Int64 = 0
  private(set) var receivedBytes: Int64 = 0
  private var perSecond: [Int64: Int] = [:]

  /// Largest number of requests within a second.
  var peak: Int { perSecond.values.max() ?? 0 }

  mutating func add(_ share: Share, at milliseconds: Int64, times count: Int) {
    requests += count
    perSecond[milliseconds / 1_000, default: 0] += count
    switch share.kind {
    case .whole:
      whole += count
      sentBytes += share.bytes * Int64(count)
    case .confirmed: confirmed += count
    case .bare: bare += count
    case .written:
      written += count
      receivedBytes += share.bytes * Int64(count)
    }
  }
}

/// Requests of a machine with their times since its start; equal ones at one time are counted.
struct FleetTrace {
  struct Point: Hashable {
    var host: FleetServers.Host
    var share: FleetFigures.Share
    var time: Int64
  }

  private(set) var counts: [Point: Int] = [:]

  mutating func add(_ share: FleetFigures.Share, of host: FleetServers.Host, at time: Int64) {
    counts[Point(host: host, share: share, time: time), default: 0] += 1
  }
}
