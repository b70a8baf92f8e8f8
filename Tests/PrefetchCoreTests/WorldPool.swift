import PrefetchTestSupport

@testable import PrefetchCore

/// Material of simulated runs: a few URLs on three hosts, so that segments share many.
struct WorldPool {
  /// Whether most declared items are stored and only need revalidation.
  var isWarm = false
  /// Whether network rules change during a run.
  var hasNetworkRules = false
  /// Whether in some runs no server of one host responds.
  var losesHosts = false
  /// Whether manifests have parts and signatures, items mirrors, and some segments keep nothing.
  var isVaried = false

  /// Whether some items consist of several files.
  var hasBundles = false

  static let urls: [WebURL] = ["a", "b", "c"].flatMap { host in
    (0..<4).compactMap { try? WebURL("https://\(host).example/\($0)") }
  }

  static func digest(_ byte: UInt8) -> ContentDigest {
    // The initializer returns nil only for other lengths than 32.
    ContentDigest(bytes: [UInt8](repeating: byte, count: 32)) ?? digest(byte)
  }

  /// Returns a table as a manifest reader makes it: most entries fit into the columns.
  func table(_ generator: inout SeededRandom) -> EntryTable {
    var table = EntryTable()
    for var entry in entries(&generator) {
      if isWarm, generator.happens(90) {
        (entry.digests, entry.lifetime, entry.priority) = ([], nil, nil)
      }
      let bytes = Array(entry.url.string.utf8)
      let id = Array((entry.id ?? "").utf8)
      // References can be resolved as bytes only for known origins.
      table.resolveReferences(against: entry.url)
      let fitsColumns =
        entry.network == nil && entry.priority == nil && entry.digests.isEmpty
        && entry.lifetime == nil
        && entry.expires == nil && entry.alternates.isEmpty
      if fitsColumns, let address = unsafe table.resolve(bytes.span.bytes) {
        var details = EntryTable.Details()
        details.size = entry.size
        unsafe table.appendURL(bytes.span.bytes, at: address, id: id.span.bytes, details)
      } else {
        table.append(entry)
      }
    }
    return table
  }

  private func entries(_ generator: inout SeededRandom) -> [ManifestEntry] {
    var entries = Self.entries(&generator)
    if isVaried {
      for index in entries.indices where generator.happens(20) {
        entries[index].alternates = [
          Self.urls[Int.random(in: Self.urls.indices, using: &generator)]
        ]
      }
    }
    if hasBundles {
      for index in entries.indices where generator.happens(40) {
        entries[index].type = generator.happens(30) ? "vast" : "hls"
      }
    }
    guard hasNetworkRules else { return entries }
    for index in entries.indices where generator.happens(10) {
      entries[index].network = Self.rules(&generator)
    }
    return entries
  }

  /// Returns a manifest's network rules.
  func manifestRules(_ generator: inout SeededRandom) -> NetworkPolicy? {
    hasNetworkRules && generator.happens(20) ? Self.rules(&generator) : nil
  }

  private static func entries(_ generator: inout SeededRandom) -> [ManifestEntry] {
    let count = Int.random(in: 0...10, using: &generator)
    return (0..<count).compactMap { _ in
      guard let url = urls.randomElement(using: &generator) else { return nil }
      var entry = ManifestEntry(url: url)
      entry.id = url.path
      if generator.happens(25) {
        let byte: UInt8 = generator.happens(85) ? 1 : 3
        entry.digests = [
          ExpectedDigest(algorithm: .sha256, bytes: [UInt8](repeating: byte, count: 32))
        ]
      }
      if generator.happens(10) {
        entry.digests.append(
          ExpectedDigest(algorithm: .sha512, bytes: [UInt8](repeating: 1, count: 64))
        )
      }
      if generator.happens(10) { entry.size = 10 }
      if generator.happens(5) { entry.lifetime = .immutable }
      if generator.happens(15) { entry.priority = Int.random(in: 1...3, using: &generator) }
      if generator.happens(5) { entry.expires = Instant(seconds: 1) }
      return entry
    }
  }

  func start(
    seed: UInt64,
    now: Moment,
    generator: inout SeededRandom
  ) -> Dispatcher.Start {
    var policy = RunPolicy()
    policy.concurrency = Int.random(in: 1...5, using: &generator)
    policy.perHost = Int.random(in: 1...3, using: &generator)
    policy.lookAhead = generator.happens(50) ? Int.random(in: 1...6, using: &generator) : 0
    policy.revalidatesAll = generator.happens(20)
    policy.refetchesAll = generator.happens(10)
    policy.isOffline = generator.happens(5)
    policy.probesItems = generator.happens(80)
    policy.maximumStale = generator.happens(30) ? .seconds(86_400) : .zero
    policy.deadline =
      generator.happens(20) ? .seconds(Int.random(in: 0...20, using: &generator)) : nil
    if hasNetworkRules { policy.network = Self.rules(&generator) }
    let modes: [RunRequest.Mode] = isWarm ? [.run] : [.run, .run, .run, .plan, .get]
    let mode = modes.randomElement(using: &generator) ?? .run
    let count = isWarm ? 1 : Int.random(in: 0...4, using: &generator)
    let segments = (0..<count).map { segment($0, &generator) }
    var request = RunRequest(mode: mode, identity: "me", segments: segments, policy: policy)
    request.forgotten = [SegmentKey(identity: "me", name: "gone")]
    request.listsKept = generator.happens(30)
    return .init(
      request: request,
      segments: Self.keys.map { record($0, now, &generator) },
      hasUnseenChanges: generator.happens(30),
      now: now,
      seed: seed,
      isBrief: generator.happens(50),
      identify: { String($0.suffix(4)) }
    )
  }

