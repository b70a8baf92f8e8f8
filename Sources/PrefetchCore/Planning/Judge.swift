/// What an entry says about content, from the columns or in full.
struct Wanted {
  var size: Int64?
  /// Of an entry that says no more than the columns hold.
  var sha256: ContentDigest?
  var origin: Int
  var purpose: RequestPurpose
  /// When it was changed last, where that is believed.
  var changed: Instant?
  var full: ManifestEntry?
  /// Whether it consists of more than the one file that it names, and cannot be brought as a whole.
  var isCompound = false
  /// The same, where it can.
  var bundle: BundleForm?
  /// Whether its body is stored as one file and turned out to be the document of several.
  var isMisplaced = false
  /// Whether runs leave it to those who ask for it by itself.
  var isWithheld = false

  var hasProof: Bool {
    sha256 != nil || full?.digests.contains { $0.algorithm.isTrustworthy } ?? false
  }
}

/// Decides about the entries of one segment.
struct Judge {
  private let segment: SegmentDeclaration
  private let policy: RunPolicy
  private let now: Instant
  private let limit: Int64?
  /// For each origin why no request may go there.
  private let refusals: [PlanReason?]
  /// The same for what it would be for, where that weighs.
  private let refusalsByPurpose: [RequestPurpose: [PlanReason?]]
  /// Whether the type of an item weighs anywhere.
  let asksForPurpose: Bool
  /// Kinds of items that cannot be brought as a whole yet: a playlist alone would look finished.
  private let compoundKinds: Set<UInt16>
  private static let compoundTypes: Set<String> = ["dash"]
  private let bundleKinds: [UInt16: BundleForm]
  /// What is granted whatever an entry says.
  private let granted: [Freshness.Lifetime]

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
    asksForPurpose = policy.transportSecurity.asksForPurpose
    let refusals: (RequestPurpose) -> [PlanReason?] = { purpose in
      origins.allOrigins.map { url in
        policy.refusal(of: url, for: purpose, named: provenance, at: now).map {
          $0.code == .addressForbidden ? .refusedAddress : .refusedTransport
        }
      }
    }
    self.refusals = refusals(.other)
    refusalsByPurpose =
      asksForPurpose ? [.media: refusals(.media), .page: refusals(.page)] : [:]
    compoundKinds = origins.kinds.numbers(ofTypes: Self.compoundTypes)
    var bundleKinds: [UInt16: BundleForm] = [:]
    for form in BundleForm.allCases {
      for kind in origins.kinds.numbers(ofTypes: [form.rawValue]) { bundleKinds[kind] = form }
    }
    self.bundleKinds = bundleKinds
    granted = [policy.freshnessLimit.map { .atMost($0) }, segment.lifetime].compactMap(\.self)
  }

  func wanted(_ index: Int, of entries: EntryTable) -> Wanted {
    var wanted = Wanted(
      size: entries.size(at: index),
      sha256: entries.plainDigest(at: index),
      origin: entries.originNumber(at: index),
      purpose: asksForPurpose ? RequestPurpose(itemType: entries.type(at: index)) : .other,
      full: entries.isSpecial(at: index) ? entries[index] : nil
    )
    if segment.manifestRules.behavior != .all || entries.hasBehaviors {
      let behavior = wanted.full?.behavior ?? segment.manifestRules.behavior
      wanted.isWithheld = behavior.withholds(isThumbnail: wanted.full?.isThumbnail ?? false)
    }
    if let type = wanted.full?.type {
      wanted.isCompound = Self.compoundTypes.contains(type)
      wanted.bundle = BundleForm(rawValue: type)
    } else if !compoundKinds.isEmpty || !bundleKinds.isEmpty {
      wanted.isCompound = compoundKinds.contains(entries.kind(at: index))
      wanted.bundle = bundleKinds[entries.kind(at: index)]
    }
    if segment.manifestRules.trustsModificationTimes {
      wanted.changed = entries.published(at: index)
    }
    // What only passes through is asked for file by file, and no ad may be asked for in vain.
    if !segment.isStored {
      wanted.isCompound = wanted.isCompound || wanted.bundle == .ad
      wanted.bundle = nil
    }
    return wanted
  }

  /// Plans an undeclared item by the form that its stored body has shown.
  func recognize(
    _ wanted: inout Wanted,
    _ index: Int,
    of entries: EntryTable,
    as form: BundleForm?,
    hasBody: Bool,
    hasParts: Bool
  ) {
    guard let form, wanted.bundle == nil, !wanted.isCompound, segment.recognizesBundles,
      (wanted.full ?? entries.entry(at: index, identified: false)).isRecognizable
    else { return }
    if hasParts || !hasBody {
      wanted.bundle = form
    } else {
      wanted.isMisplaced = true
    }
  }

  func decide(
    _ wanted: Wanted,
    row: Inventory.Row? = nil,
    strong: [DigestAlgorithm: [UInt8]] = [:],
    selection: Variance.Selection = .same,
    isMissing: Bool = false,
    isDescribed: Bool = true,
    hasParts: Bool = false
  ) -> (PlannedStep.Decision, PlanReason) {
    if wanted.isWithheld, !policy.wakesPaused { return (.keep, .withheld) }
    if let refusal = refusal(of: wanted) { return (.fail, refusal) }
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
      hasParts: hasParts
    )
    // The limit may be a newer one, and another segment may have brought what is here.
    guard wanted.bundle == nil, let refusal = refusal(ofStored: row.size) else { return ruling }
    switch ruling {
    case (.keep, _), (.describe, _): return (.fail, refusal)
    case (.revalidate, _), (.update, .noValidators): return (.update, refusal)
    case (.fetch, _), (.update, _), (.fail, _): return ruling
    }
  }

  /// Why a stored body is not one that the segment takes; nil where it is.
  private func refusal(ofStored size: Int64) -> PlanReason? {
    if let limit, size > limit { return .tooLarge }
    let isExpected = segment.expectation.sizeObjection(size) == nil
    return isExpected ? nil : .unexpectedSize(size)
  }

  /// Offline what is pinned may be here all the same, without a row that says so.
  private func notStored(_ wanted: Wanted) -> (PlannedStep.Decision, PlanReason) {
    guard policy.isOffline else { return (.fetch, .notStored) }
    return (wanted.hasProof ? .fetch : .fail, .notStoredOffline)
  }

  private func refusal(of wanted: Wanted) -> PlanReason? {
    guard asksForPurpose, let refusals = refusalsByPurpose[wanted.purpose] else {
      return refusals[wanted.origin]
    }
    return refusals[wanted.origin]
  }

  private func decideStored(
    _ wanted: Wanted,
    row: Inventory.Row,
    strong: [DigestAlgorithm: [UInt8]],
    _ selection: Variance.Selection,
    isDescribed: Bool,
    hasParts: Bool
  ) -> (PlannedStep.Decision, PlanReason) {
    if policy.refetchesAll, !policy.isOffline { return (.update, .refetchAskedFor) }
    // What it consists of may change where its own document does not.
    switch wanted.bundle {
    case .stream: return policy.isOffline ? (.keep, .offline) : (.revalidate, .severalFiles)
    case .ad: return decideAd(wanted, row: row, isDescribed: isDescribed)
    case nil: break
    }
    if wanted.isMisplaced, !policy.isOffline { return (.update, .otherKind) }
    if hasParts { return policy.isOffline ? (.fail, .otherKindOffline) : (.update, .otherKind) }
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
    if selection == .other, comparison != .equal { return serveNothing(row) }
    let until = freshUntil(wanted, row: row)
    let isFresh = until.map { now < $0 } ?? false
    if policy.isOffline {
      return (.keep, isFresh || comparison == .equal ? .offline : .staleOffline)
    }
    // However fresh it is, no run has seen yet that it is the declared one.
    if comparison == .unknown, wanted.hasProof { return (.update, .digestNotTaken) }
    let mayAsk = selection == .same ? row.hasValidators : row.hasStrongTag
    if let full = wanted.full, full.revision != nil, full.descriptionHash != row.description {
      return (mayAsk ? .revalidate : .update, .otherRevision)
    }
    if !policy.revalidatesAll {
      if let tag = wanted.full?.entityTag, row.entityTag == Inventory.tagHash(tag) {
        return (.keep, .entityTagMatches)
      }
      if isFresh, let until {
        return (.keep, until == .distantFuture ? .immutable : .freshUntil(until))
      }
      if let changed = wanted.changed, let answered = row.answeredAt, changed < answered,
        !Freshness.isFuture(answered, at: now)
      {
        return (.keep, .unchangedSince(changed))
      }
    }
    guard mayAsk else { return (.update, .noValidators) }
    return (.revalidate, policy.revalidatesAll ? .revalidationAskedFor : .stale)
  }

  /// Asking costs the app that shows it: within its lifetime no server is asked, whatever else
  /// is declared.
  private func decideAd(
    _ wanted: Wanted,
    row: Inventory.Row,
    isDescribed: Bool
  ) -> (PlannedStep.Decision, PlanReason) {
    let until = freshUntil(wanted, row: row).flatMap { now < $0 ? $0 : nil }
    // Its declaration names its files, and may mean that it was no ad before. The ad of an ad space
    // never was anything else, and has the name of the space.
    if !isDescribed, wanted.full?.zone == nil, !policy.isOffline { return (.update, .otherKind) }
    if policy.isOffline { return (.keep, until == nil ? .staleOffline : .offline) }
    guard let until, !policy.revalidatesAll else {
      return (.revalidate, policy.revalidatesAll ? .revalidationAskedFor : .stale)
    }
    return (.keep, .freshUntil(until))
  }

  /// It answered another request; only a tag that tells variants apart is worth asking with.
  private func serveNothing(_ row: Inventory.Row) -> (PlannedStep.Decision, PlanReason) {
    if policy.isOffline { return (.fail, .otherVariantOffline) }
    return (row.hasStrongTag ? .revalidate : .update, .otherVariant)
  }

  private func comparison(
    _ wanted: Wanted,
    row: Inventory.Row,
    strong: [DigestAlgorithm: [UInt8]]
  ) -> Comparison {
    if let sha256 = wanted.sha256 { return sha256 == row.digest ? .equal : .different }
    guard let full = wanted.full else { return .unknown }
    return Comparison(full.digests, stored: row.digest, strong: strong)
  }

  private func freshUntil(_ wanted: Wanted, row: Inventory.Row) -> Instant? {
    var lifetimes = granted + [wanted.full?.lifetime].compactMap(\.self)
    if wanted.bundle == .ad, segment.lifetime == nil, wanted.full?.lifetime == nil {
      lifetimes.append(BundleForm.adLifetime)
    }
    let end = row.freshness.end(under: lifetimes, answeredAt: row.answeredAt)
    return Freshness.believed(end, answeredAt: row.answeredAt, at: now)
  }
}

/// What declared digests say of a stored body.
enum Comparison {
  case equal
  case different
  case unknown

  /// One algorithm known on both sides decides; the strongest comes first.
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
