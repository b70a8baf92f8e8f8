/// A machine that no way leads out of: it is found out by the first request that meets it, and from
/// then on nothing but the machine itself is asked.
extension Dispatcher {
  mutating func networkLost() {
    // A proxy on this machine may well lead further than its own routes.
    guard !isCutOff, halt == nil, !request.policy.connections.mayBeProxied else { return }
    isCutOff = true
    for job in wire.drain() { enqueue(job) }
  }

  /// How a job ends that would have to leave the machine; nil where it need not, or may.
  func cutOff(_ job: Job) -> Exchange.Step? {
    guard isCutOff, let origin = origin(of: job) else { return nil }
    let isHere =
      origin.host == "localhost" || origin.host.hasSuffix(".localhost")
      || IPAddress(host: origin.host)?.isLoopback == true
    return isHere ? nil : .failed(.noWayOut, status: nil)
  }

  /// What ended before a request could go out says the same, whatever became of it by itself.
  func explained(_ result: TransferResult, of job: Job) -> TransferResult {
    guard let failure = result.failure, failure.mayMeanNoNetwork,
      case .failed(let loss, _) = cutOff(job)
    else { return result }
    return result.failed(loss)
  }
}

extension Failure {
  /// What every item says of a machine that reaches no server.
  package static let noWayOut = Failure(
    .noNetwork,
    "this machine has no network: it has no default route",
    isTransient: true
  )

  /// Whether it may be the machine that no server can be reached from.
  package var mayMeanNoNetwork: Bool {
    code == .dns || code == .connect || code == .noNetwork
  }
}
