/// Digests that are not of a body's bytes, but of what is in it, as Go's modules have them.
///
/// They can be taken only once the body is whole, so somebody has to look into it before it is judged.
extension Dispatcher {
  /// Whether some declared digest of the body can be taken and was not.
  func isInspectionNeeded(_ item: Int, _ body: StagedBody) -> Bool {
    let digests = active[Int(items[item].slot)].digests
    return !digests.allSatisfy { $0.algorithm.isOfBytes || body.otherDigests[$0.algorithm] != nil }
  }

  mutating func inspect(
    _ item: Int,
    _ body: StagedBody,
    _ response: TransferResponse,
    into effects: inout [Effect]
  ) {
    let slot = Int(items[item].slot)
    let algorithms = active[slot].digests.map(\.algorithm).filter { !$0.isOfBytes }
    active[slot].inspected = response
    items[item].state = .preparing
    preparing += 1
    effects.append(.inspect(item: item, body, Set(algorithms)))
  }

  mutating func inspected(
    _ item: Int,
    _ result: Result<[DigestAlgorithm: [UInt8]], Failure>,
    now: Moment,
    into effects: inout [Effect]
  ) {
    preparing -= 1
    let slot = Int(items[item].slot)
    guard slot >= 0, var response = active[slot].inspected, let body = response.body else { return }
    active[slot].inspected = nil
    switch result {
    case .success(let digests):
      response.body?.otherDigests.merge(digests) { _, new in new }
      received(item, response, now: now, into: &effects)
    case .failure(let failure):
      refuse(item, body, response, failure, now: now, into: &effects)
    }
  }
}
