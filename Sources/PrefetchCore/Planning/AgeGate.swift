/// Age gate of a segment, which says whether a body is old enough to be taken.
package struct AgeGate {
  package enum Ruling: Hashable, Sendable {
    /// The gate does not apply.
    case exempt
    case passed
    /// Only the server can say which body it is.
    case unknown
    case waits(until: Instant)
  }

  /// Date from which the age of an item counts.
  package struct Age: Hashable, Sendable {
    package var basis: AgeRules.Basis
    package var since: Instant
    package var until: Instant
    package var restarts = 0
  }

  /// Facts that the index has of an item.
  package struct Past: Hashable, Sendable {
    package var isStored = false
    /// Time of the last answer about the stored body.
    package var respondedAt: Instant?
    package var sight: Sight?

    package init() {}

    package init(_ record: ContentRecord?, _ sight: Sight?) {
      isStored = record?.digest != nil
      respondedAt = record?.validatedAt
      self.sight = sight
    }

    init(_ row: Inventory.Row?, _ sight: Sight?) {
      isStored = row?.hasBody == true
      respondedAt = row?.respondedAt
      self.sight = sight
    }

    /// Whether no body has been taken or confirmed since the sight.
    fileprivate func awaits(_ sight: Sight) -> Bool {
      respondedAt.map { $0 <= sight.seen } ?? true
    }
  }

  private let rules: AgeRules
  private let now: Instant
  private let exceptions: [PathPattern]

  /// Returns nil if the segment takes bodies of any age.
  package init?(_ segment: SegmentDeclaration, _ policy: RunPolicy, at now: Instant) {
    guard segment.age.minimum > .zero, segment.isStored, !policy.allowsYoung else { return nil }
    rules = segment.age
    self.now = now
    exceptions = rules.exceptions.map { PathPattern($0) }
  }

  /// Rules about an item that its list and the index decide, without a request.
  func ruling(
    _ position: Int,
    of entries: EntryTable,
    _ wanted: EntryDeclaration,
    _ past: Past
  ) -> Ruling {
    if wanted.bundle == .ad || entries.isLocked(at: position) || wanted.hasLockedFiles {
      return .exempt
    }
    guard !isException(position, of: entries) else { return .exempt }
    if let age = age(position, of: entries, digests: wanted.digests, past) {
      return now < age.until ? .waits(until: age.until) : .passed
    }
    // The next look at such a body would be another transfer of it, unless one was taken since.
    if let sight = past.sight, BodyMark.isOfReceivedBody(sight.mark), isBelieved(sight),
      past.awaits(sight)
    {
      let until = age(of: sight).until
      if now < until { return .waits(until: until) }
    }
    return .unknown
  }

  /// Returns the age that the list and the index state; nil if only the server can say it.
  package func age(
    _ position: Int,
    of entries: EntryTable,
    digests: [ExpectedDigest],
    _ past: Past
  ) -> Age? {
    if !past.isStored, rules.basis == .published, let published = entries.published(at: position) {
      return Age(basis: .published, since: published, until: published + rules.minimum)
    }
    guard let mark = BodyMark.declared(digests) else { return nil }
    return age(of: sight(of: mark, after: past))
  }

  /// Whether the list dates a new item too late; nothing else is known of what is not selected yet.
  fileprivate func isTooYoungByDate(_ position: Int, of entries: EntryTable) -> Bool {
    guard let age = age(position, of: entries, digests: [], Past()) else { return false }
    return now < age.until && !isException(position, of: entries)
  }

  package func age(of sight: Sight) -> Age {
    Age(
      basis: .seen,
      since: sight.seen,
      until: sight.seen + rules.minimum,
      restarts: sight.restarts
    )
  }

  /// Returns the first sight of a body: the recorded one if it was of the same body.
  func sight(of mark: String, after past: Past) -> Sight {
    guard let recorded = past.sight else { return Sight(mark: mark, seen: now) }
    guard isBelieved(recorded) else {
      return Sight(mark: mark, seen: now, restarts: recorded.restarts)
    }
    guard recorded.mark != mark, recorded.headMark != mark else { return recorded }
    let hasWaited = !isOldEnough(recorded) && past.awaits(recorded)
    return Sight(mark: mark, seen: now, restarts: hasWaited ? recorded.restarts + 1 : 0)
  }

  /// Returns the first sight of a received body, by what its answer states or by its digest.
  ///
  /// A HEAD may show nothing, or another mark than GET does. The first such body is known by its
  /// digest, so that it is not looked at again before its time; the second by both marks.
  func sight(ofReceived digest: ContentDigest, stated: String?, after past: Past) -> Sight {
    let received = BodyMark.received(digest)
    guard let stated, let recorded = past.sight, isBelieved(recorded) else {
      return sight(of: received, after: past)
    }
    if recorded.mark == stated || recorded.mark == received { return recorded }
    guard isOldEnough(recorded), !BodyMark.isOfReceivedBody(recorded.mark) else {
      return sight(of: received, after: past)
    }
    var new = sight(of: stated, after: past)
    new.headMark = recorded.headMark ?? recorded.mark
    return new
  }

  func isOldEnough(_ sight: Sight) -> Bool {
    age(of: sight).until <= now
  }

  /// Whether the clock was right when the sight was recorded, as far as this one knows.
  private func isBelieved(_ sight: Sight) -> Bool {
    !Freshness.isFuture(sight.seen, at: now)
  }

  private func isException(_ position: Int, of entries: EntryTable) -> Bool {
    guard !exceptions.isEmpty else { return false }
    let path = PathPattern.Path(entries.name(at: position))
    return exceptions.contains { $0.matches(path) }
  }
}

