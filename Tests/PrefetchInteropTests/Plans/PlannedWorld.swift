import PrefetchTestSupport

/// A random configuration with its servers, from one seed, in two acts.
///
/// The first act fills the cache; the second is planned and then run.
struct PlannedWorld {
  struct PlannedSegment {
    enum Source: String, CaseIterable {
      case inline
      case manifest
      case lostManifest = "a manifest that is gone after the first act"
      case goneManifest = "a manifest that is not there"
      case busyManifest = "a manifest whose server is busy"
      case emptyManifest = "a manifest that is empty"
      case brokenManifest = "a manifest that cannot be read"
      case laterManifest = "a manifest whose server wants to be left alone"
      case refusedManifest = "a manifest that transport security refuses"

      var isInline: Bool { self == .inline }
    }

    var name: String
    var source: Source
    var keys: [String]
    var items: [PlannedItem]
    var priority: Int?
  }

  /// Scarce resource of the world.
  enum Want: Hashable {
    case nothing
    /// Room within `cache.size`.
    case room
    /// Disk space that must stay free.
    case disk
    /// The daily byte budget.
    case budget
  }

  private(set) var want = Want.nothing
  /// Percentage of all bodies that fits in each act; nil without a limit.
  private var shares: [Int?] = [nil, nil]
  /// Items that `get` fetches between the acts and no segment declares.
  private(set) var extras: [PlannedItem] = []
  /// Number of bodies within the daily budget.
  private var budget = 0
  private(set) var segments: [PlannedSegment] = []
  /// Further lines of the configuration.
  private(set) var rules: [String] = []
  private(set) var arguments: [String] = []
  private(set) var jobs = 1
  private(set) var begins = true
  /// Kind of all items, in a world with a single kind of trouble.
  private var only: PlannedItem.Kind?
  private var kindsHere: [PlannedItem.Kind] = []
  private var random: SeededRandom

  init(_ seed: UInt64) {
    random = SeededRandom(seed)
    begins = happens(70)
    jobs = happens(40) ? 8 : 1
    let kinds = PlannedItem.Kind.allCases
    if seed % 3 == 0 { only = kinds[Int(seed / 3) % kinds.count] }
    switch seed % 12 {
    case 1, 4, 7: want = .room
    case 2: want = .budget
    case 10: want = .disk
    default: break
    }
    kindsHere = choice(hides: want == .nothing || want == .disk || want == .room && happens(20))
    let count = Int.random(in: 1...4, using: &random)
    for number in 0..<count { segments.append(segment(number)) }
    begins = begins && !(want == .disk && happens(50))
    shares[1] = Int.random(in: 10...100, using: &random)
    if happens(50) { shares[0] = Int.random(in: 50...120, using: &random) }
    budget = Int.random(in: 0...4, using: &random)
    if want == .room, begins, happens(40) {
      for number in 0..<Int.random(in: 1...3, using: &random) {
        extras.append(item(.unchanged, "/g-\(number)"))
      }
    }
    if happens(30) { rules.append("redirects: { follow: false }") }
    if happens(30) { arguments += ["--network", happens(50) ? "wifi" : "cellular,metered"] }
    if happens(30) { arguments.append("--detailed-exitcode") }
    if happens(20) {
      let names = ["incomplete", "nothing", "unavailable", "deferred"].shuffled(using: &random)
      arguments += [
        "--accept", names.prefix(Int.random(in: 1...4, using: &random)).joined(separator: ","),
      ]
    }
  }

