import PrefetchCore

/// An item that `get` shall bring, with every declaration that holds for it.
struct WantedItem {
  /// As it was asked for; its name where it is delivered comes from here.
  let entry: ManifestEntry
  /// At least one; the first says what is sent.
  let declarations: [DeclaredItems.Declaration]

  /// Whether a stored body is one that the declarations allow, however old it is.
  func isSatisfied(by record: ContentRecord, policy: RunPolicy, now: Instant) -> Bool {
    var policy = policy
    policy.isOffline = true
    return isKept(record, policy: policy, now: now)
  }

  /// Whether a run would ask nobody about it.
  func isFresh(_ record: ContentRecord, policy: RunPolicy, now: Instant) -> Bool {
    var policy = policy
    policy.isOffline = false
    return isKept(record, policy: policy, now: now)
  }

  private func isKept(_ record: ContentRecord, policy: RunPolicy, now: Instant) -> Bool {
    guard record.digest != nil else { return false }
    if let expiry = record.expiresAt, expiry <= now { return false }
    var policy = policy
    policy.revalidatesAll = false
    policy.refetchesAll = false
    // What is here already needs no leave to be fetched.
    policy.transportSecurity = TransportSecurity()
    policy.transportSecurity.allowsArbitraryLoads = true
    return declarations.allSatisfy { declaration in
      // An entry that has expired is planned no more.
      if let expires = declaration.entry.expires, expires <= now { return false }
      let (decision, _) = Planner.decide(
        declaration.entry,
        record: record,
        segment: declaration.segment,
        policy: policy,
        now: now
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
      if let position = positions[name] {
        entries[position].append(declaration.entry)
        // Of a segment as a whole holds what holds for the least trusted.
        segments[position].excerptOf =
          segments[position].excerptOf ?? declaration.segment.excerptOf
      } else {
        positions[name] = segments.count
        segments.append(declaration.segment)
        entries.append([declaration.entry])
      }
    }
    for position in segments.indices {
      segments[position].source = .inline(entries[position])
      // Whoever asks for an item wants to know that it failed, whatever the segment makes of it.
      segments[position].isRequired = true
    }
    return segments
  }
}
