import PrefetchTestSupport

/// A made-up configuration with its servers, as one seed has it, in two acts: the first fills the
/// cache, the second is planned and then run.
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

  private(set) var segments: [PlannedSegment] = []
  /// Further lines of the configuration.
  private(set) var rules: [String] = []
  private(set) var arguments: [String] = []
  private(set) var jobs = 1
  private(set) var begins = true
  /// What everything is, where a world has one kind of trouble only.
  private var only: PlannedItem.Kind?
  private var random: SeededRandom

  init(_ seed: UInt64) {
    random = SeededRandom(seed)
    begins = happens(70)
    jobs = happens(40) ? 8 : 1
    let kinds = PlannedItem.Kind.allCases
    if seed % 3 == 0 { only = kinds[Int(seed / 3) % kinds.count] }
    let count = Int.random(in: 1...4, using: &random)
    for number in 0..<count { segments.append(segment(number)) }
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
    if happens(30) { keys.append("max_file_size: 4000") }
    if happens(20) { keys.append("on_gone: remove") }
    if happens(20) { keys.append("honor_no_store: true") }
    if happens(15) { keys.append("max_stale: 1d") }
    if happens(15) {
      keys.append("expect: { \(happens(50) ? "max_size: 4500" : "mime: [text/html]") }")
    }
    if only != nil {
      // Nothing stands between it and its trouble.
    } else if happens(10) {
      keys.append("network: { windows: [\"03:00-04:00\"], timezone: \(NoonZone().name) }")
    } else if happens(15) {
      keys.append("network: { allow: [ethernet] }")
    } else if happens(15) {
      keys.append("network: { metered: defer }")
    }
    var items: [PlannedItem] = []
    // A whole segment of trouble ends otherwise than one with anything in it that serves.
    let kinds =
      [only].compactMap(\.self).isEmpty
      ? happens(20)
        ? [PlannedItem.Kind.allCases.randomElement(using: &random) ?? .plain]
        : PlannedItem.Kind.allCases
      : [only].compactMap(\.self)
    for place in 0..<Int.random(in: 1...6, using: &random) {
      let shared = segments.flatMap(\.items).randomElement(using: &random)
      if let shared, happens(25), !items.contains(where: { $0.path == shared.path }) {
        items.append(shared)
      } else {
        var kind =
          only == nil && happens(30) ? .plain : kinds.randomElement(using: &random) ?? .plain
        let broken = (segments.flatMap(\.items) + items).count { [.busy, .cut].contains($0.kind) }
        // One more, and which of them are still asked is a matter of who is faster.
        if [.busy, .cut].contains(kind), broken >= 4 { kind = .gone }
        items.append(PlannedItem(kind: kind, path: "/\(number)-\(place)"))
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

  /// The items that a segment names in an act: one leaves after the first, one comes with the second.
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
    lines.append(
      "network: { retries: { items: 0, lookups: 0, delay: 1ms, max_delay: 2ms, wait: 1s } }"
    )
    lines.append("cache: { min_free: 0 }")
    return lines.joined(separator: "\n")
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
    default: break
    }
    let items = items(of: segment, in: act).map { item in
      let keys = servers.declaration(of: item).map { key, value in
        switch key {
        case "alternates": "\"\(key)\": [{\"url\": \"\(value)\"}]"
        case "authorization": "\"headers\": {\"Authorization\": \"\(value)\"}"
        case "sha256": "\"digests\": {\"\(key)\": \"\(value)\"}"
        case "size": "\"\(key)\": \(value)"
        default: "\"\(key)\": \"\(value)\""
        }
      }
      return "{\(keys.joined(separator: ", "))}"
    }
    let head = #"{"format": "prefetch-manifest", "version": 1, "items": ["#
    return .respond(200, type, text: "\(head)\(items.joined(separator: ","))]}")
  }
}
