/// Segments that declare one URL differently: each judges a body by its own declaration.
extension Dispatcher {
  /// Segment that shares an earlier segment's item.
  struct Sharer: Sendable {
    var segment: Int
    var entry: ManifestEntry
    var step: PlannedStep
    /// Position among all declared entries of the run.
    var position: Int
  }

  mutating func separateSharers(
    _ item: Int,
    size: Int64?,
    _ headers: HeaderBlock = HeaderBlock(),
    objection: (Sharer, ContentExpectation) -> Failure?
  ) {
    let work = items.active(item)
    guard !work.sharers.isEmpty else { return }
    for sharer in work.sharers {
      let expectation = segments[sharer.segment].declaration.expectation
      guard
        let failure = limitObjection(to: size, in: sharer.segment)
          ?? objection(sharer, expectation)
          ?? storeObjection(to: headers, in: [sharer.segment])
      else { continue }
      removeSharer(sharer, from: work)
      reject(sharer.entry, failure, of: sharer.segment)
    }
  }

  /// Judges a confirmed body for each segment; returns whether the first one refuses it.
  mutating func refusesStored(_ item: Int, _ record: ContentRecord) -> Bool {
    guard segments.count > 1, !isAd(item) else { return false }
    separateSharers(item, size: record.size, record.headers) { sharer, expectation in
      Self.objection(to: record, as: sharer.entry)
        ?? expectation.objection(type: record.mime, size: record.size, prefix: nil)
    }
    let index = Int(items[item].segment)
    let expectation = segments[index].declaration.expectation
    guard
      let objection = limitObjection(to: record.size, in: index)
        ?? expectation.objection(type: record.mime, size: record.size, prefix: nil)
        ?? storeObjection(to: record.headers, in: [index])
    else { return false }
    leaveSharers(item)
    fail(item, objection)
    return true
  }

  func limitObjection(to size: Int64?, in index: Int) -> Failure? {
    guard let size, let limit = sizeLimit(nil, in: index), size > limit else { return nil }
    let sizes = SizeText.format(together: [size, limit])
    return Failure(
      .tooLarge,
      "it has \(sizes[0]), and `max_file_size` is \(SizeText.format(limit: limit))"
    )
  }

  func storeObjection(to headers: HeaderBlock, in indices: [Int]) -> Failure? {
    let honorsNoStore = indices.contains { segments[$0].declaration.honorsNoStore }
    return Freshness.mayStore(headers, honorsNoStore: honorsNoStore) ? nil : Self.notStored
  }

  private static let notStored = Failure(
    .unsupported,
    "its server says `no-store`, and `honor_no_store` is set"
  )

  /// Begins items for sharers with a larger limit, after the first limit ended a transfer.
  mutating func leaveLargerLimits(_ item: Int, _ failure: Failure) {
    let work = items.active(item)
    guard failure.code == .tooLarge, !work.sharers.isEmpty,
      let limit = sizeLimit(nil, in: Int(items[item].segment))
    else { return }
    for sharer in work.sharers where sizeLimit(nil, in: sharer.segment) ?? .max > limit {
      work.hasTwin = true
      removeSharer(sharer, from: work)
      begin(sharer.step, of: sharer.segment, at: sharer.position)
    }
  }

  mutating func refuseAsForeseen(_ item: Int) {
    let work = items.active(item)
    for (sharer, failure) in work.foreseenRefusals {
      removeSharer(sharer, from: work)
      reject(sharer.entry, failure, of: sharer.segment)
    }
  }

  func objection(
    toSettled item: Int,
    _ result: ItemResult,
    _ entry: ManifestEntry,
    of index: Int
  ) -> Failure? {
    guard result.failure == nil, result.deferral == nil, result.outcome != .deferred,
      result.isUsable || request.mode.predicts, let size = result.size
    else { return nil }
    if let objection = limitObjection(to: size, in: index)
      ?? result.digest.map({ Self.objection(size: size, digest: $0, strong: [:], as: entry) })
      ?? Self.sizeObjection(size, as: entry)
    {
      return objection
    }
    // The media type and first bytes are not known here.
    if let objection = segments[index].declaration.expectation.sizeObjection(size) {
      return objection
    }
    let honorsNoStore = segments[index].declaration.honorsNoStore
    return settled.saysNoStore(item) && honorsNoStore ? Self.notStored : nil
  }

  /// Begins items for sharers that may accept the body that the first segment refuses.
  mutating func leaveSharers(_ item: Int, where isLeft: (Int) -> Bool = { _ in true }) {
    let work = items.active(item)
    for sharer in work.sharers where isLeft(sharer.segment) {
      work.hasTwin = true
      removeSharer(sharer, from: work)
      begin(sharer.step, of: sharer.segment, at: sharer.position)
    }
  }

  func removeSharer(_ sharer: Sharer, from work: ActiveItem) {
    work.sharers.removeAll { $0.segment == sharer.segment }
    work.foreseenRefusals.removeAll { $0.sharer.segment == sharer.segment }
    removeSegment(sharer.segment, from: work)
  }

  func removeSegment(_ index: Int, from work: ActiveItem) {
    let name = segments[index].declaration.name
    work.segments.removeAll { $0 == index }
    work.optionalIn.removeAll { $0 == index }
    work.result.segments.removeAll { $0 == name }
    work.result.isRequired = work.segments.contains {
      segments[$0].declaration.isRequired && !work.optionalIn.contains($0)
    }
  }

  /// Returns the objection to a body kept by another segment's digest, which no other may replace.
  func objection(
    toKept known: Int,
    _ entry: ManifestEntry,
    of index: Int,
    _ step: PlannedStep,
    for keeper: ManifestEntry
  ) -> Failure? {
    guard step.reason == .digestDiffers || step.reason == .sizeDiffers,
      isProven(step, by: keeper, of: known), let row = row(of: step), let position = step.position
    else { return nil }
    return Self.objection(
      size: row.size,
      digest: row.digest,
      strong: facts.inventory.strongDigests(of: position),
      as: entry
    )
  }

  static func objection(to record: ContentRecord, as entry: ManifestEntry) -> Failure? {
    guard let digest = record.digest else { return nil }
    return objection(size: record.size, digest: digest, strong: record.otherDigests, as: entry)
  }

  static func objection(
    size: Int64,
    digest: ContentDigest,
    strong: [DigestAlgorithm: [UInt8]],
    as entry: ManifestEntry
  ) -> Failure? {
    if Comparison(entry.digests, stored: digest, strong: strong) == .different {
      if entry.isLocked { return .drifted("its sha256 is \(digest) in another segment") }
      let declared = entry.digests.map(\.text).joined(separator: " or ")
      return Failure(
        .digestMismatch,
        "its sha256 is \(digest) in another segment, but \(declared) is declared"
      )
    }
    return sizeObjection(size, as: entry)
  }

  private static func sizeObjection(_ size: Int64, as entry: ManifestEntry) -> Failure? {
    guard let declared = entry.size, declared != size else { return nil }
    if entry.isLocked { return .drifted("it has \(size) bytes") }
    return Failure(.corrupted, "it has \(size) bytes, but \(declared) are declared")
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
    var failure = failure
    // The failed list has an outdated digest; no server sent a wrong body.
    if segments[index].lastList != nil, failure.code == .digestMismatch,
      let cause = segments[index].manifest.failure
    {
      failure = Failure(
        cause.code,
        "the list of `\(segments[index].declaration.name)` failed, and its last good list pins another body than a list of this run"
      )
    }
    settleRejected(rejection(entry, failure), in: index)
    let key = URLKey(entry.recordURL)
    segments[index].otherVariants.insert(key)
  }
}
