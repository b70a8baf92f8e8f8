/// Bounded log of a run's requests: figures of the longest, and bytes over time.
package struct TransferLog: Sendable {
  package struct Transfer: Sendable {
    package let request: RequestResult
    package let start: Duration
    package let length: Duration

    package var end: Duration { start + length }
  }

  package static let mostEntries = 200

  /// Count of requests handed to the network, even without a connection.
  package private(set) var count = 0
  package private(set) var timeline = ByteTimeline()
  private var longest: [Transfer] = []
  private var threshold = Duration.zero

  package init() {}

  package mutating func add(_ request: RequestResult, in runStart: Instant) {
    guard let started = request.figures.started else { return }
    let length = request.figures.total ?? .zero
    let entry = Transfer(request: request, start: max(.zero, started - runStart), length: length)
    count += 1
    timeline.add(
      request.wireBytes,
      from: entry.start + min(length, request.figures.firstByte ?? .zero),
      to: entry.end
    )
    guard length >= threshold else { return }
    longest.append(entry)
    if longest.count >= 2 * Self.mostEntries { shorten() }
  }

  package var entries: [Transfer] {
    var log = self
    log.shorten()
    return log.longest.enumerated().sorted { a, b in
      (a.element.start, a.offset) < (b.element.start, b.offset)
    }.map(\.element)
  }

  private mutating func shorten() {
    guard longest.count > Self.mostEntries else { return }
    // Among equally long transfers the first to end are kept.
    let order = longest.enumerated().sorted { a, b in
      (b.element.length, a.offset) < (a.element.length, b.offset)
    }
    let kept = order.prefix(Self.mostEntries).sorted { $0.offset < $1.offset }
    longest = kept.map(\.element)
    threshold = longest.map(\.length).min() ?? .zero
  }
}
