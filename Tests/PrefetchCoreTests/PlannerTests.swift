import PrefetchCore
import Testing

@Suite struct PlannerTests {
  static let now = Instant(seconds: 1_700_000_000)
  static let held = ContentDigest(bytes: [UInt8](repeating: 1, count: 32))
  static let same = ExpectedDigest(algorithm: .sha256, bytes: [UInt8](repeating: 1, count: 32))
  static let other = ExpectedDigest(algorithm: .sha256, bytes: [UInt8](repeating: 2, count: 32))
  static let sha512 = ExpectedDigest(algorithm: .sha512, bytes: [UInt8](repeating: 5, count: 64))
  static let otherSHA512 = ExpectedDigest(
    algorithm: .sha512,
    bytes: [UInt8](repeating: 6, count: 64)
  )
  static let otherVariantText = "it was stored for other request headers"
  /// Variance of a request with other headers.
  static let otherVariance = Variance([.init(url: nil, names: ["accept-language"], digest: 1)])
  static let md5 = ExpectedDigest(algorithm: .md5, bytes: [UInt8](repeating: 6, count: 16))

  /// A planned item: declared entry, stored record and policy.
  struct Case: Sendable {
    var entry: ManifestEntry
    var record: ContentRecord?
    var segment = SegmentDeclaration(name: "s", source: .inline([]))
    var policy = RunPolicy()
    var isLost = false
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var action: ItemAction?
    var reason: String
    var code: ErrorCode?
    var change: @Sendable (inout Case) -> Void

    var testDescription: String { name }
  }

  static func row(
    _ name: String,
    _ action: ItemAction?,
    _ reason: String,
    _ code: ErrorCode? = nil,
    _ change: @escaping @Sendable (inout Case) -> Void
  ) -> Row {
    Row(name: name, action: action, reason: reason, code: code, change: change)
  }

