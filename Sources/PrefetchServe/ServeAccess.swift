internal import PrefetchCore

/// Access of web pages to the server, in addition to local programs.
package struct ServeAccess: Sendable {
  /// Origin of the admitted pages; `null` is the origin of files.
  package var origin: String?
  /// Secret prefix of paths: `/-/t/TOKEN/`.
  package var token: String?

  package init(origin: String? = nil, token: String? = nil) {
    self.origin = origin
    self.token = token
  }

  /// Returns whether an origin is admitted; `null`, the origin of any file, needs the token.
  func admits(origin: String?, hasToken: Bool) -> Bool {
    guard let origin, origin == self.origin else { return false }
    return origin != "null" || hasToken
  }

  func target(_ target: String) -> (path: String, hasToken: Bool)? {
    guard let token, target.hasPrefix(Self.prefix) else { return (target, false) }
    let rest = target.dropFirst(Self.prefix.count)
    let given = rest.prefix { $0 != "/" && $0 != "?" }
    guard Self.isSame(String(given), token) else { return nil }
    let path = rest.dropFirst(given.count)
    return (path.hasPrefix("/") ? String(path) : "/" + path, true)
  }

  func isShown(in authorization: String?) -> Bool {
    guard let token, let authorization, let blank = authorization.firstIndex(of: " "),
      authorization[..<blank].lowercased() == "bearer"
    else { return false }
    let given = authorization[blank...].drop { $0 == " " }
    return Self.isSame(String(given), token)
  }

  private static let prefix = "/-/t/"

  /// Compares tokens of equal length in constant time.
  private static func isSame(_ one: String, _ other: String) -> Bool {
    let (one, other) = (Array(one.utf8), Array(other.utf8))
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  func headers(for origin: String?, hasToken: Bool) -> [(name: String, value: String)] {
    guard self.origin != nil else { return [] }
    var headers = [(name: "Vary", value: "Origin")]
    guard let origin, admits(origin: origin, hasToken: hasToken) else { return headers }
    headers += [
      ("Access-Control-Allow-Origin", origin),
      (
        "Access-Control-Expose-Headers",
        "Accept-Ranges, Age, Cache-Status, Content-Length, Content-Range, ETag"
      ),
    ]
    return headers
  }

  static let eventPermission: [(name: String, value: String)] = [
    ("Access-Control-Allow-Methods", "POST"),
    ("Access-Control-Allow-Headers", "Authorization, Content-Type"),
    ("Access-Control-Max-Age", "600"),
  ]

  static let permission: [(name: String, value: String)] = [
    ("Access-Control-Allow-Methods", "GET, HEAD"),
    (
      "Access-Control-Allow-Headers",
      "Cache-Control, If-Match, If-Modified-Since, If-None-Match, If-Range, If-Unmodified-Since, Range"
    ),
    ("Access-Control-Max-Age", "600"),
  ]
}
