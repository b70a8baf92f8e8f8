import PrefetchTestSupport

/// A random world of one seed: pages that change from night to night, and two segments that share
/// some.
struct World: Sendable {
  struct Item: Sendable {
    enum Declared: Sendable {
      case nothing, digest, size, both, wrongDigest, wrongSize
    }

    var path: String
    var declared = Declared.nothing
    var priority: Int?
    /// The path of a second source.
    var alternate: String?
    /// Whether the item is declared `ttl: immutable`.
    var isImmutable = false
  }

  struct Segment: Sendable {
    var name: String
    var keys: [String] = []
    var items: [Item] = []
    /// Whether a list from the server names the segment's items.
    var hasList = false
    /// Whether the segment stores nothing, by `store: false` or `head: true`.
    var isUnstored = false
    var requiresDigests = false
  }

  static let nights = 3

  let seed: UInt64
  let wire: Wire
  private(set) var pages: [WorldPage] = []
  private(set) var segments: [Segment] = []
  private(set) var settings: [String] = []
  private(set) var jobs = 1
  private var random: SeededRandom

  init(_ seed: UInt64, hasLists: Bool = true) {
    self.seed = seed
    random = SeededRandom(seed)
    wire = random.happens(30) ? .tls : .plainHTTP
    jobs = random.happens(50) ? 8 : 1
    for number in 0..<Int.random(in: 3...7, using: &random) { addPage(number) }
    addSegment("a", of: pages.count)
    addSegment("b", of: pages.count)
    let retries = random.happens(30) ? 1 : 0
    settings = [
      "network:",
      "  retries: { items: \(retries), lookups: 0, delay: 1ms, max_delay: 2ms, wait: 1s }",
    ]
    if random.happens(20) { settings.append("  daily_limit: 100MB") }
    settings += ["cache:", "  min_free: 0"]
    if random.happens(20) { settings.append("  size: 50MB") }
    guard !hasLists else { return }
    for number in segments.indices { segments[number].hasList = false }
    // `get` would remember an absence for minutes, while a run asks again.
    settings.append("  negative_ttl: 0")
  }

  func page(_ path: String) -> WorldPage? {
    pages.first { $0.path == path }
  }

  // MARK: What happens by chance