  static let rows: [Row] = [
    row("not stored", .fetch, "not stored") { $0.record = nil },
    row("known and never complete", .fetch, "not stored") { $0.record?.digest = nil },
    row("object lost", .fetch, "object lost") { $0.isLost = true },
    row("object lost, digest declared", .fetch, "object lost") {
      $0.isLost = true
      $0.entry.digests = [same]
    },
    row("digest matches", .keep, "digest matches") { $0.entry.digests = [same] },
    row("one of two digests matches", .keep, "digest matches") {
      $0.entry.digests = [other, same]
    },
    row("digest matches, size differs", .keep, "digest matches") {
      $0.entry.digests = [same]
      $0.entry.size = 11
    },
    row("digest differs", .update, "digest differs") { $0.entry.digests = [other] },
    row("digest differs though fresh", .update, "digest differs") {
      $0.entry.digests = [other]
      $0.record?.freshness = .declared(until: .distantFuture)
    },
    row("the stronger digest decides", .update, "digest differs") {
      $0.entry.digests = [same, otherSHA512]
      $0.record?.otherDigests = [.sha512: sha512.bytes]
    },
    row(
      "a digest never taken",
      .update,
      "the stored body was never checked against that digest"
    ) {
      $0.entry.digests = [otherSHA512]
      $0.entry.lifetime = .immutable
    },
    row("the same revision", .keep, "immutable") {
      $0.entry.lifetime = .immutable
      $0.entry.revision = "1"
      $0.record?.description = $0.entry.descriptionHash
    },
    row("another revision", .revalidate, "the manifest names another revision") {
      $0.entry.lifetime = .immutable
      $0.entry.revision = "2"
    },
    row("another revision, digest matches", .keep, "digest matches") {
      $0.entry.digests = [same]
      $0.entry.revision = "2"
    },
    row("a weak digest decides nothing", .revalidate, "stale") {
      $0.entry.digests = [md5]
      $0.record?.otherDigests = [.md5: [UInt8](repeating: 6, count: 16)]
    },
    row("size differs", .update, "size differs") { $0.entry.size = 11 },
    row("size equals, stale", .revalidate, "stale") { $0.entry.size = 10 },
    row("fresh", .keep, "fresh until 2023-11-14T22:13:20.001Z") {
      $0.record?.freshness = .declared(until: now + .milliseconds(1))
    },
    row("fresh until now", .revalidate, "stale") {
      $0.record?.freshness = .declared(until: now)
    },
    row("a silent answer", .revalidate, "stale") {
      $0.record?.freshness = .undeclared(until: .distantFuture)
    },
    row("a silent answer within a ttl", .keep, "fresh until 2023-11-14T22:13:50.000Z") {
      $0.record?.freshness = .undeclared(until: .distantFuture)
      $0.record?.validatedAt = now + .seconds(-30)
      $0.segment.lifetime = .atMost(.seconds(60))
    },
    row("a silent answer past a ttl", .revalidate, "stale") {
      $0.record?.freshness = .undeclared(until: .distantFuture)
      $0.record?.validatedAt = now + .seconds(-60)
      $0.segment.lifetime = .atMost(.seconds(60))
    },
    row("an answer to be asked about", .revalidate, "stale") {
      $0.record?.freshness = .alwaysRevalidate
      $0.record?.validatedAt = now
      $0.segment.lifetime = .atMost(.seconds(60))
    },
    row("an answer to be asked about, declared immutable", .keep, "immutable") {
      $0.record?.freshness = .alwaysRevalidate
      $0.segment.lifetime = .immutable
    },
    row("another variant", .revalidate, "it was stored for other request headers") {
      $0.record?.freshness = .declared(until: .distantFuture)
      $0.record?.variance = otherVariance
    },
    row("another variant with a weak tag", .update, "it was stored for other request headers") {
      $0.record?.validators = Validators(entityTag: "W/\"1\"")
      $0.record?.variance = otherVariance
    },
    row("another variant, declared immutable", .revalidate, otherVariantText) {
      $0.entry.lifetime = .immutable
      $0.record?.variance = otherVariance
    },
    row("another variant, digest matches", .keep, "digest matches") {
      $0.entry.digests = [same]
      $0.record?.variance = otherVariance
    },
    row("another variant, offline", .fail, otherVariantText + ", offline", .noNetwork) {
      $0.policy.isOffline = true
      $0.record?.variance = otherVariance
    },
    row("whatever selects it, with a weak tag", .update, "stale, and the server gave no validators")
    {
      $0.record?.validators = Validators(entityTag: "W/\"1\"")
      $0.record?.freshness = .alwaysRevalidate
      $0.record?.variance = Variance([.init(url: nil, names: ["*"], digest: 0)])
    },
    row("immutable entry", .keep, "immutable") { $0.entry.lifetime = .immutable },
    row("immutable segment", .keep, "immutable") { $0.segment.lifetime = .immutable },
    row("a bound that came later", .revalidate, "stale") {
      $0.record?.freshness = .declared(until: .distantFuture)
      $0.record?.validatedAt = now + .seconds(-61)
      $0.policy.freshnessLimit = .seconds(60)
    },
    row("a bound that still holds", .keep, "fresh until 2023-11-14T22:13:50.000Z") {
      $0.record?.freshness = .declared(until: .distantFuture)
      $0.record?.validatedAt = now + .seconds(-30)
      $0.entry.lifetime = .atMost(.seconds(60))
    },
    row("entity tag matches", .keep, "entity tag matches") { $0.entry.entityTag = "\"1\"" },
    row("entity tag differs", .revalidate, "stale") { $0.entry.entityTag = "\"2\"" },
    row("stale with validators", .revalidate, "stale") { _ in },
    row("stale without validators", .update, "stale, and the server gave no validators") {
      $0.record?.validators = Validators()
    },
    row("revalidate what is fresh", .revalidate, "revalidation requested") {
      $0.policy.revalidatesAll = true
      $0.record?.freshness = .declared(until: .distantFuture)
    },
    row("revalidate what is proven", .revalidate, "revalidation requested") {
      $0.policy.revalidatesAll = true
      $0.entry.digests = [same]
    },
    row("refetch", .update, "refetch requested") {
      $0.policy.refetchesAll = true
      $0.entry.digests = [same]
    },
    row("offline, stale", .keep, "stale, offline") { $0.policy.isOffline = true },
    row("offline, fresh", .keep, "offline") {
      $0.policy.isOffline = true
      $0.record?.freshness = .declared(until: now + .seconds(1))
    },
    row("offline, not stored", .fail, "not stored, offline", .noNetwork) {
      $0.policy.isOffline = true
      $0.record = nil
    },
    row("offline, lost", .fail, "object lost, offline", .noNetwork) {
      $0.policy.isOffline = true
      $0.isLost = true
    },
    row("offline, digest differs", .fail, "digest differs, offline", .noNetwork) {
      $0.policy.isOffline = true
      $0.entry.digests = [other]
    },
    row("offline beats refetch", .keep, "stale, offline") {
      $0.policy.isOffline = true
      $0.policy.refetchesAll = true
    },
    row("http refused", .fail, "transport security", .transportSecurity) {
      if let url = try? WebURL("http://a.example/x") { $0.entry.url = url }
    },
    row("too large by the policy", .fail, "too large", .tooLarge) {
      $0.entry.size = 100
      $0.policy.maximumFileSize = 99
    },
    row("too large by the segment", .fail, "too large", .tooLarge) {
      $0.entry.size = 100
      $0.segment.maximumFileSize = 99
    },
    row("exactly at the limit", .update, "size differs") {
      $0.entry.size = 100
      $0.segment.maximumFileSize = 100
    },
    row("past its expiry", nil, "") { $0.entry.expires = now },
    row("before its expiry", .revalidate, "stale") { $0.entry.expires = now + .milliseconds(1) },
    row("paused", .keep, "paused") { $0.record?.state = .paused },
    row("paused before its first body", .keep, "paused") {
      $0.record?.state = .paused
      $0.record?.digest = nil
    },
  ]

