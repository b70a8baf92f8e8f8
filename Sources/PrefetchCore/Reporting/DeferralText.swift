extension Deferral {
  /// The sentence for people: the rule and the end of the wait.
  ///
  /// `host` is the server that was asked, where one is known.
  package func text(host: String? = nil) -> String {
    let until = until.map { " until \(Timestamp.readable($0))" } ?? ""
    guard rule == .retryAfter else { return "deferred by \(rule.rawValue)\(until)" }
    return "\(host.map { "`\($0)`" } ?? "its server") asked us to wait\(until) (Retry-After)"
  }
}