extension ManifestSelection {
  /// Selects entries as a run does: `select` passes over versions that their list dates too late.
  package func select(
    from entries: EntryTable,
    of segment: SegmentDeclaration,
    _ facts: Planner.Facts
  ) -> (entries: EntryTable, newest: HeldVersions?) {
    guard let gate = AgeGate(segment, facts.policy, at: facts.now) else {
      return select(from: entries)
    }
    return select(from: entries) { position in
      guard gate.isTooYoungByDate(position, of: entries) else { return false }
      let row = facts.inventory.position(of: entries.key(at: position))
      return row.map { !facts.inventory.rows[$0].hasBody } ?? true
    }
  }
}

extension Planner.Facts {
  /// Returns the age of an item by its list and the index; nil if only its server can say it.
  package func age(
    of position: Int,
    in entries: EntryTable,
    _ segment: SegmentDeclaration
  ) -> AgeGate.Age? {
    let row = inventory.position(of: entries.key(at: position)).map { inventory.rows[$0] }
    return AgeGate(segment, policy, at: now)?.age(
      position,
      of: entries,
      digests: entries.entry(at: position, identified: false).digests,
      AgeGate.Past(row, row.flatMap { inventory.sights[$0.item] })
    )
  }
}

extension AgeGate {
  /// Says for `explain` from when on a body of an item is taken, and what its age counts from.
  package func verdict(on entry: ManifestEntry, _ past: Past) -> RuleVerdict {
    let name = "min_age"
    let entries = EntryTable([entry])
    if entry.isLocked { return RuleVerdict(name, .silent, "the lock file pins the body") }
    if isException(0, of: entries) {
      return RuleVerdict(name, .silent, "`min_age_except` takes it at any age")
    }
    let stated = age(0, of: entries, digests: entry.digests, past)
    guard let age = stated ?? past.sight.map({ age(of: $0) }) else {
      return RuleVerdict(name, .applies, "a new body is taken once a run has known it that long")
    }
    let since = Timestamp.format(age.since)
    var reason =
      age.basis == .published ? "its list dates it \(since)" : "a run first saw it \(since)"
    reason += now < age.until ? ", so it is taken from \(Timestamp.format(age.until)) on" : ""
    if age.restarts > 0 {
      let times = age.restarts == 1 ? "once" : "\(age.restarts) times"
      reason += "; newer bodies made the wait begin again \(times)"
    }
    return RuleVerdict(name, now < age.until ? .deferred : .allowed, reason)
  }
}
