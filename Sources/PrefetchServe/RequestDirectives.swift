internal import PrefetchCore

/// Freshness that a client demands (RFC 9111 §5.2.1, RFC 5861).
struct RequestDirectives: Hashable {
  var hasNoCache = false
  var hasOnlyIfCached = false
  var hasNoStore = false
  var maximumAge: Int64?
  var minimumFresh: Int64?
  /// Seconds of `max-stale`; `.max` when the client gives no value.
  var maximumStale: Int64?

  init(cacheControl: String?, pragma: String?) {
    guard let cacheControl else {
      // `Pragma` counts only without `Cache-Control` (RFC 9111 §5.4).
      hasNoCache = pragma?.lowercased().contains("no-cache") ?? false
      return
    }
    for part in cacheControl.split(separator: ",") {
      let words = part.split(separator: "=", maxSplits: 1).map(Self.trimmed)
      let value = words.count > 1 ? words[1] : nil
      switch words.first?.lowercased() {
      case "no-cache": hasNoCache = true
      case "no-store": hasNoStore = true
      case "only-if-cached": hasOnlyIfCached = true
      // An unreadable `max-age` counts as 0, the strictest.
      case "max-age": maximumAge = min(maximumAge ?? .max, Self.seconds(value) ?? 0)
      case "min-fresh": minimumFresh = max(minimumFresh ?? 0, Self.seconds(value) ?? 0)
      case "max-stale": maximumStale = value == nil ? .max : Self.seconds(value) ?? 0
      default: continue
      }
    }
  }

  private static func trimmed(_ text: Substring) -> String {
    var bytes = text.utf8[...]
    let isMargin: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == UInt8(ascii: "\"") }
    while let first = bytes.first, isMargin(first) { bytes.removeFirst() }
    while let last = bytes.last, isMargin(last) { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func seconds(_ text: String?) -> Int64? {
    guard let text, !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
    return min(Int64(text) ?? .max, 1 << 31)
  }
}

/// Whether a stored response may be used for a client's directives.
enum Reuse: Hashable {
  case asItIs
  /// A server must be asked first, due to age or the client's directives.
  case afterRequest(isClientsWish: Bool)

  /// Decides by the remaining freshness; nil means that every use needs revalidation.
  init(_ directives: RequestDirectives, age: Duration, left: Duration?) {
    if directives.hasNoCache {
      self = .afterRequest(isClientsWish: true)
    } else if let left, left > .zero {
      let isEnough = left >= .seconds(directives.minimumFresh ?? 0)
      self = isEnough && directives.allow(age) ? .asItIs : .afterRequest(isClientsWish: true)
    } else if let left, let bound = directives.maximumStale, directives.minimumFresh == nil {
      let isAllowed = .zero - left <= .seconds(bound) && directives.allow(age)
      self = isAllowed ? .asItIs : .afterRequest(isClientsWish: false)
    } else {
      self = .afterRequest(isClientsWish: false)
    }
  }
}

extension RequestDirectives {
  /// Returns whether the age is allowed; `max-stale` extends `max-age`.
  fileprivate func allow(_ age: Duration) -> Bool {
    guard let maximumAge else { return true }
    return age <= .seconds(maximumAge) + .seconds(maximumStale ?? 0)
  }
}
