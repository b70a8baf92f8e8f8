import PrefetchCore
import PrefetchTestSupport

/// A server's behavior for one URL and the item's declaration.
struct PlannedItem: Sendable {
  enum Kind: String, Sendable, CaseIterable {
    case unchanged = "unchanged"
    /// The body changes after the first run.
    case changed
    /// Is good for an hour.
    case fresh
    /// The response has no validators, so that only a GET reveals a change.
    case anonymous
    case gone
    /// The item exists in the first run only.
    case lost
    case forbidden
    /// The server refuses requests with a password.
    case denied
    case moved
    case circle
    /// Through more hops than are followed.
    case chain
    /// To a host that transport security refuses.
    case astray
    case refused
    /// On a port that no server listens on.
    case closed
    case busy
    /// The host sends a Retry-After of hours.
    case later
    case headless = "405 to HEAD"
    case unimplemented = "501 to HEAD"
    case shy = "403 to HEAD"
    /// The body comes in chunks, so that its size is not known before.
    case endless
    case large
    case declaredLarge = "declared as large"
    case otherSize = "of another size than declared"
    case otherBytes = "of another digest than declared"
    case proved
    case cut
    case otherType = "of another type than declared"
    case unkept = "no-store"
    /// The first source no longer has the body.
    case elsewhere
    /// A 304 has another tag, and the body has changed.
    case doubtful
  }

  var kind: Kind
  var path: String
  /// Approximate body length in each act, where the length matters.
  var lengths: [Int] = []
  /// Whether the size is declared, as in the first act.
  var isMeasured = false
  var priority: Int?
  /// Whether a HEAD reveals everything about the item.
  var isShown: Bool {
    switch kind {
    case .anonymous, .headless, .unimplemented, .shy, .endless, .otherBytes, .cut, .forbidden:
      false
    default: true
    }
  }

  private static let longest = 4000

  /// Bytes of the body in an act; acts count from 0.
  func body(in act: Int) -> [UInt8] {
    let version = [.changed, .doubtful].contains(kind) ? act : 0
    let line = "\(path) \(version)\n"
    let usual = kind == .large || kind == .declaredLarge ? Self.longest + 1000 : 40 + path.count
    let size = lengths.isEmpty ? usual : lengths[version]
    let text = String(repeating: line, count: size / line.utf8.count + 1)
    return Array(text.utf8)
  }

  /// Returns the item's keys, which configurations and manifests share.
  func declaration(at url: String, elsewhere: String) -> [(String, String)] {
    var keys = [("url", url)]
    switch kind {
    case .declaredLarge: keys.append(("size", String(body(in: 0).count)))
    case .otherSize: keys.append(("size", "17"))
    case .otherBytes: keys.append(("sha256", Digest.hexadecimal("else")))
    case .proved: keys.append(("sha256", Digest.hexadecimal(body(in: 0))))
    case .denied: keys.append(("authorization", "Basic eDp5"))
    case .otherType: keys.append(("mime", "image/png"))
    case .elsewhere: keys.append(("alternates", elsewhere))
    default: if isMeasured { keys.append(("size", String(body(in: 0).count))) }
    }
    if let priority { keys.append(("priority", String(priority))) }
    return keys
  }

  func respond(to request: LoopbackRequest, in act: Int) -> Script {
    let isHead = request.method == "HEAD"
    switch kind {
    case .gone: return .respond(404, text: isHead ? "" : "gone\n")
    case .lost where act > 0: return .respond(410, text: isHead ? "" : "gone\n")
    case .denied: return .respond(401, text: isHead ? "" : "no\n")
    case .forbidden: return .respond(403, text: isHead ? "" : "no\n")
    case .elsewhere where !request.path.hasSuffix(".mirror"):
      return .respond(404, text: isHead ? "" : "gone\n")
    case .moved where !request.path.hasSuffix(".there"): return Self.redirect(to: "\(path).there")
    case .circle: return Self.redirect(to: path)
    case .chain: return Self.redirect(to: "\(request.path)x")
    case .astray: return Self.redirect(to: "http://refused.example/x")
    case .busy: return .respond(503, text: "")
    case .later: return .respond(503, [("Retry-After", "7200")], text: "")
    case .headless where isHead: return .respond(405, text: "")
    case .unimplemented where isHead: return .respond(501, text: "")
    case .shy where isHead: return .respond(403, text: "")
    default: return page(request, in: act)
    }
  }

  private func page(_ request: LoopbackRequest, in act: Int) -> Script {
    let bytes = body(in: act)
    let tag = "\"\(Digest.hexadecimal(bytes).prefix(12))\""
    var headers = [("Content-Type", "text/plain")]
    if kind != .anonymous { headers.append(("ETag", tag)) }
    if kind == .fresh { headers.append(("Cache-Control", "max-age=3600")) }
    if kind == .unkept { headers.append(("Cache-Control", "no-store")) }
    let condition = request.headers["If-None-Match"]
    if let condition, condition == tag || kind == .doubtful {
      return Script([.send(Script.head(304, headers))])
    }
    if kind == .endless {
      let head = Script.head(200, headers + [("Transfer-Encoding", "chunked")])
      guard request.method != "HEAD" else { return Script([.send(head)]) }
      return .chunked(200, headers, chunks: [bytes])
    }
    headers.append(("Content-Length", String(bytes.count)))
    let head = Script.head(200, headers)
    guard request.method != "HEAD" else { return Script([.send(head)]) }
    guard kind == .cut else { return Script([.send(head + bytes)]) }
    return Script([.send(head + bytes.prefix(bytes.count / 2)), .close])
  }

  private static func redirect(to location: String) -> Script {
    .respond(302, [("Location", location)])
  }
}
