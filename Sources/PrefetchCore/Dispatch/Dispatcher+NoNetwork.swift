/// Runs on a machine without a route: after the first failure only the machine itself is asked.
extension Dispatcher {
  mutating func networkLost() {
    // A proxy on this machine may reach more than its own routes.
    guard !isCutOff, halt == nil, !request.policy.connections.mayBeProxied else { return }
    isCutOff = true
    for job in wire.drain() { enqueue(job) }
  }

  /// Returns the failure of a job that would leave a machine without network; nil for others.
  func cutOff(_ job: Job) -> Exchange.Step? {
    guard isCutOff, let origin = origin(of: job) else { return nil }
    let isHere =
      origin.host == "localhost" || origin.host.hasSuffix(".localhost")
      || IPAddress(host: origin.host)?.isLoopback == true
    return isHere ? nil : .failed(.noRoute, status: nil)
  }

  func explained(_ result: TransferResult, of job: Job) -> TransferResult {
    guard let failure = result.failure, failure.mayMeanNoNetwork,
      case .failed(let loss, _) = cutOff(job)
    else { return result }
    return result.failed(loss)
  }
}

extension Failure {
  package static let noRoute = Failure(
    .noNetwork,
    "this machine has no network: it has no default route",
    isTransient: true
  )

  package var mayMeanNoNetwork: Bool {
    code == .dns || code == .connect || code == .noNetwork
  }
}
