import PrefetchCore
import PrefetchEngine
import PrefetchTestSupport

/// Ten nights of one seed: a real engine and store with simulated servers and clock.
///
/// After each night the cache is compared with the model.
final class NightRun {
  /// First difference of an item, which is not checked again afterwards.
  struct Difference {
    var night: Int
    var item: NightItem
    var message: String
    var log: [NightResponse]
    /// Last responses of earlier nights.
    var history: [NightResponse] = []

    /// Beginning of the description, which similar differences share.
    var reason: String {
      String(message.prefix { $0 != "`" && $0 != "\n" && !$0.isNumber })
    }
  }

  private(set) var differences: [Difference] = []
  private(set) var tallies: [NightItem.Kind: NightTally] = [:]
  private(set) var print = StableHash()

  private let seed: Int
  private let items: [NightItem]
  private let origin: NightOrigin
  private let cache: NightCache
  /// Records stored after the last night.
  private var records: [String: (record: ContentRecord, body: [UInt8]?)] = [:]
  private let clock = FakeClock()
  private var witnesses: [NightWitness]
  private var broken: Set<Int> = []
  private var dice: Dice
  private let form: NightDeclaration.Form
  private let concurrency: Int
  /// Last responses of each item, and transferred bytes of each body.
  private var history: [Int: [NightResponse]] = [:]
  private var moved: [[UInt8]: Int] = [:]

  init(seed: Int, in medium: NightCache.Medium = .memory(MemoryStore())) {
    cache = NightCache(medium)
    self.seed = seed
    var dice = Dice(seed, 0, 5)
    let kinds = NightItem.Kind.allCases.shuffled(using: &dice).prefix(dice.number(10...14))
    items = kinds.enumerated().map { NightItem($0.offset, $0.element, seed: seed) }
    origin = NightOrigin(seed: seed, items: items, start: clock.now().wall.seconds)
    witnesses = items.map { NightWitness(CacheModel(url: $0.address, grant: $0.grant)) }
    form = dice.pick(NightDeclaration.Form.allCases)
    concurrency = dice.number(1...6)
    self.dice = dice
  }

  func perform() throws {
    var pause: Int64 = 0
    for night in 0..<NightItem.nightCount {
      clock.advance(by: .seconds(pause))
      origin.begin(night: night, at: clock.now().wall.seconds, mayChange: pause > 600)
      try perform(night)
      pause = nextPause()
    }
  }

  /// Returns a pause of hours to days; sometimes it ends within a second of an expiry, or is zero.
  private func nextPause() -> Int64 {
    let now = clock.now().wall.seconds
    let ends = witnesses.compactMap(\.model.stored?.end).filter { $0 > now && $0 < now + 400_000 }
    if !ends.isEmpty, dice.happens(35) {
      return max(0, dice.pick(ends) - now + Int64(dice.number(-1...1)))
    }
    return dice.happens(10) ? 0 : Int64(dice.number(1...96)) * 3_600 + Int64(dice.number(0...3_599))
  }

  private func perform(_ night: Int) throws {
    let headers = headers()
    let start = clock.now().wall.seconds
    let wish = dice.number(0...99)
    let purpose = wish < 90 ? NightWitness.Purpose.usual : wish < 96 ? .revalidate : .refetch
    let report = try run(
      NightDeclaration(items: items, form: form, headers: headers),
      purpose
    )
    print.combine(report)
    records = try cache.records(at: clock.now().wall)
    // A listed item may be judged at the night's start or at the list's arrival.
    let listed = origin.log.first { $0.item == nil }?.finishedAt
    for item in items where !broken.contains(item.number) {
      let log = origin.log.filter { $0.item == item.number }
      do throws(NightWitness.Objection) {
        witnesses[item.number].model.dates = origin.dates
        try witnesses[item.number].follow(
          log,
          headers: headers,
          purpose: purpose,
          at: start...(listed ?? start)
        )
        try compareCache(item)
        if purpose != .refetch { try countBytes(of: log, item) }
        count(log, item)
        if !log.isEmpty { history[item.number] = log }
      } catch {
        broken.insert(item.number)
        differences.append(
          Difference(
            night: night,
            item: item,
            message: error.sentence + view(of: item),
            log: log,
            history: history[item.number] ?? []
          )
        )
      }
    }
    guard broken.isEmpty, let item = items.first else { return }
    let message = compare(report.totals, hasMoved: night == 0 || purpose == .refetch)
    guard !message.isEmpty else { return }
    broken.insert(item.number)
    differences.append(Difference(night: night, item: item, message: message, log: origin.log))
  }

  /// Returns the headers that a night's declaration adds to requests.
  private func headers() -> [String: String] {
    let choices = [
      ("accept-language", ["en", "en", "de", "nl", "fr"]),
      ("x-channel", ["en", "en", "nl", "beta"]),
    ]
    return choices.reduce(into: [:]) { headers, choice in
      let value = dice.pick(choice.1)
      if !dice.happens(15) { headers[choice.0] = value }
    }
  }

