/// How a stored answer and its server stand when a client asks.
enum ServedState: String, CaseIterable {
  /// 100 seconds old, with 3,500 left.
  case fresh
  /// 5,000 seconds old, of which 1,400 too many.
  case stale
  case absent
  /// Fresh, but its bytes are not what they were.
  case damaged
  /// Stale, and its server is gone.
  case cut
  /// The same, at a `serve` with `--max-stale`.
  case lenient
  /// Stale, and its server takes its time.
  case slow
  /// At a `serve` without `--pull`.
  case freshAlone, staleAlone, absentAlone, damagedAlone
}

/// What a client says of the freshness that it wants.
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
  /// Where a question is demanded nothing else counts.
  case mixed = "Cache-Control: max-stale, no-cache, max-age=100000"
}

/// What a client asks for.
enum ServedShape: String, CaseIterable {
  case whole, part, condition, head
}

/// What has to come of a request.
enum ServedResult: Hashable {
  /// Out of the cache, no server asked.
  case hit
  /// The same with a copy that is stale.
  case staleHit
  /// The server was asked whether it still holds, for this reason, and said yes.
  case confirmed(String)
  /// The server sent it.
  case fetched(String)
  /// The server cannot be reached; the older copy comes.
  case instead
  /// No server may be asked.
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
      // Who asks the server looks at the file first, and has nothing that could be confirmed.
      if insists || [.ageZero, .freshHours].contains(wish) { return .fetched("request") }
      // Bytes that no client gets are not looked at.
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
