/// What happens to a stored item that its server has no more.
package enum GoneRule: String, Hashable, Sendable, CaseIterable {
  case keep
  case remove

  package enum Ending: Hashable, Sendable {
    /// The item fails as `gone`; an older body stays where it is.
    case failed(Failure)
    /// The item leaves the cache.
    case removed
  }

  /// The ending for an answer of 404 or 410; nil for other statuses.
  ///
  /// Where several segments name the item, all of them have to give it up. What is locked stays,
  /// and what was never stored cannot leave.
  package static func ending(
    status: Int,
    rules: [GoneRule],
    hasBody: Bool,
    isLocked: Bool
  ) -> Ending? {
    guard status == 404 || status == 410 else { return nil }
    let mayRemove = !rules.isEmpty && rules.allSatisfy { $0 == .remove }
    guard mayRemove, hasBody, !isLocked else {
      return .failed(Failure(.gone, "the server answered \(status)"))
    }
    return .removed
  }
}