  private func run(
    _ declaration: NightDeclaration,
    _ purpose: NightWitness.Purpose
  ) throws -> Report {
    let segment = try declaration.segment()
    var policy = RunPolicy()
    policy.revalidatesAll = purpose == .revalidate
    policy.refetchesAll = purpose == .refetch
    policy.concurrency = concurrency
    policy.perHost = concurrency
    var request = RunRequest(mode: .run, identity: "me", segments: [segment], policy: policy)
    request.rulesHash = declaration.rules
    let slowest = dice.pick([0, 0, 2, 9, 40])
    return try cache.withStore(at: clock.now().wall) { store in
      let transport = NightTransport(
        origin,
        staging: store,
        clock: clock,
        dice: Dice(seed, origin.night, 6),
        slowest: slowest
      )
      let engine = Engine(
        transport: transport,
        store: store,
        files: NoFiles(),
        clock: clock,
        stop: NoSignal()
      )
      return try engine.run(request, seed: UInt64(seed))
    }
  }

  // MARK: Comparing

  private func compareCache(_ item: NightItem) throws(NightWitness.Objection) {
    let (record, body) = records[item.address].map { ($0.record, $0.body) } ?? (nil, nil)
    let stored = witnesses[item.number].model.stored
    guard let stored, let record else {
      guard stored == nil, record?.digest == nil else {
        throw .init("\(record == nil ? "nothing" : "something") is stored")
      }
      return
    }
    guard body == stored.body else { throw .init("another body is stored") }
    let head = NightHead(record.headers)
    for name in ["Cache-Control", "Content-Type", "Last-Modified", "Vary", "X-Note"]
    where head[name] != stored.head[name] {
      throw .init(
        "the stored \(name) is `\(head[name] ?? "")`, not `\(stored.head[name] ?? "")`"
      )
    }
    guard head["Content-Range"] == nil else { throw .init("a Content-Range is stored") }
    let tag = head["ETag"]
    guard tag.map(CacheModel.opaque) == stored.tag.map(CacheModel.opaque) else {
      throw .init("the stored ETag is `\(tag ?? "")`, not `\(stored.tag ?? "")`")
    }
  }

  /// Checks that a body with a single variant and usable validators is transferred only once.
  ///
  /// No byte may be transferred twice, even when the body comes in parts.
  private func countBytes(of log: [NightResponse], _ item: NightItem) throws(NightWitness.Objection)
  {
    guard item.movesOnce, cache.keepsShortParts || item.cutChance == 0 else { return }
    for response in log where !response.bytes.isEmpty {
      moved[response.whole, default: 0] += response.bytes.count
      guard moved[response.whole, default: 0] <= response.whole.count else {
        throw .init("an unchanged body moved twice")
      }
    }
  }

  /// Compares the report's totals with the log; `hasMoved` tells that the list may have been
  /// transferred.
  private func compare(_ totals: Totals, hasMoved: Bool) -> String {
    let requested = Set(origin.log.compactMap(\.item))
    let lists = origin.log.count { $0.item == nil && $0.status == 200 }
    let pairs: [(String, Int64, Int)] = [
      ("requests", totals.requests, origin.log.count),
      ("not modified", totals.notModified, origin.log.count { $0.status == 304 }),
      ("kept", totals.kept, items.count - requested.count + witnesses.count { $0.isStillFresh }),
      ("failed", totals.failed, witnesses.count { $0.hasFailed && !$0.isStillFresh }),
      ("items", totals.items, items.count),
      ("removed", totals.removed, 0),
      ("lists", hasMoved ? 0 : Int64(lists), 0),
      ("records", Int64(records.count), items.count),
      ("staged", Int64(cache.stagedCount), 0),
    ]
    return pairs.filter { $0.1 != Int64($0.2) }.map { "\($0.0): reported \($0.1), seen \($0.2)" }
      .joined(separator: "; ")
  }

  private func count(_ log: [NightResponse], _ item: NightItem) {
    var tally = NightTally()
    tally.nights = 1
    tally.requests = log.count
    tally.notModified = log.count { $0.status == 304 }
    tally.bodies = log.count { !$0.bytes.isEmpty && !$0.isCut }
    tally.keeps = log.isEmpty ? 1 : 0
    tally.parts = log.count { $0.status == 206 }
    tally.failures = witnesses[item.number].hasFailed ? 1 : 0
    tally.refusals = witnesses[item.number].hasRefused ? 1 : 0
    tallies[item.kind] = tallies[item.kind, default: NightTally()] + tally
  }

  private func view(of item: NightItem) -> String {
    let record = records[item.address]?.record
    let body = records[item.address]?.body.map { String(decoding: $0.prefix(24), as: UTF8.self) }
    let stored = witnesses[item.number].model.stored
    let expected = stored.map { String(decoding: $0.body.prefix(24), as: UTF8.self) }
    return """

        tool:  \(body ?? "nothing") [\(record.map { NightHead($0.headers).description } ?? "")]
        model: \(expected ?? "nothing") [\(stored?.head.description ?? "")]
        \(item)
      """
  }
}

extension NightRun.Difference: CustomStringConvertible {
  var description: String {
    let earlier = history.isEmpty ? [] : ["  earlier:"] + history.map(\.description)
    let lines = (earlier + ["  in this night:"] + log.map(\.description)).joined(separator: "\n")
    return "night \(night), \(item.address), \(item.kind.rawValue): \(message)\n\(lines)"
  }
}
