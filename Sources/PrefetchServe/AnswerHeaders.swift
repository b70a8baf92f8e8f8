internal import PrefetchCore

/// What goes out of the head that a body was stored with, but for what time changes.
struct AnswerHeaders: Sendable {
  /// Also without a body, as in a 304.
  private(set) var ofEvery: [(name: String, value: String)] = []
  /// Of the body.
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

  /// What `Connection` names belongs to the connection that it came over.
  private static func named(by headers: HeaderBlock) -> Set<String> {
    guard let list = headers.combined(.connection) else { return [] }
    return Set(
      list.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
    )
  }

  /// A line break would be the end of the header.
  private static func isSendable(_ value: String) -> Bool {
    value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }

  /// What speaks of the transfer, of the client's state, or of what a whole host may do.
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

  /// What RFC 9110 §15.4.5 wants of a 304.
  private static let ofNoBody: Set<String> = [
    "cache-control", "date", "etag", "expires", "vary", "last-modified",
  ]
}

extension HeldAnswer {
  /// As an answer's own headers and the time since then say (RFC 9111 §4.2.3).
  func age(at now: Instant) -> Duration {
    guard let answered = record.validatedAt ?? record.fetchedAt else { return .zero }
    return ageOnArrival + max(now - answered, .zero)
  }

  /// How long it stays fresh; less than nothing once it is stale, nil where it never is.
  func left(at now: Instant) -> Duration? {
    let answered = record.validatedAt ?? record.fetchedAt
    return Freshness.believed(freshUntil, answeredAt: answered, at: now).map { $0 - now }
  }

  /// Content that is not to be used any more, whatever a client or a rule allows.
  func hasExpired(_ now: Instant) -> Bool {
    record.digest == nil || record.expiresAt.map { $0 <= now } ?? false
  }

  /// Of its URL, without the scheme.
  var address: String {
    let rest = record.url.drop { $0 != "/" }.dropFirst(2)
    return String(rest)
  }

  /// Whether it is the last part of its URL.
  func isNamed(_ name: String) -> Bool {
    let path = record.url.prefix { $0 != "?" }
    return path.split(separator: "/").last.map { $0 == name } ?? false
  }
}
