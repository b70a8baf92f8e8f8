import PrefetchCore

/// Lines on a request, for a user who asks why a host fails; credentials are masked.
struct RequestLines {
  let story: RequestStory

  var summary: String {
    let end =
      story.status.map(String.init) ?? story.failure.map { "\($0.code.rawValue): \($0.message)" }
      ?? "no answer"
    let attempt = story.attempt > 1 ? ", attempt \(story.attempt)" : ""
    return "request: \(story.url.redacted) \(end), \(story.figures.wireBytes) bytes\(attempt)"
  }

  var circumstances: [String] {
    ([connection, certificate, phases] as [String?]).compactMap(\.self).map { "  \($0)" }
  }

  var heads: [String] {
    let sent = (story.figures.trace?.sent ?? "").split(whereSeparator: \.isNewline)
    let came = story.headers.fields.map { "\($0.name): \(Self.shown($0, isSent: false))" }
    let status = story.status.map { ["  < \($0)"] } ?? []
    return sent.map { "  > \(Self.sentLine($0))" } + status + came.map { "  < \($0)" }
  }

  private var connection: String? {
    guard let address = story.figures.remoteAddress else { return nil }
    let version = story.figures.httpVersion.map { " over HTTP/\($0)" } ?? ""
    let isReused = story.figures.didReuseConnection
    return
      "address \(address)\(version), \(isReused ? "a connection used before" : "a new connection")"
  }

  private var certificate: String? {
    guard let shown = story.figures.trace?.shown else { return nil }
    let expiry = shown.expires.map { ", until \(Timestamp.format($0))" } ?? ""
    let names = shown.names.isEmpty ? "no host" : shown.names
    return "\(shown.protocolVersion), certificate of \(shown.subject) for \(names), "
      + "by \(shown.issuer)\(expiry)"
  }

  private var phases: String? {
    let figures = story.figures
    let parts: [(String, Duration?)] = [
      ("dns", figures.dns), ("connect", figures.connect), ("tls", figures.tls),
      ("request sent after", figures.requested), ("first byte after", figures.firstByte),
      ("done after", figures.total),
    ]
    let known = parts.compactMap { name, time in time.map { "\(name) \(Self.milliseconds($0)) ms" }
    }
    return known.isEmpty ? nil : known.joined(separator: ", ")
  }

  private static func milliseconds(_ time: Duration) -> String {
    let parts = time.components
    let tenths = max(0, (parts.seconds * 10_000) + parts.attoseconds / 100_000_000_000_000)
    return "\(tenths / 10).\(tenths % 10)"
  }

  // MARK: Heads

  private static func sentLine(_ line: Substring) -> String {
    let words = line.split(separator: " ", maxSplits: 2)
    if words.count == 3, words[2].hasPrefix("HTTP/") {
      return "\(words[0]) \(target(String(words[1]))) \(words[2])"
    }
    guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { return Secret.mask }
    let value = line[line.index(after: colon)...].drop { $0 == " " }
    let field = HeaderField(String(line[..<colon]), String(value))
    return "\(field.name): \(shown(field, isSent: true))"
  }

  private static func target(_ target: String) -> String {
    guard target.hasPrefix("/") else { return Redaction.url(target) }
    let origin = "http://host.invalid"
    return String(Redaction.url(origin + target).dropFirst(origin.count))
  }

  /// Masks values of request headers unless harmless, and of response headers with credentials.
  private static func shown(_ field: HeaderField, isSent: Bool) -> String {
    let name = field.name.lowercased()
    if addresses.contains(name) { return Redaction.url(field.value) }
    let isHidden = isSent ? !isShowable(name) : isHandingOut(name)
    return isHidden ? Secret.mask : HeaderText.readable(field.value)
  }

  private static let addresses: Set<String> = ["location", "content-location", "referer"]
  private static let showable: Set<String> = [
    "host", "range", "if-range", "if-none-match", "if-modified-since", "accept-encoding",
    "connection", "upgrade", "http2-settings", "content-length", "content-type",
    "proxy-connection", "expect", "te",
  ]
  private static let handingOut: Set<String> = [
    "set-cookie", "link", "refresh", "authentication-info", "proxy-authentication-info",
  ]

  private static func isShowable(_ name: String) -> Bool {
    showable.contains(name) || RequestHeader.isHarmless(name)
  }

  private static func isHandingOut(_ name: String) -> Bool {
    handingOut.contains(name)
      || ["token", "secret", "key", "session", "cookie"].contains { name.contains($0) }
  }
}