  private mutating func addPage(_ number: Int) {
    var page = WorldPage(path: "/\(number).txt")
    page.validators = WorldPage.Validators.allCases.randomElement(using: &random) ?? .strong
    page.lifetime = WorldPage.lifetimes.randomElement(using: &random) ?? nil
    page.isChunked = random.happens(15)
    page.length = random.happens(10) ? 100_000 : Int.random(in: 1...4_000, using: &random)
    // The first page is always available as a redirect target, and hosts with five bad items in a
    // row would be deferred.
    let broken = pages.count { $0.replies.contains { $0 == .status(500) || $0 == .status(503) } }
    let closes = number > 0 && random.happens(8)
    var version = 0
    for night in 0..<Self.nights {
      if night > 0, random.happens(40) { version += 1 }
      var reply = WorldPage.Reply.page(version: version)
      if closes {
        if random.happens(60) { reply = .later }
        page.path = "/closing/\(number).txt"
      } else if number > 0, random.happens(25) {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: reply = .status(random.happens(50) ? 404 : 410)
        case 1 where broken < 2: reply = .status(random.happens(50) ? 500 : 503)
        default:
          let goal = pages.filter { !$0.path.hasPrefix("/closing/") }
            .randomElement(using: &random)?.path
          reply = .redirect(status: random.happens(50) ? 301 : 302, path: goal ?? "/0.txt")
        }
      }
      page.replies.append(reply)
    }
    pages.append(page)
  }

  private mutating func addSegment(_ name: String, of count: Int) {
    var segment = Segment(name: name)
    segment.hasList = random.happens(30)
    let first = segments.first?.items ?? []
    for page in pages.shuffled(using: &random).prefix(Int.random(in: 2...count, using: &random)) {
      var item = Item(path: page.path)
      let other = first.first { $0.path == page.path }
      item.declared = declaration(excluding: other?.declared)
      if random.happens(20) { item.priority = Int.random(in: 1...100, using: &random) }
      if random.happens(10), page.path != "/0.txt" { item.alternate = "/0.txt" }
      item.isImmutable = random.happens(5)
      segment.items.append(item)
    }
    let keys = [
      (20, "ttl: 1h"), (25, "max_stale: 1d"), (20, "max_file_size: 2kB"),
      (20, "on_gone: remove"), (20, "honor_no_store: true"), (10, "expect: { max_size: 3kB }"),
      (10, "expect: { mime: [text/plain] }"), (15, "required: false"),
      (25, "priority: \(Int.random(in: 1...9, using: &random))"),
    ]
    for (percent, key) in keys where random.happens(percent) {
      let word = key.prefix { $0 != ":" }
      guard !segment.keys.contains(where: { $0.hasPrefix(word) }) else { continue }
      segment.keys.append(key)
    }
    if random.happens(8) {
      segment.keys.append("require_digest: true")
      segment.requiresDigests = true
    } else if random.happens(8) {
      segment.keys.append(random.happens(50) ? "store: false" : "head: true")
      segment.isUnstored = true
    }
    segments.append(segment)
  }

  /// Returns a declaration; only the first of two may have a digest, since contradictions are
  /// errors.
  private mutating func declaration(excluding other: Item.Declared?) -> Item.Declared {
    let number = Int.random(in: 0..<100, using: &random)
    let isFree = other == nil || other == .nothing
    switch number {
    case 0..<15: return isFree ? .digest : .size
    case 15..<25: return .size
    case 25..<30: return isFree ? .both : .size
    case 30..<35: return isFree ? .wrongDigest : .nothing
    case 35..<40: return .wrongSize
    default: return .nothing
    }
  }

  // MARK: What is the case in a night

  /// Returns the final path and version of a URL; nil when it leads to no page.
  func goal(_ path: String, in night: Int) -> (page: WorldPage, version: Int)? {
    var path = path
    for _ in 0..<5 {
      guard let page = page(path) else { return nil }
      switch page.replies[night] {
      case .page(let version): return (page, version)
      case .redirect(_, let next): path = next
      case .status, .later: return nil
      }
    }
    return nil
  }

  func body(_ path: String, in night: Int) -> [UInt8]? {
    goal(path, in: night).map { $0.page.body($0.version) }
  }

  /// Returns the body that an item's declaration describes: the newest that its URL has returned.
  private func declaredBody(_ item: Item, in night: Int) -> [UInt8] {
    let known = (0...night).reversed().lazy.compactMap { body(item.path, in: $0) }.first
    return known ?? Array("never there".utf8)
  }

  private func facts(_ item: Item, in night: Int) -> [(key: String, value: String)] {
    let body = declaredBody(item, in: night)
    let digest = ("sha256", Digest.hexadecimal(body))
    let size = ("size", String(body.count))
    switch item.declared {
    case .nothing: return []
    case .digest: return [digest]
    case .size: return [size]
    case .both: return [digest, size]
    case .wrongDigest: return [("sha256", Digest.hexadecimal("else"))]
    case .wrongSize: return [("size", String(body.count + 1))]
    }
  }

  /// Returns whether a body contradicts its declaration.
  func contradicts(_ item: Item, _ body: [UInt8], in night: Int) -> Bool {
    facts(item, in: night).contains { key, value in
      key == "size" ? value != String(body.count) : value != Digest.hexadecimal(body)
    }
  }

  /// Returns whether any segment declares the digest of a body, stored or not.
  func isProven(_ path: String, _ digest: String, in night: Int) -> Bool {
    segments.flatMap(\.items).contains { item in
      item.path == path && facts(item, in: night).contains { $0 == "sha256" && $1 == digest }
    }
  }

  // MARK: What is declared

  func url(_ path: String, _ origin: WorldOrigin) -> String {
    (path.hasPrefix("/closing/") ? origin.closingBase : origin.base) + path
  }

  func configuration(in night: Int, _ origin: WorldOrigin) throws -> String {
    var lines = ["name: world"]
    switch wire {
    case .plainHTTP: lines.append("transport_security: { NSAllowsLocalNetworking: true }")
    case .tls: lines.append("tls: { ca_file: \"\(try TrustGround.shared.get().authorities)\" }")
    }
    lines += settings + ["segments:"]
    for segment in segments {
      lines.append("  - name: \(segment.name)")
      lines += segment.keys.map { "    \($0)" }
      guard !segment.hasList else {
        lines.append("    manifest: \"\(origin.base)/\(segment.name).json\"")
        continue
      }
      lines.append("    urls:")
      for item in segment.items {
        var keys = ["url: \"\(url(item.path, origin))\""]
        keys += facts(item, in: night).map { "\($0.key): \($0.value)" }
        if let priority = item.priority { keys.append("priority: \(priority)") }
        if item.isImmutable { keys.append("ttl: immutable") }
        if let path = item.alternate {
          keys.append("alternates: [{ url: \"\(url(path, origin))\" }]")
        }
        lines.append("      - { \(keys.joined(separator: ", ")) }")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The lists of the night by their paths.
  func lists(in night: Int, _ origin: WorldOrigin) -> [String: String] {
    var lists: [String: String] = [:]
    for segment in segments where segment.hasList {
      let items = segment.items.map { item in
        var keys = ["\"url\": \"\(url(item.path, origin))\""]
        keys += facts(item, in: night).map { key, value in
          key == "size" ? "\"size\": \(value)" : "\"digests\": {\"\(key)\": \"\(value)\"}"
        }
        if let priority = item.priority { keys.append("\"priority\": \(priority)") }
        if item.isImmutable { keys.append("\"ttl\": \"immutable\"") }
        if let path = item.alternate {
          keys.append("\"alternates\": [{\"url\": \"\(url(path, origin))\"}]")
        }
        return "{\(keys.joined(separator: ", "))}"
      }
      lists["/\(segment.name).json"] =
        "{\"format\": \"prefetch-manifest\", \"version\": 1, \"items\": [\(items.joined(separator: ", "))]}"
    }
    return lists
  }
}
