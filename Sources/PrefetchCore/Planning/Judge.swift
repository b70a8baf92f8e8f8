/// Content that an entry declares, from the columns or the full entry.
struct EntryDeclaration {
  var size: Int64?
  var sha256: ContentDigest?
  var origin: Int
  var purpose: RequestPurpose
  var changed: Instant?
  var full: ManifestEntry?
  var isCompound = false
  var bundle: BundleForm?
  var isStoredAsSingleFile = false
  var isWithheld = false
  /// Reason why the lock file refuses the entry.
  var fault: PlanReason?
  /// Whether all files that the lock file names are stored.
  var hasLockedFiles = false

  var digests: [ExpectedDigest] {
    if let full { return full.digests }
    return sha256.map { [ExpectedDigest(algorithm: .sha256, bytes: $0.bytes)] } ?? []
  }

  var hasProof: Bool {
    sha256 != nil || full?.digests.contains { $0.algorithm.isTrustworthy } ?? false
  }
}

/// Decides what to do about the entries of a segment.
struct Judge {
  private let segment: SegmentDeclaration
  private let policy: RunPolicy
  private let now: Instant
  private let limit: Int64?
  private let refusals: [PlanReason?]
  private let refusalsByPurpose: [RequestPurpose: [PlanReason?]]
  let dependsOnPurpose: Bool
  /// Kinds of items that cannot be fetched as a whole, since a playlist alone would look complete.
  private let compoundMetadata: Set<UInt16>
  private static let compoundTypes: Set<String> = ["dash"]
  private let bundleMetadata: [UInt16: BundleForm]
  private let granted: [Freshness.Lifetime]
  private let gate: AgeGate?

  init(
    segment: SegmentDeclaration,
    policy: RunPolicy,
    now: Instant,
    origins: EntryTable,
    named provenance: Provenance
  ) {
    self.segment = segment
    self.policy = policy
    self.now = now
    limit = segment.maximumFileSize ?? policy.maximumFileSize
    gate = AgeGate(segment, policy, at: now)
    dependsOnPurpose = policy.transportSecurity.dependsOnPurpose
    let refusals: (RequestPurpose) -> [PlanReason?] = { purpose in
      origins.allOrigins.map { url in
        policy.refusal(of: url, for: purpose, named: provenance, at: now).map {
          $0.code == .addressForbidden ? .refusedAddress : .refusedTransport
        }
      }
    }
    self.refusals = refusals(.other)
    refusalsByPurpose =
      dependsOnPurpose ? [.media: refusals(.media), .page: refusals(.page)] : [:]
    compoundMetadata = origins.metadataTable.numbers(ofTypes: Self.compoundTypes)
    var bundleMetadata: [UInt16: BundleForm] = [:]
    for form in BundleForm.allCases {
      for metadata in origins.metadataTable.numbers(ofTypes: [form.rawValue]) {
        bundleMetadata[metadata] = form
      }
    }
    self.bundleMetadata = bundleMetadata
    granted = [policy.freshnessLimit.map { .atMost($0) }, segment.lifetime].compactMap(\.self)
  }

  func declaration(at index: Int, of entries: EntryTable) -> EntryDeclaration {
    var wanted = EntryDeclaration(
      size: entries.size(at: index),
      sha256: entries.columnDigest(at: index),
      origin: entries.originNumber(at: index),
      purpose: dependsOnPurpose ? RequestPurpose(itemType: entries.type(at: index)) : .other,
      full: entries.hasExtras(at: index) ? entries[index] : nil
    )
    wanted.fault = entries.lockMarks?.faults[index]
    if segment.manifestRules.behavior != .all || entries.hasBehaviors {
      let behavior = wanted.full?.behavior ?? segment.manifestRules.behavior
      wanted.isWithheld = behavior.withholds(isThumbnail: wanted.full?.isThumbnail ?? false)
    }
    if let type = wanted.full?.type {
      wanted.isCompound = Self.compoundTypes.contains(type)
      wanted.bundle = BundleForm(rawValue: type)
    } else if !compoundMetadata.isEmpty || !bundleMetadata.isEmpty {
      wanted.isCompound = compoundMetadata.contains(entries.metadata(at: index))
      wanted.bundle = bundleMetadata[entries.metadata(at: index)]
    }
    if segment.manifestRules.trustsModificationTimes {
      wanted.changed = entries.published(at: index)
    }
    // A pull-through segment fetches files separately, and an unused ad request must not be made.
    if !segment.isStored {
      wanted.isCompound = wanted.isCompound || wanted.bundle == .ad
      wanted.bundle = nil
    }
    return wanted
  }

  func recognize(
    _ wanted: inout EntryDeclaration,
    _ index: Int,
    of entries: EntryTable,
    as form: BundleForm?,
    hasBody: Bool,
    hasFiles: Bool
  ) {
    guard let form, wanted.bundle == nil, !wanted.isCompound, segment.recognizesBundles,
      (wanted.full ?? entries.entry(at: index, identified: false)).isRecognizable
    else { return }
    if hasFiles || !hasBody {
      wanted.bundle = form
    } else {
      wanted.isStoredAsSingleFile = true
    }
  }

