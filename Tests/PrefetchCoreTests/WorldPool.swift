import PrefetchCore

/// What simulated runs are made of: a few URLs on three hosts, so that segments share many.
struct WorldPool {
  static let urls: [WebURL] = ["a", "b", "c"].flatMap { host in
    (0..<4).compactMap { try? WebURL("https://\(host).example/\($0)") }
  }

  static func digest(_ byte: UInt8) -> ContentDigest {
    // Only ever nil for other lengths than 32.
    ContentDigest(bytes: [UInt8](repeating: byte, count: 32)) ?? digest(byte)
  }

  static func entries(_ generator: inout SeededGenerator) -> [ManifestEntry] {
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
      if generator.happens(5) { entry.expires = Instant(seconds: 1) }
      return entry
    }
  }

  func start(
    seed: UInt64,
    now: Moment,
    generator: inout SeededGenerator
  ) -> Dispatcher.Start {
    var policy = RunPolicy()
    policy.concurrency = Int.random(in: 1...5, using: &generator)
    policy.perHost = Int.random(in: 1...3, using: &generator)
    policy.lookAhead = generator.happens(50) ? Int.random(in: 1...6, using: &generator) : 0
    policy.revalidatesAll = generator.happens(20)
    policy.refetchesAll = generator.happens(10)
    policy.isOffline = generator.happens(5)
    policy.probesItems = generator.happens(80)
    policy.deadline =
      generator.happens(20) ? .seconds(Int.random(in: 0...20, using: &generator)) : nil
    let modes: [RunRequest.Mode] = [.run, .run, .run, .plan, .get]
    let mode = modes.randomElement(using: &generator) ?? .run
    let count = Int.random(in: 0...4, using: &generator)
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
      identify: { String($0.suffix(4)) }
    )
  }

  private static let keys = ["s0", "s1", "s2", "gone"].map {
    SegmentKey(identity: "me", name: $0)
  }

  private func segment(_ number: Int, _ generator: inout SeededGenerator) -> SegmentDeclaration {
    let source: SegmentDeclaration.Source =
      switch Int.random(in: 0..<3, using: &generator) {
      case 0: .inline(Self.entries(&generator))
      case 1: .file("/manifest\(number)")
      default: .remote(Self.urls[number])
      }
    var segment = SegmentDeclaration(name: "s\(number)", source: source)
    segment.isRequired = generator.happens(80)
    segment.priority = generator.happens(50) ? Int.random(in: 1...3, using: &generator) : nil
    segment.allowsEmpty = generator.happens(50)
    return segment
  }

  /// What the cache holds, with the record of each row.
  func inventory(_ generator: inout SeededGenerator) -> (InventoryFacts, [ContentRecord]) {
    var records: [ContentRecord] = []
    var rows: [Inventory.Row] = []
    var sets: [[Int]] = [[]]
    for url in Self.urls where generator.happens(50) {
      var record = ContentRecord(url: url.string, id: url.path)
      if generator.happens(80) {
        record.digest = Self.digest(generator.happens(80) ? 1 : 2)
        record.size = 10
        record.state = .cached
        record.validators = Validators(entityTag: generator.happens(80) ? "\"1\"" : nil)
        record.freshUntil = generator.happens(40) ? .distantFuture : nil
      } else if generator.happens(20) {
        record.state = .paused
      }
      var row = Inventory.Row(record, item: Int64(records.count))
      row.holders = UInt32(sets.count)
      row.isLocked = generator.happens(10)
      sets.append(Self.keys.indices.filter { _ in generator.happens(40) })
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
    _ generator: inout SeededGenerator
  ) -> SegmentRecord {
    var record = SegmentRecord(key: key)
    if generator.happens(60), let number = key.name.last?.wholeNumberValue {
      record.manifestURL = Self.urls[number].string
      record.manifest = Self.digest(9)
      record.validators = Validators(entityTag: "\"m\"")
      record.itemCount = Int.random(in: 0...20, using: &generator)
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
