/// Rule for a stored item that its server no longer has.
package enum GoneRule: String, Hashable, Sendable, CaseIterable {
  case keep
  case remove

  package enum Outcome: Hashable, Sendable {
    case failed(Failure)
    case removed
  }

  /// Returns the ending for a 404 or 410; all segments of the item must agree to a removal.
  package static func outcome(
    status: Int,
    rules: [GoneRule],
    hasBody: Bool,
    isLocked: Bool
  ) -> Outcome? {
    guard status == 404 || status == 410 else { return nil }
    let mayRemove = !rules.isEmpty && rules.allSatisfy { $0 == .remove }
    guard mayRemove, hasBody, !isLocked else {
      return .failed(Failure(.gone, "the server answered \(status)"))
    }
    return .removed
  }
}