  @Test("The planner decides each case of the table", arguments: rows)
  func decisions(row: Row) throws {
    var record = ContentRecord(url: "https://a.example/x", id: "x")
    record.digest = Self.held
    record.size = 10
    record.state = .cached
    record.validators = Validators(entityTag: "\"1\"")
    var given = Case(entry: ManifestEntry(url: try WebURL(record.url)), record: record)
    row.change(&given)
    // The revision of a body is recorded only in its description hash.
    if given.entry.revision == nil { given.record?.description = given.entry.descriptionHash }
    let plan = Planner.plan(
      given.segment,
      key: SegmentKey(identity: "me", name: "s"),
      entries: [given.entry],
      facts: .init(
        inventory: Inventory(records: given.record.map { [$0] } ?? []),
        missing: given.isLost ? Set([Self.held].compactMap(\.self)) : [],
        policy: given.policy,
        now: Self.now
      ),
      listsKept: true
    )
    let step = plan.steps.first
    #expect(step?.decision.action == row.action)
    #expect(step?.reason.text ?? "" == row.reason)
    let failure = step?.reason.failure(
      of: given.entry,
      segment: given.segment,
      policy: given.policy,
      now: Self.now
    )
    #expect(failure?.code == row.code)
    #expect((step?.decision == .fail) == (row.code != nil))
  }
}

@Suite struct PlanTests {
  static let mine = SegmentKey(identity: "me", name: "s")
  static let other = SegmentKey(identity: "you", name: "s")

  static func inventory(
    _ holders: [(String, [Int])],
    locked: Set<String> = []
  ) -> Inventory {
    let rows = holders.enumerated().map { number, item in
      let record = ContentRecord(url: "https://a.example/\(item.0)", id: item.0)
      var row = Inventory.Row(record, item: Int64(number))
      row.holders = UInt32(number + 1)
      row.isLocked = locked.contains(item.0)
      return row
    }
    return Inventory(
      rows: rows,
      holderSets: [[]] + holders.map(\.1),
      segmentKeys: [mine, other]
    )
  }

  static func plan(_ names: [String], _ inventory: Inventory) throws -> PlanFragment {
    Planner.plan(
      SegmentDeclaration(name: "s", source: .inline([])),
      key: mine,
      entries: EntryTable(
        try names.map { ManifestEntry(url: try WebURL("https://a.example/\($0)")) }
      ),
      facts: .init(inventory: inventory, missing: [], policy: RunPolicy(), now: Instant(seconds: 0))
    )
  }

