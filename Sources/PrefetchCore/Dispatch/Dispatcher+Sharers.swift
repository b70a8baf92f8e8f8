/// Segments that name one URL and declare different things of it: each judges a body by its own.
extension Dispatcher {
  /// A segment that shares the item of an earlier one.
  struct Sharer: Sendable {
    var segment: Int
    var entry: ManifestEntry
    var step: PlannedStep
    /// Where it stands among everything that is declared.
    var position: Int
  }

  /// Ends the item for those segments whose own declarations exclude what came.
  mutating func separateSharers(
    _ item: Int,
    objection: (Sharer, ContentExpectation) -> Failure?
  ) {
    let work = active[Int(items[item].slot)]
    guard !work.sharers.isEmpty else { return }
    for sharer in work.sharers {
      let expectation = segments[sharer.segment].declaration.expectation
      guard let failure = objection(sharer, expectation) else { continue }
      part(sharer, from: work)
      reject(sharer.entry, failure, of: sharer.segment)
    }
  }

  /// Judges a confirmed body for each of several segments by its own declarations; true where the
  /// first of them refuses it.
  mutating func refusesStored(_ item: Int, _ record: ContentRecord) -> Bool {
    guard segments.count > 1, !isAd(item) else { return false }
    separateSharers(item) { sharer, expectation in
      Self.objection(to: record, as: sharer.entry)
        ?? expectation.objection(type: record.mime, size: record.size, prefix: nil)
    }
    let expectation = segments[Int(items[item].segment)].declaration.expectation
    guard
      let objection = expectation.objection(type: record.mime, size: record.size, prefix: nil)
    else { return false }
    leaveSharers(item)
    fail(item, objection)
    return true
  }

  /// Lets those ask for themselves to which a body was right that the first segment refuses.
  mutating func leaveSharers(_ item: Int) {
    let work = active[Int(items[item].slot)]
    for sharer in work.sharers {
      part(sharer, from: work)
      begin(sharer.step, of: sharer.segment, at: sharer.position)
    }
  }

  private func part(_ sharer: Sharer, from work: ActiveItem) {
    let name = segments[sharer.segment].declaration.name
    work.sharers.removeAll { $0.segment == sharer.segment }
    work.segments.removeAll { $0 == sharer.segment }
    work.sparing.removeAll { $0 == sharer.segment }
    work.result.segments.removeAll { $0 == name }
  }

  func objection(
    toKept known: Int,
    _ entry: ManifestEntry,
    of index: Int,
    _ step: PlannedStep
  ) -> Failure? {
    // What another segment keeps without a question is not asked for by this one either.
    guard known < 0, let position = step.position else { return nil }
    let row = facts.inventory.rows[position]
    guard row.hasBody, !facts.missing.contains(row.digest) else { return nil }
    switch step.reason {
    case .digestDiffers, .sizeDiffers:
      return Self.objection(
        size: row.size,
        digest: row.digest,
        strong: facts.inventory.strongDigests(of: position),
        as: entry
      )
    default: return nil
    }
  }

  static func objection(to record: ContentRecord, as entry: ManifestEntry) -> Failure? {
    guard let digest = record.digest else { return nil }
    return objection(size: record.size, digest: digest, strong: record.otherDigests, as: entry)
  }

  private static func objection(
    size: Int64,
    digest: ContentDigest,
    strong: [DigestAlgorithm: [UInt8]],
    as entry: ManifestEntry
  ) -> Failure? {
    if Comparison(entry.digests, stored: digest, strong: strong) == .different {
      let declared = entry.digests.map(\.text).joined(separator: " or ")
      return Failure(
        .digestMismatch,
        "its sha256 is \(digest), as another segment has it; declared is \(declared)"
      )
    }
    guard let declared = entry.size, declared != size else { return nil }
    return Failure(.corrupted, "it has \(size) bytes, and \(declared) are declared")
  }

  func rejection(_ entry: ManifestEntry, _ failure: Failure) -> RejectedEntry {
    RejectedEntry(
      url: entry.url.string,
      id: entry.id,
      failure: failure,
      isRequired: entry.isRequired
    )
  }

  mutating func reject(_ entry: ManifestEntry, _ failure: Failure, of index: Int) {
    settleRejected(rejection(entry, failure), in: index)
    let key = URLKey(entry.url.string)
    segments[index].otherVariants.insert(key)
  }
}
