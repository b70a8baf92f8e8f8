/// When a server that is busy wants to be asked again.
package enum RetryAfter {
  /// No server is believed for longer than a day.
  package static let longest: Duration = .seconds(86_400)

  /// Seconds or a date, as RFC 9110 §10.2.3 has it; nil for anything else.
  package static func pause(_ header: String?, now: Instant) -> Duration? {
    guard let header else { return nil }
    if !header.isEmpty, header.utf8.allSatisfy(ASCII.isDigit) {
      return min(.seconds(Int64(header) ?? .max), longest)
    }
    return HTTPDate.parse(header).map { min(max($0 - now, .zero), longest) }
  }
}
