extension Deferral {
  /// Returns the deferral's rule and end as a sentence; `host` is the server that deferred.
  package func text(host: String? = nil) -> String {
    let until = until.map { " until \(Timestamp.readable($0))" } ?? ""
    guard rule == .retryAfter else { return "deferred by \(rule.rawValue)\(until)" }
    return "\(host.map { "`\($0)`" } ?? "its server") asked us to wait\(until) (Retry-After)"
  }
}