  func decide(
    _ wanted: EntryDeclaration,
    row: Inventory.Row? = nil,
    strong: [DigestAlgorithm: [UInt8]] = [:],
    selection: Variance.Selection = .same,
    isMissing: Bool = false,
    isDescribed: Bool = true,
    hasFiles: Bool = false
  ) -> (PlannedStep.Decision, PlanReason) {
    if wanted.isWithheld, !policy.wakesPaused { return (.keep, .withheld) }
    if let refusal = wanted.fault ?? refusal(of: wanted) { return (.fail, refusal) }
    if wanted.isCompound { return (.fail, .compound) }
    if segment.requiresDigest, !wanted.hasProof { return (.fail, .noDigest) }
    if let limit, let size = wanted.size, size > limit { return (.fail, .tooLarge) }
    guard let row else { return notStored(wanted) }
    if row.state == .paused, !policy.wakesPaused { return (.keep, .paused) }
    guard row.hasBody else {
      let isGivenUp =
        row.state == .failed && !policy.retriesFailed && !policy.refetchesAll
        && !policy.wakesPaused && isDescribed
      return isGivenUp ? (.fail, .failedBefore) : notStored(wanted)
    }
    if isMissing {
      return policy.isOffline ? (.fail, .objectLostOffline) : (.fetch, .objectLost)
    }
    let ruling = decideStored(
      wanted,
      row: row,
      strong: strong,
      selection,
      isDescribed: isDescribed,
      hasFiles: hasFiles
    )
    // The limit may be newer than the body, or another segment may have fetched it.
    guard wanted.bundle == nil, let refusal = refusal(ofStored: row.size) else { return ruling }
    switch ruling {
    case (.keep, _), (.describe, _): return (.fail, refusal)
    case (.revalidate, _), (.update, .noValidators): return (.update, refusal)
    case (.fetch, _), (.update, _), (.wait, _), (.fail, _): return ruling
    }
  }

  /// Applies the age gate to a decision, and says what the answer to its request must still show.
  func gate(
    _ ruling: (decision: PlannedStep.Decision, reason: PlanReason),
    _ wanted: EntryDeclaration,
    _ index: Int,
    of entries: EntryTable,
    row: Inventory.Row? = nil,
    strong: [DigestAlgorithm: [UInt8]] = [:],
    sight: Sight? = nil
  ) -> (decision: PlannedStep.Decision, reason: PlanReason, age: AgeCheck) {
    // Without a network as well an older body is right while its successor waits.
    let isOlder = ruling.reason == .digestDiffersOffline
    guard let gate, ruling.decision.needsRequest || isOlder, ruling.reason != .lockedProbe else {
      return (ruling.decision, ruling.reason, .none)
    }
    // A lost body was accepted before.
    if ruling.reason == .objectLost, let row,
      comparison(wanted, row: row, strong: strong) == .equal
    {
      return (ruling.decision, ruling.reason, .none)
    }
    switch gate.ruling(index, of: entries, wanted, AgeGate.Past(row, sight)) {
    case .exempt: return (ruling.decision, ruling.reason, .none)
    case .passed: return (ruling.decision, ruling.reason, .passed)
    case .unknown: return (ruling.decision, ruling.reason, .open)
    case .waits(let until): return (.wait, .tooYoung(until: until), .none)
    }
  }

  private func refusal(ofStored size: Int64) -> PlanReason? {
    if let limit, size > limit { return .tooLarge }
    let isExpected = segment.expectation.sizeObjection(size) == nil
    return isExpected ? nil : .unexpectedSize(size)
  }

  /// Decides about an item without a body; offline, a pinned one may be an object without a row.
  private func notStored(_ wanted: EntryDeclaration) -> (PlannedStep.Decision, PlanReason) {
    guard policy.isOffline else { return (.fetch, .notStored) }
    return (wanted.hasProof ? .fetch : .fail, .notStoredOffline)
  }

  private func refusal(of wanted: EntryDeclaration) -> PlanReason? {
    guard dependsOnPurpose, let refusals = refusalsByPurpose[wanted.purpose] else {
      return refusals[wanted.origin]
    }
    return refusals[wanted.origin]
  }

