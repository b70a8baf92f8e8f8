/// Cookies (RFC 6265) that servers set during the transfer of one item; kept in memory only.
///
/// Cookies are accepted and sent over https only. They go to the host that set them, and to other
/// hosts of their `Domain` only if the configuration names those hosts.
package struct CookieJar: Hashable, Sendable {
  private struct Cookie: Hashable, Sendable {
    var name: String
    var value: String
    var host: String
    /// `Domain` attribute; nil for a cookie of its host alone.
    var domain: String?
    var path: String
    /// Expiry; nil for a cookie that lasts as long as the jar.
    var expires: Instant?

    func replaces(_ other: Cookie) -> Bool {
      name == other.name && path == other.path && (domain == nil) == (other.domain == nil)
        && (domain ?? host) == (other.domain ?? other.host)
    }
  }

  package static let mostOfHost = 50
  package static let mostInAll = 500
  /// Maximum bytes of a name and its value together.
  package static let longestCookie = 4096
  /// Maximum bytes of a `Cookie` header; servers refuse longer ones.
  package static let longestField = 8190

  private var cookies: [Cookie] = []

  package init() {}

  package var isEmpty: Bool {
    cookies.isEmpty
  }

  package mutating func store(_ headers: HeaderBlock, from url: WebURL, at now: Instant) {
    guard url.scheme == .https, headers.has("Set-Cookie") else { return }
    cookies.removeAll { Self.isOver($0, at: now) }
    for line in headers.all("Set-Cookie") {
      guard let cookie = Self.read(line, from: url, at: now) else { continue }
      put(cookie, at: now)
    }
  }

  /// Returns a request's `Cookie` header with `declared`, whose names win; nil if nothing is added.
  package func cookieHeader(
    for url: WebURL,
    adding declared: String? = nil,
    at now: Instant,
    isNamed: (String) -> Bool
  ) -> String? {
    guard url.scheme == .https, !cookies.isEmpty else { return nil }
    let own = Set(
      (declared ?? "").split(separator: ";").map { pair in
        Self.trimmed(pair.prefix { $0 != "=" })
      }
    )
    let fitting = cookies.enumerated().filter { _, cookie in
      !Self.isOver(cookie, at: now) && !own.contains(cookie.name)
        && Self.reaches(cookie, url.host, isNamed: isNamed) && Self.covers(cookie.path, url.path)
    }
    // Servers expect the cookie with the longest path first among those of one name.
    let ordered = fitting.sorted {
      ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset)
    }
    var text = declared ?? ""
    for (_, cookie) in ordered {
      let pair = "\(cookie.name)=\(cookie.value)"
      guard text.utf8.count + pair.utf8.count + 2 <= Self.longestField else { break }
      text += text.isEmpty ? pair : "; \(pair)"
    }
    return text.isEmpty || text == declared ? nil : text
  }

  private mutating func put(_ cookie: Cookie, at now: Instant) {
    let known = cookies.firstIndex { cookie.replaces($0) }
    // Servers delete a cookie by an expiry in the past.
    guard !Self.isOver(cookie, at: now) else {
      if let known { cookies.remove(at: known) }
      return
    }
    if let known {
      cookies[known] = cookie
      return
    }
    if cookies.count(where: { $0.host == cookie.host }) >= Self.mostOfHost,
      let oldest = cookies.firstIndex(where: { $0.host == cookie.host })
    {
      cookies.remove(at: oldest)
    }
    if cookies.count >= Self.mostInAll { cookies.removeFirst() }
    cookies.append(cookie)
  }

  // MARK: Reading

  private static func read(_ line: String, from url: WebURL, at now: Instant) -> Cookie? {
    // A control character could inject lines into a later request's header.
    guard line.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    let parts = line.split(separator: ";", omittingEmptySubsequences: false)
    guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
    let name = trimmed(pair[..<equals])
    let value = trimmed(pair[pair.index(after: equals)...])
    guard !name.isEmpty, name.utf8.count + value.utf8.count <= longestCookie else { return nil }
    var cookie = Cookie(name: name, value: value, host: url.host, path: defaultPath(of: url))
    var attributes = Attributes()
    for part in parts.dropFirst() { attributes.read(part, at: now) }
    if let path = attributes.path, path.hasPrefix("/") { cookie.path = path }
    cookie.expires = attributes.age ?? attributes.expires
    guard isPrefixKept(name, attributes) else { return nil }
    switch scope(of: attributes.domain, from: url.host) {
    case .refused: return nil
    case .host: return cookie
    case .domain(let domain):
      cookie.domain = domain
      return cookie
    }
  }

  /// Attributes of a cookie; the last of each name counts.
  private struct Attributes {
    var path: String?
    var domain: String?
    var expires: Instant?
    var age: Instant?
    var isSecure = false

    mutating func read(_ part: Substring, at now: Instant) {
      let equals = part.firstIndex(of: "=")
      let name = CookieJar.trimmed(part[..<(equals ?? part.endIndex)]).lowercased()
      let value = equals.map { CookieJar.trimmed(part[part.index(after: $0)...]) } ?? ""
      guard value.utf8.count <= 1024 else { return }
      switch name {
      case "secure": isSecure = true
      case "path": path = value
      case "domain": domain = value
      case "expires": expires = CookieJar.date(value) ?? expires
      case "max-age":
        if let seconds = CookieJar.seconds(value) {
          age = seconds > 0 ? now + .seconds(seconds) : Instant(milliseconds: .min)
        }
      default: break
      }
    }
  }

  private enum Scope {
    case host
    case domain(String)
    case refused
  }

  private static func scope(of attribute: String?, from host: String) -> Scope {
    var domain = (attribute ?? "").lowercased()
    if domain.hasPrefix(".") { domain.removeFirst() }
    guard !domain.isEmpty, domain != host || IPAddress(host: host) == nil else { return .host }
    guard domain == host || isBelow(host, domain) else { return .refused }
    // A domain without a dot, such as `com`, would cover hosts of many owners.
    return domain.contains(".") ? .domain(domain) : domain == host ? .host : .refused
  }

  private static func isPrefixKept(_ name: String, _ attributes: Attributes) -> Bool {
    let name = name.lowercased()
    if name.hasPrefix("__secure-") { return attributes.isSecure }
    guard name.hasPrefix("__host-") else { return true }
    return attributes.isSecure && attributes.path == "/" && (attributes.domain ?? "").isEmpty
  }

  /// Returns the default path of a cookie without `Path`: the folder of its URL.
  private static func defaultPath(of url: WebURL) -> String {
    guard let slash = url.path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > url.path.startIndex
    else { return "/" }
    return String(url.path[..<slash])
  }

  private static func seconds(_ text: String) -> Int64? {
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    guard !digits.isEmpty, digits.utf8.allSatisfy(ASCII.isDigit) else { return nil }
    if digits.count < text.count { return 0 }
    return Int64(digits.prefix(10)).map { min($0, 4_000_000_000) }
  }

  /// Parses HTTP dates and the dashed form of the first servers that set cookies.
  private static func date(_ text: String) -> Instant? {
    HTTPDate.parse(text) ?? HTTPDate.parse(text.replacing("-", with: " "))
  }

  fileprivate static func trimmed(_ text: Substring) -> String {
    var text = text
    while text.first == " " { text = text.dropFirst() }
    while text.last == " " { text = text.dropLast() }
    return String(text)
  }

  // MARK: Reach

  private static func isOver(_ cookie: Cookie, at now: Instant) -> Bool {
    cookie.expires.map { $0 <= now } ?? false
  }

  private static func reaches(
    _ cookie: Cookie,
    _ host: String,
    isNamed: (String) -> Bool
  ) -> Bool {
    if host == cookie.host { return true }
    guard let domain = cookie.domain else { return false }
    return (host == domain || isBelow(host, domain)) && isNamed(host)
  }

  private static func isBelow(_ host: String, _ domain: String) -> Bool {
    host.hasSuffix(".\(domain)") && IPAddress(host: host) == nil
  }

  private static func covers(_ path: String, _ requestPath: String) -> Bool {
    guard requestPath.hasPrefix(path) else { return false }
    return requestPath.utf8.count == path.utf8.count || path.hasSuffix("/")
      || requestPath.utf8.dropFirst(path.utf8.count).first == UInt8(ascii: "/")
  }
}
