internal import PrefetchCore

/// Content of a `Cache-Status` header (RFC 9211).
struct CacheStatus: Sendable {
  /// Reason for asking a server.
  enum Forwarding: String, Sendable {
    case uriMiss = "uri-miss"
    case miss
    /// The stored response depends on client headers, which may differ.
    case varyMiss = "vary-miss"
    case stale
    case request
  }

  /// Origin of the response: stored, from a server, or made by the cache itself.
  enum Handling: Sendable {
    case hit
    case forwarded(Forwarding)
    case own
  }

  var handling: Handling
  var forwardStatus: Int?
  /// Time until the response becomes stale; negative afterwards.
  var timeLeft: Duration?
  var isStored = false
  var isCollapsed = false
  var detail: String?

  init(_ handling: Handling, detail: String? = nil) {
    self.handling = handling
    self.detail = detail
  }

  var headers: [(name: String, value: String)] {
    var text = "prefetch"
    switch handling {
    case .hit: text += "; hit"
    case .forwarded(let reason): text += "; fwd=\(reason.rawValue)"
    case .own: break
    }
    if let forwardStatus { text += "; fwd-status=\(forwardStatus)" }
    if let timeLeft { text += "; ttl=\(Self.seconds(timeLeft))" }
    if isStored { text += "; stored" }
    if isCollapsed { text += "; collapsed" }
    if let detail { text += "; detail=\(detail)" }
    return [("Cache-Status", text)]
  }

  private static func seconds(_ duration: Duration) -> Int64 {
    min(max(duration.components.seconds, -999_999_999_999), 999_999_999_999)
  }
}
