import PrefetchCore
import PrefetchTestSupport

/// A transport whose responses take time; the clock advances only while the engine waits.
final class NightTransport: Transport {
  private let inner: FakeTransport
  private let origin: NightOrigin
  private let clock: FakeClock
  private let ready: Ready
  private var dice: Dice
  private let slowest: Int
  private var inFlight: [Transfer] = []

  private struct Transfer {
    var request: TransferRequest
    var response: NightResponse
    var figures: TransferFigures
  }

  /// Next response, for the transport that stages bodies.
  private final class Ready {
    var response = NightResponse(url: "", sent: NightHead(), requestedAt: 0)
  }

  /// No response takes longer than `slowest` seconds.
  init(
    _ origin: NightOrigin,
    staging: any BodyStaging,
    clock: FakeClock,
    dice: Dice,
    slowest: Int
  ) {
    self.origin = origin
    self.clock = clock
    self.dice = dice
    self.slowest = slowest
    let ready = Ready()
    self.ready = ready
    inner = FakeTransport(staging: staging) { _ in
      let response = ready.response
      guard response.isCut else {
        return .response(
          status: response.status,
          headers: response.head.fields,
          body: response.bytes
        )
      }
      let failure = Failure(.truncated, "the connection was closed", isTransient: true)
      return .broken(headers: response.head.fields, body: response.bytes, failure)
    }
  }

  func start(_ request: TransferRequest) {
    let started = clock.now().wall.seconds
    let steps = (0..<4).map { _ in Int64(dice.number(0...slowest)) }
    // Steps: sending, arrival at the server, arrival of the head, end of the body.
    let requestedAt = started + steps[0]
    var response = origin.respond(
      request,
      requestedAt: requestedAt,
      arrival: requestedAt + steps[1]
    )
    response.received = requestedAt + steps[1] + steps[2]
    response.finishedAt = response.received + steps[3]
    var figures = TransferFigures()
    figures.requested = .seconds(steps[0])
    figures.firstByte = .seconds(steps[0] + steps[1] + steps[2])
    figures.total = .seconds(response.finishedAt - started)
    inFlight.append(Transfer(request: request, response: response, figures: figures))
  }

  func cancel(_ id: TransferID) {
    guard let index = inFlight.firstIndex(where: { $0.request.id == id }) else { return }
    inner.start(inFlight.remove(at: index).request)
    inner.cancel(id)
  }

  func wait(until deadline: Duration?) -> [TransferEvent] {
    let ended = inner.wait(until: nil)
    guard ended.isEmpty else { return ended }
    let now = clock.now()
    let next = inFlight.map(\.response.finishedAt).min()
    // Whole seconds, the resolution of HTTP's dates.
    let end = deadline.map { now.wall.seconds + max(1, Self.wholeSeconds($0 - now.uptime)) }
    guard let next, next <= end ?? .max else {
      advance(to: end ?? now.wall.seconds + 1)
      return []
    }
    advance(to: next)
    var events: [TransferEvent] = []
    for transfer in inFlight where transfer.response.finishedAt <= next {
      origin.record(transfer.response)
      ready.response = transfer.response
      inner.start(transfer.request)
      events += inner.wait(until: nil).map { Self.event($0, transfer.figures) }
    }
    inFlight.removeAll { $0.response.finishedAt <= next }
    return events
  }

  private static func event(_ event: TransferEvent, _ figures: TransferFigures) -> TransferEvent {
    guard case .finished(let id, let result) = event else { return event }
    var timed = result.figures
    timed.requested = figures.requested
    timed.firstByte = figures.firstByte
    timed.total = figures.total
    return .finished(
      id,
      TransferResult(
        result.outcome,
        figures: timed,
        partial: result.partial,
        wasNotSent: result.wasNotSent,
        announcedSize: result.announcedSize
      )
    )
  }

  private func advance(to seconds: Int64) {
    clock.advance(by: .seconds(max(0, seconds - clock.now().wall.seconds)))
  }

  private static func wholeSeconds(_ duration: Duration) -> Int64 {
    let (seconds, rest) = duration.components
    return rest > 0 ? seconds + 1 : seconds
  }
}