  @Test("Items are planned in the manifest's order, and a repeated URL once")
  func order() throws {
    let fragment = try Self.plan(["c", "a", "c", "b"], Self.inventory([("a", [0]), ("b", [1])]))
    #expect(fragment.steps.map(\.entry) == [0, 1, 2])
    #expect(fragment.steps.map(\.position) == [nil, 0, 1])
    #expect(fragment.steps.map(\.isHeld) == [false, true, false])
    #expect(fragment.declaredCount == 3)
  }

  @Test("An item that its segment holds and no longer declares leaves, and others' items do not")
  func leaving() throws {
    let inventory = Self.inventory([("a", [0]), ("b", [1]), ("c", [0, 1]), ("d", [])])
    #expect(try Self.plan(["a"], inventory).leaving == [2])
    #expect(try Self.plan([], inventory).leaving == [0, 2])
  }

  @Test("An item is removed when no segment holds or declares it and no lock protects it")
  func removals() {
    let inventory = Self.inventory(
      [("a", [0]), ("b", [0, 1]), ("c", [0]), ("d", [0]), ("e", [0, 1])],
      locked: ["c"]
    )
    let removed = Planner.removals(
      leaving: [(Self.mine, [0, 1, 2, 3, 4]), (Self.other, [4])],
      isDeclared: { $0 == URLKey("https://a.example/d") },
      inventory: inventory
    )
    #expect(removed.map(\.row) == [0, 4])
    #expect(removed.map(\.segments) == [[Self.mine], [Self.mine, Self.other]])
  }

  @Test("A kept item is counted and not listed, and a missing membership is added")
  func kept() throws {
    let table = EntryTable(
      try ["a", "b", "c"].map { name in
        var entry = ManifestEntry(url: try WebURL("https://a.example/\(name)"))
        entry.digests = [
          ExpectedDigest(algorithm: .sha256, bytes: [UInt8](repeating: 1, count: 32))
        ]
        return entry
      }
    )
    let rows = table.enumerated().map { number, entry in
      var record = ContentRecord(url: entry.url.string, id: "")
      record.digest = ContentDigest(bytes: [UInt8](repeating: 1, count: 32))
      record.size = 5
      record.describe(entry)
      var row = Inventory.Row(record, item: Int64(number + 10))
      row.holders = number == 1 ? 0 : 1
      return row
    }
    let fragment = Planner.plan(
      SegmentDeclaration(name: "s", source: .inline([])),
      key: Self.mine,
      entries: table,
      facts: .init(
        inventory: Inventory(rows: rows, holderSets: [[], [0]], segmentKeys: [Self.mine]),
        missing: [],
        policy: RunPolicy(),
        now: Instant(seconds: 0)
      )
    )
    #expect(fragment.steps.isEmpty)
    #expect(fragment.keptCount == 3 && fragment.keptBytes.all == 15)
    #expect(fragment.joining == [11])
    #expect(fragment.quietUntil == .distantFuture)
  }

  @Test("A large plan is linear in entries and records")
  func large() throws {
    let names = (0..<10_000).map { String($0 + 10_000) }
    let inventory = Self.inventory(names.map { ($0, [0]) })
    let fragment = try Self.plan(names.reversed(), inventory)
    #expect(fragment.steps.count == 10_000)
    #expect(fragment.leaving.isEmpty)
  }

  @Test("A row is found by its URL")
  func search() {
    let inventory = Self.inventory([("B", []), ("a", []), ("\u{C3}\u{A4}", [])])
    #expect(inventory.position(of: "https://a.example/a") == 1)
    #expect(inventory.position(of: "https://a.example/b") == nil)
    #expect(Inventory().position(of: "x") == nil)
  }
}

extension Inventory {
  /// Creates an inventory of single records; their indices are their numbers.
  init(records: [ContentRecord]) {
    var strong: [[DigestAlgorithm: [UInt8]]] = []
    var variances: [Variance] = []
    let rows = records.enumerated().map { number, record in
      var row = Row(record, item: Int64(number))
      if !record.otherDigests.isEmpty {
        strong.append(record.otherDigests)
        row.strong = UInt32(strong.count)
      }
      if let variance = record.variance {
        variances.append(variance)
        row.variance = UInt32(variances.count)
      }
      return row
    }
    self.init(rows: rows, strongDigests: strong, variances: variances)
  }
}