  private mutating func happens(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  /// Returns the possible kinds; with little room, facts that a HEAD hides affect other items as
  /// well.
  private func choice(hides: Bool) -> [PlannedItem.Kind] {
    let shown: [PlannedItem.Kind] = [
      .unchanged, .unchanged, .unchanged, .changed, .changed, .fresh, .gone, .lost, .moved, .proved,
      .otherSize,
    ]
    switch want {
    case .nothing, .disk: return PlannedItem.Kind.allCases
    case .budget: return shown
    case .room: return shown + (hides ? [.headless, .endless, .anonymous] : [])
    }
  }

  private mutating func item(_ kind: PlannedItem.Kind, _ path: String) -> PlannedItem {
    var item = PlannedItem(kind: kind, path: path)
    switch want {
    case .nothing, .disk: return item
    case .budget: item.lengths = [Self.unit, Self.unit]
    case .room:
      item.lengths = (0...1).map { _ in Int.random(in: 100...3000, using: &random) }
    }
    item.isMeasured = kind != .changed && happens(30)
    if happens(30) { item.priority = Int.random(in: 1...100, using: &random) }
    return item
  }

  /// Bytes of a body in the budget's unit, so large that heads and read sizes do not matter.
  private static let unit = 200_000

  private mutating func segment(_ number: Int) -> PlannedSegment {
    let source: PlannedSegment.Source =
      happens(50) || only != nil
      ? .inline
      : happens(40)
        ? .manifest : PlannedSegment.Source.allCases.randomElement(using: &random) ?? .inline
    var keys: [String] = []
    var priority: Int?
    if happens(40) {
      let rank = Int.random(in: 1...100, using: &random)
      priority = rank
      keys.append("priority: \(rank)")
    }
    if only == nil, happens(20) { keys.append("required: false") }
    if want != .budget, happens(30) { keys.append("max_file_size: 4000") }
    if happens(20) { keys.append("on_gone: remove") }
    if happens(20) { keys.append("honor_no_store: true") }
    if happens(15) { keys.append("max_stale: 1d") }
    if want != .budget, happens(15) {
      keys.append("expect: { \(happens(50) ? "max_size: 4500" : "mime: [text/html]") }")
    }
    if only != nil {
      // The segment needs no further trouble.
    } else if happens(10) {
      keys.append("network: { windows: [\"03:00-04:00\"], timezone: \(NoonZone().name) }")
    } else if happens(15) {
      keys.append("network: { allow: [ethernet] }")
    } else if happens(15) {
      keys.append("network: { metered: defer }")
    }
    var items: [PlannedItem] = []
    // A segment with only failing items ends differently from one with any usable item.
    let kinds =
      [only].compactMap(\.self).isEmpty
      ? happens(20)
        ? [kindsHere.randomElement(using: &random) ?? .unchanged]
        : kindsHere
      : [only].compactMap(\.self)
    for index in 0..<Int.random(in: 1...6, using: &random) {
      let shared = segments.flatMap(\.items).randomElement(using: &random)
      if let shared, happens(25), !items.contains(where: { $0.path == shared.path }) {
        items.append(shared)
      } else {
        var kind =
          only == nil && happens(30)
          ? .unchanged : kinds.randomElement(using: &random) ?? .unchanged
        let broken = (segments.flatMap(\.items) + items).count { [.busy, .cut].contains($0.kind) }
        // With more broken items, timing would decide which ones are still requested.
        if [.busy, .cut].contains(kind), broken >= 4 { kind = .gone }
        items.append(item(kind, "/\(number)-\(index)"))
      }
    }
    return PlannedSegment(
      name: "s\(number)",
      source: source,
      keys: keys,
      items: items,
      priority: priority
    )
  }

  /// Returns the items of a segment in an act: one leaves after the first act, one joins in the
  /// second.
  func items(of segment: PlannedSegment, in act: Int) -> [PlannedItem] {
    guard segment.items.count > 2 else { return segment.items }
    return act == 0 ? Array(segment.items.dropLast()) : Array(segment.items.dropFirst())
  }

  // MARK: Declared

  func configuration(in act: Int, _ servers: PlannedServers) -> String {
    var lines = ["name: foretold", "segments:"]
    for segment in segments {
      lines.append("  - name: \(segment.name)")
      lines += segment.keys.map { "    \($0)" }
      if segment.source.isInline {
        lines.append("    urls:")
        for item in items(of: segment, in: act) {
          let keys = servers.declaration(of: item).map { key, value in
            switch key {
            case "alternates": "\(key): [{ url: \"\(value)\" }]"
            case "size", "priority": "\(key): \(value)"
            case "authorization": "headers: { Authorization: \"\(value)\" }"
            default: "\(key): \"\(value)\""
            }
          }
          lines.append("      - { \(keys.joined(separator: ", ")) }")
        }
      } else {
        lines.append("    manifest: \"\(servers.manifest(of: segment))\"")
      }
    }
    lines += rules
    lines.append("network:")
    lines.append("  retries: { items: 0, lookups: 0, delay: 1ms, max_delay: 2ms, wait: 1s }")
    if want == .budget {
      lines.append(
        "  daily_limit: \(act == 0 ? 1_000_000_000 : Self.unit * budget + Self.unit / 2)"
      )
    }
    lines.append("cache:")
    lines.append(
      "  min_free: \(want == .disk && act > 0 || !begins && want == .disk ? 1 << 50 : 0)"
    )
    if want == .room, let share = shares[begins ? act : 1] {
      lines.append("  size: \(max(1, weight(in: act, servers) * share / 100))")
    }
    return lines.joined(separator: "\n")
  }

  /// Returns the bytes of all items and manifests that an act declares.
  private func weight(in act: Int, _ servers: PlannedServers) -> Int {
    var bodies: [String: Int] = [:]
    for segment in segments {
      for item in items(of: segment, in: act) { bodies[item.path] = item.body(in: act).count }
      if !segment.source.isInline {
        bodies[segment.name] = list(of: segment, in: act, servers).utf8.count
      }
    }
    return bodies.values.reduce(0, +)
  }

  func manifest(of segment: PlannedSegment, in act: Int, _ servers: PlannedServers) -> Script {
    let type = [("Content-Type", "application/json")]
    switch segment.source {
    case .goneManifest: return .respond(404, text: "")
    case .lostManifest where act > 0: return .respond(404, text: "")
    case .busyManifest where act > 0: return .respond(500, text: "")
    case .laterManifest where act > 0: return .respond(503, [("Retry-After", "7200")], text: "")
    case .emptyManifest where act > 0: return .respond(200, type, text: Manifest.text([]))
    case .brokenManifest where act > 0: return .respond(200, type, text: "{")
    default: return .respond(200, type, text: list(of: segment, in: act, servers))
    }
  }

  private func list(of segment: PlannedSegment, in act: Int, _ servers: PlannedServers) -> String {
    let items = items(of: segment, in: act).map { item in
      let keys = servers.declaration(of: item).map { key, value in
        switch key {
        case "alternates": "\"\(key)\": [{\"url\": \"\(value)\"}]"
        case "authorization": "\"headers\": {\"Authorization\": \"\(value)\"}"
        case "sha256": "\"digests\": {\"\(key)\": \"\(value)\"}"
        case "size", "priority": "\"\(key)\": \(value)"
        default: "\"\(key)\": \"\(value)\""
        }
      }
      return "{\(keys.joined(separator: ", "))}"
    }
    let head = #"{"format": "prefetch-manifest", "version": 1, "items": ["#
    return "\(head)\(items.joined(separator: ","))]}"
  }
}
