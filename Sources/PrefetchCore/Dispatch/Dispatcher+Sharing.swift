/// Several segments that name one URL.
extension Dispatcher {
  /// A second segment that names the same URL: one transfer, both are told.
  mutating func share(
    _ item: Int,
    _ planned: PlannedItem,
    with index: Int,
    now: Moment,
    into effects: inout [Effect]
  ) {
    let first = items[item].entry.digests
    let second = planned.entry.digests
    let name = segments[index].declaration.name
    if Self.isContradiction(first, second) {
      let failure = Failure(
        .manifestInvalid,
        "segments `\(items[item].result.segments[0])` and `\(name)` declare different digests for it"
      )
      let entry = RejectedEntry(
        url: planned.entry.url.string,
        id: planned.entry.id,
        failure: failure
      )
      return settleRejected(entry, in: index, into: &effects)
    }
    items[item].result.segments.append(name)
    items[item].result.isRequired =
      items[item].result.isRequired || segments[index].declaration.isRequired
    if items[item].state == .settled {
      effects.append(.announce(.itemShared(items[item].result, segment: name)))
      tally(items[item].result, in: index, into: &effects)
      if items[item].result.isUsable, planned.record?.digest == nil, request.mode == .run {
        batch.join(segments[index].key, urls: [planned.entry.url.string], now: now.uptime)
      }
      return
    }
    items[item].segments.append(index)
    items[item].entry.digests += second.filter { !first.contains($0) }
    let algorithms = Self.algorithms(of: items[item].entry)
    items[item].exchange?.require(algorithms)
  }

  /// Whether a segment asks for more than what was already decided for another one can prove.
  func needsOwnAnswer(_ planned: PlannedItem, besides item: Int) -> Bool {
    let isDecided =
      switch items[item].state {
      case .settled, .committing: true
      case .queued, .inFlight, .waiting: false
      }
    let known = items[item].entry.digests
    guard isDecided, planned.entry.digests.contains(where: { !known.contains($0) }),
      !Self.isContradiction(known, planned.entry.digests)
    else { return false }
    return planned.decision != .keep || items[item].result.source != .cache
  }

  /// Digests of one algorithm that two segments declare differently.
  private static func isContradiction(_ a: [ExpectedDigest], _ b: [ExpectedDigest]) -> Bool {
    Set(a.map(\.algorithm)).intersection(b.map(\.algorithm)).contains { algorithm in
      Set(a.filter { $0.algorithm == algorithm }) != Set(b.filter { $0.algorithm == algorithm })
    }
  }

  static func algorithms(of entry: ManifestEntry) -> Set<DigestAlgorithm> {
    Set(entry.digests.map(\.algorithm)).subtracting([.sha256])
  }
}
