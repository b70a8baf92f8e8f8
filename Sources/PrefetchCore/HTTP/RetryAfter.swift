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

  /// Returns the pause that a rate limit demands (403 or 429); nil for any other response.
  ///
  /// Forges refuse with 403, which elsewhere means that the credentials do not suffice. No request
  /// left proves a rate limit of any server; `Retry-After` beside a 403 proves one only at an API
  /// of releases, which sends it for its second limit.
  package static func rateLimit(
    _ status: Int,
    _ headers: HeaderBlock,
    atReleaseAPI isReleaseAPI: Bool,
    now: Instant
  ) -> Duration? {
    guard status == 403 || status == 429 else { return nil }
    let demanded = pause(headers[.retryAfter], now: now)
    if let window = exhaustedWindow(headers) { return max(window, demanded ?? .zero) }
    guard hasNoneLeft(headers) else { return isReleaseAPI ? demanded : nil }
    let reset = resetNames.lazy.compactMap { Self.reset(headers[$0], now: now) }.first
    let known = [demanded, reset].compactMap(\.self).max()
    // Before that time GitHub answers no further request well.
    return known ?? (status == 403 ? .seconds(60) : nil)
  }

  package static func hasNoneLeft(_ headers: HeaderBlock) -> Bool {
    remainingNames.contains { headers[$0] == "0" }
  }

  /// Returns the rest of a window without requests, which hubs state as `RateLimit: "api";r=0;t=55`.
  private static func exhaustedWindow(_ headers: HeaderBlock) -> Duration? {
    let parameters = (headers["RateLimit"] ?? "").split(separator: ";").map { part in
      String(part.filter { $0 != " " })
    }
    guard parameters.contains("r=0"), let rest = parameters.first(where: { $0.hasPrefix("t=") })
    else { return nil }
    return pause(String(rest.dropFirst(2)), now: Instant(seconds: 0))
  }

  private static let remainingNames: [HeaderName] = [
    "X-RateLimit-Remaining", "RateLimit-Remaining",
  ]
  private static let resetNames: [HeaderName] = ["X-RateLimit-Reset", "RateLimit-Reset"]

  /// Parses the end of a rate limit: Unix time, or seconds from now if the number is too small.
  private static func reset(_ header: String?, now: Instant) -> Duration? {
    guard let text = header, !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit),
      let seconds = Int64(text)
    else { return nil }
    guard seconds >= firstUnixTime else { return min(.seconds(seconds), longest) }
    guard seconds <= lastUnixTime else { return longest }
    return min(max(Instant(seconds: seconds) - now, .zero), longest)
  }

  /// The year 2001: numbers below it count seconds from now.
  private static let firstUnixTime: Int64 = 1_000_000_000
  private static let lastUnixTime: Int64 = 100_000_000_000
}
