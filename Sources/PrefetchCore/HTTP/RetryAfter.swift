package enum RetryAfter {
  /// Maximum pause that a server can demand: one day.
  package static let longest: Duration = .seconds(86_400)

  /// Returns the pause from seconds or a date (RFC 9110 §10.2.3); nil for anything else.
  package static func pause(_ header: String?, now: Instant) -> Duration? {
    guard let header else { return nil }
    if !header.isEmpty, header.utf8.allSatisfy(ASCII.isDigit) {
      return min(.seconds(Int64(header) ?? .max), longest)
    }
    return HTTPDate.parse(header).map { min(max($0 - now, .zero), longest) }
  }
}
