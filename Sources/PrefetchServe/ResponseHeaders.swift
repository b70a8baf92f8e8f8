internal import PrefetchCore

/// Response headers made of stored ones, without those that change with time.
struct ResponseHeaders: Sendable {
  private(set) var ofEvery: [(name: String, value: String)] = []
  private(set) var ofBody: [(name: String, value: String)] = []

  init(of record: ContentRecord) {
    let headers = record.headers
    let named = Self.named(by: headers)
    var hasType = false
    for index in headers.indices {
      let name = headers.name(at: index)
      let lower = name.lowercased()
      guard !Self.kept.contains(lower), !named.contains(lower) else { continue }
      let value = headers.value(at: index)
      guard Self.isSendable(value) else { continue }
      if Self.ofNoBody.contains(lower) {
        ofEvery.append((name, value))
      } else {
        hasType = hasType || lower == "content-type"
        ofBody.append((name, value))
      }
    }
    if !hasType, let mime = record.mime { ofBody.append(("Content-Type", mime)) }
    if !headers.has(.date), let instant = record.validatedAt {
      ofEvery.append(("Date", HTTPDate.format(instant)))
    }
    ofEvery.append(("Accept-Ranges", "bytes"))
  }

  private static func named(by headers: HeaderBlock) -> Set<String> {
    guard let list = headers.combined(.connection) else { return [] }
    return Set(
      list.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
    )
  }

  /// Returns whether a value may be sent: a line break would end the header.
  private static func isSendable(_ value: String) -> Bool {
    value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }

  /// Headers that are not sent: they concern the transfer, a client's state or a whole host.
  private static let kept: Set<String> = [
    "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization",
    "proxy-authentication-info", "te", "trailer", "transfer-encoding", "upgrade", "content-length",
    "content-encoding", "content-range", "accept-ranges", "age", "set-cookie", "set-cookie2",
    "www-authenticate", "authentication-info", "alt-svc", "strict-transport-security",
    "public-key-pins", "clear-site-data", "nel", "report-to", "reporting-endpoints",
    "access-control-allow-origin", "access-control-allow-credentials",
    "access-control-expose-headers", "access-control-allow-methods",
    "access-control-allow-headers", "access-control-max-age", "x-content-type-options",
    "cache-status", "location", "content-location", "server-timing",
  ]

  /// Headers that a 304 must have (RFC 9110 §15.4.5).
  private static let ofNoBody: Set<String> = [
    "cache-control", "date", "etag", "expires", "vary", "last-modified",
  ]
}

extension HeldResponse {
  /// Returns the age by the response's own headers and the time since then (RFC 9111 §4.2.3).
  func age(at now: Instant) -> Duration {
    guard let respondedAt = record.validatedAt ?? record.fetchedAt else { return .zero }
    return ageOnArrival + max(now - respondedAt, .zero)
  }

  /// Returns the remaining freshness, negative when stale; nil if every use needs revalidation.
  func left(at now: Instant) -> Duration? {
    let respondedAt = record.validatedAt ?? record.fetchedAt
    return Freshness.believed(freshUntil, respondedAt: respondedAt, at: now).map { $0 - now }
  }

  func hasExpired(_ now: Instant) -> Bool {
    record.digest == nil || record.expiresAt.map { $0 <= now } ?? false
  }

  var address: String {
    let rest = record.url.drop { $0 != "/" }.dropFirst(2)
    return String(rest)
  }

  func isNamed(_ name: String) -> Bool {
    let path = record.url.prefix { $0 != "?" }
    return path.split(separator: "/").last.map { $0 == name } ?? false
  }
}