  private static let keys = ["s0", "s1", "s2", "gone"].map {
    SegmentKey(identity: "me", name: $0)
  }

  private func segment(_ number: Int, _ generator: inout SeededRandom) -> SegmentDeclaration {
    let source: SegmentDeclaration.Source =
      switch isWarm ? 1 : Int.random(in: 0..<3, using: &generator) {
      case 0: .inline(entries(&generator))
      case 1: .file("/manifest\(number)")
      default: .remote(Self.urls[number])
      }
    var segment = SegmentDeclaration(name: "s\(number)", source: source)
    segment.isRequired = generator.happens(80)
    segment.priority = generator.happens(50) ? Int.random(in: 1...3, using: &generator) : nil
    segment.allowsEmpty = generator.happens(50)
    if isVaried {
      segment.isStored = generator.happens(80)
      segment.requestsHeadOnly = !segment.isStored && generator.happens(30)
      if generator.happens(30) { segment.manifestKeys = ["key"] }
      if generator.happens(20) { segment.manifestRules.kept = 3 }
      if generator.happens(20) { segment.manifestRules.excluded = ["2"] }
    }
    if hasNetworkRules, generator.happens(30) { segment.network = Self.rules(&generator) }
    if generator.happens(25) { segment.publishing = PublishingRules(folder: "/srv/\(number)") }
    return segment
  }

  /// Simulated runs begin at 22:13:20 and seldom last a minute.
  private static func rules(_ generator: inout SeededRandom) -> NetworkPolicy {
    var rules = NetworkPolicy()
    if generator.happens(40) { rules.allowed = [.wifi, .ethernet] }
    rules.defersMetered = generator.happens(30)
    rules.defersUnknownMetered = generator.happens(10)
    rules.needsMains = generator.happens(15)
    if generator.happens(40) {
      let day = Array(ClockWindow.Day.allCases)
      let window = ClockWindow(days: day, start: 0, end: generator.happens(80) ? 1334 : 1333)
      rules.hours = [OpeningHours(windows: [window], zone: .utc)]
    }
    if generator.happens(40) {
      rules.budgets = [
        ByteBudget(period: .day, limit: Int64.random(in: 1...90, using: &generator))
      ]
    }
    return rules
  }

  static func conditions(_ generator: inout SeededRandom) -> NetworkConditions {
    var conditions = NetworkConditions()
    conditions.type = generator.happens(85) ? .wifi : generator.happens(50) ? .cellular : nil
    conditions.isMetered = generator.happens(70) ? false : generator.happens(50) ? true : nil
    conditions.power.isOnMains = generator.happens(85)
    return conditions
  }

  /// Returns the inventory of the cache, and the record of each row.
  func inventory(_ generator: inout SeededRandom) -> (InventoryFacts, [ContentRecord]) {
    var records: [ContentRecord] = []
    var rows: [Inventory.Row] = []
    var sets: [[Int]] = [[]]
    for url in Self.urls where generator.happens(isWarm ? 90 : 50) {
      var record = ContentRecord(url: url.string, id: url.path)
      if generator.happens(80) {
        record.digest = Self.digest(generator.happens(80) ? 1 : 2)
        record.size = 10
        record.state = .cached
        record.validators = Validators(entityTag: generator.happens(80) ? "\"1\"" : nil)
        record.freshness =
          generator.happens(isWarm ? 5 : 40) ? .declared(until: .distantFuture) : .alwaysRevalidate
        if generator.happens(isWarm ? 95 : 70) {
          var entry = ManifestEntry(url: url)
          entry.id = url.path
          record.describe(entry)
        }
      } else if generator.happens(20) {
        record.state = .paused
      }
      var row = Inventory.Row(record, item: Int64(records.count))
      row.holders = UInt32(sets.count)
      row.isLocked = generator.happens(10)
      sets.append(Self.keys.indices.filter { _ in generator.happens(isWarm ? 90 : 40) })
      records.append(record)
      rows.append(row)
    }
    let inventory = Inventory(rows: rows, holderSets: sets, segmentKeys: Self.keys)
    return (
      InventoryFacts(
        inventory: inventory,
        missing: generator.happens(20) ? [Self.digest(1)] : []
      ), records
    )
  }

  private func record(
    _ key: SegmentKey,
    _ now: Moment,
    _ generator: inout SeededRandom
  ) -> SegmentRecord {
    var record = SegmentRecord(key: key)
    if generator.happens(60), let number = key.name.last?.wholeNumberValue {
      record.manifestURL = Self.urls[number].string
      record.manifest = Self.digest(9)
      record.validators = Validators(entityTag: "\"m\"")
      record.itemCount = Int.random(in: 0...20, using: &generator)
      let hosts = Set(Self.urls.map(\.authority)).sorted().filter { _ in generator.happens(40) }
      record.hosts = generator.happens(90) ? hosts : nil
      if isVaried {
        for number in 0..<40 where generator.happens(30) {
          var document = DocumentRecord(
            url: "https://a.example/part/\(number)",
            digest: Self.digest(8)
          )
          document.validators = record.validators
          record.documents.append(document)
        }
        var signature = DocumentRecord(
          url: Self.urls[number].string + SignatureDemand.suffix,
          digest: Self.digest(7)
        )
        signature.isSignature = true
        if generator.happens(50) { record.documents.append(signature) }
      }
      if generator.happens(30) {
        record.state = .current
        record.quiet = QuietMark(
          until: now.wall + .seconds(5),
          rules: 0,
          itemCount: record.itemCount,
          bytes: 10
        )
      }
    }
    return record
  }
}