  private func decideStored(
    _ wanted: EntryDeclaration,
    row: Inventory.Row,
    strong: [DigestAlgorithm: [UInt8]],
    _ selection: Variance.Selection,
    isDescribed: Bool,
    hasFiles: Bool
  ) -> (PlannedStep.Decision, PlanReason) {
    if policy.refetchesAll, !policy.isOffline { return (.update, .refetchRequested) }
    // Parts may change although the item's own document does not.
    switch wanted.bundle {
    case .stream:
      if wanted.hasLockedFiles, !policy.revalidatesAll { return (.keep, .digestMatches) }
      return policy.isOffline ? (.keep, .offline) : (.revalidate, .severalFiles)
    case .ad: return decideAd(wanted, row: row, isDescribed: isDescribed)
    case nil: break
    }
    if wanted.isStoredAsSingleFile, !policy.isOffline { return (.update, .otherKind) }
    if hasFiles { return policy.isOffline ? (.fail, .otherKindOffline) : (.update, .otherKind) }
    let comparison = comparison(wanted, row: row, strong: strong)
    switch comparison {
    case .different:
      return policy.isOffline ? (.fail, .digestDiffersOffline) : (.update, .digestDiffers)
    case .equal where !policy.revalidatesAll:
      return (.keep, .digestMatches)
    case .equal, .unknown:
      break
    }
    if let size = wanted.size, size != row.size {
      return policy.isOffline ? (.fail, .sizeDiffersOffline) : (.update, .sizeDiffers)
    }
    if selection == .other, comparison != .equal { return decideOtherVariant(row) }
    let until = freshUntil(wanted, row: row)
    let isFresh = until.map { now < $0 } ?? false
    if policy.isOffline {
      return (.keep, isFresh || comparison == .equal ? .offline : .staleOffline)
    }
    // A declared digest that was never checked outweighs freshness.
    if comparison == .unknown, wanted.hasProof { return (.update, .digestNeverChecked) }
    let canRevalidate = selection == .same ? row.hasValidators : row.hasStrongTag
    if let full = wanted.full, full.revision != nil, full.descriptionHash != row.description {
      return (canRevalidate ? .revalidate : .update, .otherRevision)
    }
    if !policy.revalidatesAll {
      if let tag = wanted.full?.entityTag, row.entityTag == Inventory.tagHash(tag) {
        return (.keep, .entityTagMatches)
      }
      if isFresh, let until {
        return (.keep, until == .distantFuture ? .immutable : .freshUntil(until))
      }
      if let changed = wanted.changed, let respondedAt = row.respondedAt, changed < respondedAt,
        !Freshness.isFuture(respondedAt, at: now)
      {
        return (.keep, .unchangedSince(changed))
      }
    }
    guard canRevalidate else { return (.update, .noValidators) }
    return (.revalidate, policy.revalidatesAll ? .revalidationRequested : .stale)
  }

  /// Decides about an ad; none is revalidated in its lifetime, as each request costs the app.
  private func decideAd(
    _ wanted: EntryDeclaration,
    row: Inventory.Row,
    isDescribed: Bool
  ) -> (PlannedStep.Decision, PlanReason) {
    let until = freshUntil(wanted, row: row).flatMap { now < $0 ? $0 : nil }
    // A changed declaration may mean that the item was no ad before; a zone's always was one.
    if !isDescribed, wanted.full?.zone == nil, !policy.isOffline { return (.update, .otherKind) }
    if policy.isOffline { return (.keep, until == nil ? .staleOffline : .offline) }
    guard let until, !policy.revalidatesAll else {
      return (.revalidate, policy.revalidatesAll ? .revalidationRequested : .stale)
    }
    return (.keep, .freshUntil(until))
  }

  /// Decides about a stored response of another variant; only a strong tag can revalidate it.
  private func decideOtherVariant(_ row: Inventory.Row) -> (PlannedStep.Decision, PlanReason) {
    if policy.isOffline { return (.fail, .otherVariantOffline) }
    return (row.hasStrongTag ? .revalidate : .update, .otherVariant)
  }

  private func comparison(
    _ wanted: EntryDeclaration,
    row: Inventory.Row,
    strong: [DigestAlgorithm: [UInt8]]
  ) -> Comparison {
    if let sha256 = wanted.sha256 { return sha256 == row.digest ? .equal : .different }
    guard let full = wanted.full else { return .unknown }
    return Comparison(full.digests, stored: row.digest, strong: strong)
  }

  private func freshUntil(_ wanted: EntryDeclaration, row: Inventory.Row) -> Instant? {
    var lifetimes = granted
    if let own = wanted.full?.lifetime { lifetimes.append(own) }
    if wanted.bundle == .ad, segment.lifetime == nil, wanted.full?.lifetime == nil {
      lifetimes.append(BundleForm.adLifetime)
    }
    let end = row.freshness.end(under: lifetimes, respondedAt: row.respondedAt)
    return Freshness.believed(end, respondedAt: row.respondedAt, at: now)
  }
}

enum Comparison {
  case equal
  case different
  case unknown

  init(
    _ expected: [ExpectedDigest],
    stored digest: ContentDigest,
    strong: [DigestAlgorithm: [UInt8]]
  ) {
    let byStrength = expected.filter(\.algorithm.isTrustworthy).sorted {
      $0.algorithm > $1.algorithm
    }
    for algorithm in byStrength.map(\.algorithm) {
      let stored = algorithm == .sha256 ? digest.bytes : strong[algorithm]
      guard let stored else { continue }
      let isMatch = byStrength.contains { $0.algorithm == algorithm && $0.bytes == stored }
      self = isMatch ? .equal : .different
      return
    }
    self = .unknown
  }
}
