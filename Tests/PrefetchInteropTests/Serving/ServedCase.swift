/// State of a stored response and its origin when a client sends a request.
enum ServedState: String, CaseIterable {
  /// 100 seconds old, with 3,500 left.
  case fresh
  /// 5,000 seconds old, of which 1,400 too many.
  case stale
  case absent
  /// Fresh, but with damaged bytes.
  case damaged
  /// Stale, and the origin is unreachable.
  case cut
  /// Stale with an unreachable origin, for a `serve` with `--max-stale`.
  case lenient
  /// Stale, and the origin is slow.
  case slow
  /// Copies served without `--pull`.
  case freshAlone, staleAlone, absentAlone, damagedAlone
}

/// Freshness that a client requests.
enum ServedWish: String, CaseIterable {
  case nothing = ""
  case noCache = "Cache-Control: no-cache"
  case pragma = "Pragma: no-cache"
  case ageZero = "Cache-Control: max-age=0"
  case age200 = "Cache-Control: max-age=200"
  case anyStale = "Cache-Control: max-stale"
  case staleMinute = "Cache-Control: max-stale=60"
  case freshHours = "Cache-Control: min-fresh=7200"
  case onlyCached = "Cache-Control: only-if-cached"
  /// Conflicting directives, of which `no-cache` wins.
  case mixed = "Cache-Control: max-stale, no-cache, max-age=100000"
}

/// Kind of a client's request.
enum ServedShape: String, CaseIterable {
  case whole, part, condition, head
}

/// Expected result of a request.
enum ServedResult: Hashable {
  /// Served from the cache without a request.
  case hit
  /// Served stale from the cache without a request.
  case staleHit
  /// Revalidated for this reason, and confirmed.
  case confirmed(String)
  /// Fetched from the origin.
  case fetched(String)
  /// The origin is unreachable, and the older copy is served.
  case instead
  /// No request to the origin is permitted.
  case timeout
  case missing
  case broken
  case failed
}

enum ServedTable {
  static func result(_ state: ServedState, _ wish: ServedWish, _ shape: ServedShape) -> ServedResult
  {
    let insists = [.noCache, .pragma, .mixed].contains(wish)
    switch state {
    case .fresh:
      let isEnough = ![.ageZero, .freshHours].contains(wish)
      return insists || !isEnough ? .confirmed("request") : .hit
    case .stale, .slow:
      if wish == .onlyCached { return .timeout }
      if wish == .anyStale { return .staleHit }
      return .confirmed(insists ? "request" : "stale")
    case .absent:
      return wish == .onlyCached ? .timeout : .fetched("uri-miss")
    case .damaged:
      // Before a request to the origin the file is checked, and a damaged body cannot be confirmed.
      if insists || [.ageZero, .freshHours].contains(wish) { return .fetched("request") }
      // Bytes that no client receives are not checked.
      guard shape == .whole || shape == .part else { return result(.fresh, wish, shape) }
      return wish == .onlyCached ? .timeout : .fetched("miss")
    case .cut, .lenient:
      if wish == .onlyCached { return .timeout }
      if wish == .anyStale { return .staleHit }
      return state == .cut || insists ? .failed : .instead
    case .freshAlone:
      return insists ? .timeout : .hit
    case .staleAlone:
      return insists || wish == .onlyCached ? .timeout : .staleHit
    case .absentAlone:
      return wish == .onlyCached ? .timeout : .missing
    case .damagedAlone:
      if insists { return .timeout }
      guard shape == .whole || shape == .part else { return .hit }
      return wish == .onlyCached ? .timeout : .broken
    }
  }
}
