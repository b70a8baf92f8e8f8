internal import PrefetchCore

/// What the cache says of an answer in `Cache-Status` (RFC 9211).
struct CacheStatus: Sendable {
  /// Why a server was asked.
  enum Forwarding: String, Sendable {
    case uriMiss = "uri-miss"
    /// What is stored cannot be used.
    case miss
    /// What is stored depends on what a client says, and this one may say something else.
    case varyMiss = "vary-miss"
    case stale
    case request
  }

  /// Nil for an answer of the cache's own making.
  enum Handling: Sendable {
    case hit
    case forwarded(Forwarding)
    case own
  }

  var handling: Handling
  /// What the server answered.
  var forwardStatus: Int?
  /// Until the answer becomes stale, or since it did.
  var timeLeft: Duration?
  var isStored = false
  /// Whether one request served several clients.
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

  /// Whole seconds as a structured field may say them.
  private static func seconds(_ duration: Duration) -> Int64 {
    min(max(duration.components.seconds, -999_999_999_999), 999_999_999_999)
  }
}
