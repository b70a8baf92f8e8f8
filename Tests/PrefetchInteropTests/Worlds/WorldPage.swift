import PrefetchCore
import PrefetchTestSupport

/// A URL of a random world with its server's response in each night.
struct WorldPage: Sendable {
  enum Reply: Hashable, Sendable {
    case page(version: Int)
    case status(Int)
    /// Response 503 with a Retry-After of two hours, from a host of its own.
    case later
    case redirect(status: Int, path: String)
  }

  enum Validators: CaseIterable, Sendable {
    case none, strong, weak, date, both
  }

  /// Freshness headers of a page; nil for none.
  static let lifetimes: [(name: String, value: String)?] = [
    nil, nil, nil,
    ("Cache-Control", "max-age=3600"),
    ("Cache-Control", "max-age=3600, must-revalidate"),
    ("Cache-Control", "max-age=0"),
    ("Cache-Control", "no-cache"),
    ("Cache-Control", "no-store"),
    ("Cache-Control", "must-revalidate"),
    ("Expires", "Thu, 01 Jan 2015 00:00:00 GMT"),
    ("Expires", "0"),
  ]

  var path: String
  var replies: [Reply] = []
  var validators = Validators.strong
  var lifetime: (name: String, value: String)?
  /// Whether the body is chunked, so that HEAD does not state its length.
  var isChunked = false
  var length = 100

  var isFreshForAnHour: Bool {
    lifetime?.value.hasPrefix("max-age=3600") == true
  }

  var isUnstorable: Bool {
    lifetime?.value == "no-store"
  }

  func body(_ version: Int) -> [UInt8] {
    let line = "\(path) version \(version)\n"
    return Array(String(repeating: line, count: 1 + (length + version) / line.utf8.count).utf8)
  }

  /// Returns the page of a version for a well-behaved site.
  func page(_ version: Int) -> Site.Page {
    let body = body(version)
    var page = Site.Page(body, headers: [HeaderField("Content-Type", "text/plain")])
    if let lifetime { page.headers.append(HeaderField(lifetime.name, lifetime.value)) }
    let opaque = "\"\(Digest.hexadecimal(body).prefix(12))\""
    switch validators {
    case .none: break
    case .strong, .both: page.entityTag = opaque
    case .weak: page.entityTag = "W/\(opaque)"
    case .date: break
    }
    if [.date, .both].contains(validators) {
      page.lastModified = "Thu, 0\(1 + version) Jan 2015 00:00:00 GMT"
    }
    return page
  }
}
