import PrefetchCore

/// The requests of a machine: some in flight, the others queued, as with real workers.
final class FleetWire: Transport {
  /// Called with each request that is sent.
  var send: (TransferRequest) -> Void = { _ in }
  private var lines: [FleetServers.Host: [TransferRequest]] = [:]
  /// Number of sent requests in each queue.
  private var sent: [FleetServers.Host: Int] = [:]
  private var onWire: [FleetServers.Host: Int] = [:]
  private var ended: [TransferEvent] = []
  private let slots: Int
  private let slotsPerHost: Int
  private let clock: any Clock

  init(_ policy: RunPolicy, clock: any Clock) {
    slots = policy.concurrency
    slotsPerHost = policy.assuredPerHost
    self.clock = clock
  }

  func start(_ request: TransferRequest) {
    lines[FleetServers.host(of: request), default: []].append(request)
    fill()
  }

  /// No transfer of a fleet fails or is cancelled.
  func cancel(_ id: TransferID) {}

  func wait(until deadline: Duration?) -> [TransferEvent] {
    defer { ended = [] }
    return ended
  }

  func receive(_ response: TransferResponse, to request: TransferRequest) {
    onWire[FleetServers.host(of: request), default: 0] -= 1
    var figures = TransferFigures()
    figures.version = .http11
    figures.wireBytes = response.body?.size ?? 0
    let transferOutcome: Result<TransferResponse, Failure> = .success(response)
    // The worker judges plain orders, as a real one does.
    if let order = request.expectedOutcome,
      let outcome = order.outcome(
        of: transferOutcome,
        figures,
        confirming: request.storedForConfirmation,
        at: clock.now().wall
      )
    {
      ended.append(.judged(request.id, outcome))
    } else {
      ended.append(.finished(request.id, TransferResult(transferOutcome, figures: figures)))
    }
    fill()
  }

  private func fill() {
    for host in [FleetServers.Host.tier, .origin] {
      while let request = next(of: host) {
        onWire[host, default: 0] += 1
        send(request)
      }
    }
  }

  private func next(of host: FleetServers.Host) -> TransferRequest? {
    guard let line = lines[host], onWire[host, default: 0] < slotsPerHost,
      onWire.values.reduce(0, +) < slots
    else { return nil }
    let index = sent[host, default: 0]
    sent[host] = index + 1
    if index + 1 == line.count { (lines[host], sent[host]) = (nil, 0) }
    return line[index]
  }
}
