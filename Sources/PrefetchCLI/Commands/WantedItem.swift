import PrefetchCore

/// An item that `get` shall bring, with every declaration that holds for it.
struct WantedItem {
  /// As it was asked for; its name where it is delivered comes from here.
  let entry: ManifestEntry
  /// At least one; the first says what is sent.
  let declarations: [DeclaredItems.Declaration]

  /// Whether a stored body is one that the declarations allow, however old it is.
  func isSatisfied(by record: ContentRecord, _ facts: KeptFacts) -> Bool {
    isKept(record, under: facts.offline)
  }

  /// Of what is sent when it is asked for.
  func fingerprint(_ facts: Planner.Facts) -> UInt64 {
    facts.fingerprint(of: declarations[0].entry, in: declarations[0].segment)
  }

  /// Whether a run would ask nobody about it.
  func isFresh(_ record: ContentRecord, _ facts: KeptFacts) -> Bool {
    isKept(record, under: facts.asking)
  }

  /// Whether an older copy may come out, however long ago it became stale or for so long.
  func mayServeStale(
    _ record: ContentRecord,
    within limit: Duration,
    _ facts: Planner.Facts
  ) -> Bool {
    declarations.allSatisfy { declaration in
      StaleRule.mayServe(
        record,
        granted: Planner.lifetimes(
          declaration.entry,
          ofSegments: CollectionOfOne(declaration.segment.lifetime),
          bound: facts.policy.freshnessLimit
        ),
        maximumStale: limit,
        now: facts.now
      )
    }
  }

  /// Whether any declaration says what its bytes are.
  var isPinned: Bool {
    declarations.contains { $0.entry.digests.contains { $0.algorithm.isTrustworthy } }
  }

  private func isKept(_ record: ContentRecord, under judged: Planner.Facts) -> Bool {
    guard record.digest != nil else { return false }
    if let expiry = record.expiresAt, expiry <= judged.now { return false }
    return declarations.allSatisfy { declaration in
      // An entry that has expired is planned no more.
      if let expires = declaration.entry.expires, expires <= judged.now { return false }
      let (decision, _) = Planner.decide(
        declaration.entry,
        record: record,
        segment: declaration.segment,
        facts: judged
      )
      return decision == .keep
    }
  }

  /// What a run would be asked, one segment for each that declares something.
  static func segments(of items: [WantedItem]) -> [SegmentDeclaration] {
    var segments: [SegmentDeclaration] = []
    var entries: [[ManifestEntry]] = []
    var positions: [String: Int] = [:]
    for declaration in items.flatMap(\.declarations) {
      let name = declaration.segment.name
      // Whoever asks for an item wants to know that it failed, whatever its declaration makes of it.
      var entry = declaration.entry
      entry.isRequired = true
      if let position = positions[name] {
        entries[position].append(entry)
        // Of a segment as a whole holds what holds for the least trusted.
        segments[position].excerptOf =
          segments[position].excerptOf ?? declaration.segment.excerptOf
      } else {
        positions[name] = segments.count
        segments.append(declaration.segment)
        entries.append([entry])
      }
    }
    for position in segments.indices {
      segments[position].source = .inline(entries[position])
      segments[position].isRequired = true
    }
    return segments
  }
}

/// By what is judged whether stored bodies may come out: made once for all of them.
struct KeptFacts {
  let offline: Planner.Facts
  let asking: Planner.Facts

  init(_ facts: Planner.Facts) {
    var policy = facts.policy
    policy.revalidatesAll = false
    policy.refetchesAll = false
    // What is here already needs no leave to be fetched.
    policy.transportSecurity = TransportSecurity()
    policy.transportSecurity.allowsArbitraryLoads = true
    policy.isOffline = true
    offline = facts.under(policy)
    policy.isOffline = false
    asking = facts.under(policy)
  }
}
