package enum ManifestExpiry: String, Hashable, Sendable, CaseIterable {
  case required
  /// Accepts signatures like minisign's, which have a time and no expiry.
  case optional
}

/// Protects a cache from a faulty manifest that would replace the last good one.
package enum ManifestGuard {
  package static let pageFailure = Failure(
    .manifestGuard,
    "it is an HTML page, not the list; open its URL in a browser to see what the server says"
  )

  /// Returns the objection to pages and media in place of a manifest; indexes may be pages.
  package static func objection(
    toType mime: String,
    of document: FurtherDocument? = nil
  ) -> Failure? {
    if case .packageIndex = document?.kind { return nil }
    if mime == "text/html" || mime == "application/xhtml" {
      return pageFailure
    }
    let isForeign = ["image/", "audio/", "video/", "font/"].contains { mime.hasPrefix($0) }
    guard isForeign || ["text/css", "text/javascript"].contains(mime) else { return nil }
    return Failure(.manifestGuard, "its type is `\(mime)`, which no list has; correct its URL")
  }

  package static func objection(
    to manifest: Manifest,
    of segment: SegmentDeclaration,
    bundleID: String?,
    recorded: SegmentRecord?,
    newest: HeldVersions? = nil,
    policy: RunPolicy,
    now: Instant
  ) -> Failure? {
    if let objection = mismatch(of: manifest, segment, bundleID) { return objection }
    let zones = manifest.network?.localHours.compactMap(\.zone) ?? []
    if let name = zones.first(where: { policy.zone($0) == nil }) {
      return Failure(.manifestInvalid, "this system has no time zone `\(name)`")
    }
    let hasKeys = !segment.manifestKeys.isEmpty
    if let objection = objection(
      toTimesOf: manifest,
      isSigned: hasKeys,
      expiry: policy.manifestExpiry,
      now: now
    ) {
      return objection
    }
    if !segment.allowsEmpty, manifest.itemCount == 0 || newest?.groups.isEmpty == true {
      let remedy =
        segment.publishing?.mirror == nil
        ? "set `allow_empty: true`" : "add `--set defaults.allow_empty=true`"
      let items = CountedNoun("item").text(manifest.itemCount)
      return Failure(
        .manifestGuard,
        (manifest.itemCount == 0
          ? "it has no items; " : "none of its \(items) fits `select`; correct the pattern, or ")
          + "\(remedy) if this is intended"
      )
    }
    guard let recorded, recorded.manifestURL != nil else { return nil }
    let rollback = objection(
      toAge: manifest,
      stored: recorded.generated,
      isSigned: hasKeys,
      policy: policy
    )
    if let rollback { return rollback }
    let steps = policy.allowsRollback ? [] : StepBack.all(from: recorded.newest, to: newest)
    if let step = steps.first {
      return Failure(
        hasKeys ? .rollback : .manifestGuard,
        "its newest `\(step.group)` is \(step.offered), and the stored one is \(step.held)"
          + (steps.count > 1 ? ", as are \(steps.count - 1) more older than before" : "")
          + "; `--allow rollback` accepts it once"
      )
    }
    if let objection = lossOfVersions(from: recorded.newest, to: newest, policy) {
      return objection
    }
    let lost = recorded.itemCount - manifest.itemCount
    // The owner of a local list removes items on purpose.
    let isMass =
      (segment.source.isFromServer || manifest.hasPagesFromServer) && recorded.itemCount >= 3
      && Double(lost) > Double(recorded.itemCount) * policy.maximumRemovalFraction
    if isMass, !policy.allowsMassRemoval, !(manifest.itemCount == 0 && segment.allowsEmpty) {
      return Failure(
        .manifestGuard,
        "it has \(CountedNoun("item").text(manifest.itemCount)) where the stored one has \(recorded.itemCount); "
          + "`--allow mass-removal` accepts it once"
      )
    }
    return nil
  }

  /// Returns the objection to a list in which most groups of versions have no version any more.
  private static func lossOfVersions(
    from held: HeldVersions?,
    to offered: HeldVersions?,
    _ policy: RunPolicy
  ) -> Failure? {
    guard let held, let offered, held.rules == offered.rules, held.groups.count >= 3,
      !policy.allowsMassRemoval
    else { return nil }
    let lost = held.groups.keys.count { offered.groups[$0] == nil }
    guard Double(lost) > Double(held.groups.count) * policy.maximumRemovalFraction else {
      return nil
    }
    return Failure(
      .manifestGuard,
      "`select` finds no version any more for \(lost) of \(held.groups.count) groups of names; "
        + "`--allow mass-removal` accepts it once"
    )
  }

  /// Warns of a signed manifest without an expiry, which may be an old one served again.
  package static func warning(
    of manifest: Manifest,
    _ segment: SegmentDeclaration
  ) -> Diagnostic? {
    guard !segment.manifestKeys.isEmpty, manifest.expires == nil else { return nil }
    return Diagnostic(
      "manifest.no-expiry",
      "the signed manifest of `\(segment.name)` states no end: a server could hold back newer ones unnoticed",
      severity: .warning
    )
  }

  /// Returns why a part of a manifest is refused; `stored` is the time of the part read last.
  package static func objection(
    to manifest: Manifest,
    asFurtherDocument document: FurtherDocument,
    of segment: SegmentDeclaration,
    madeWith time: Instant?,
    stored: Instant?,
    isSigned: Bool,
    policy: RunPolicy,
    bundleID: String?,
    now: Instant
  ) -> Failure? {
    if let objection = mismatch(of: manifest, segment, bundleID) { return objection }
    if let objection = objection(
      toTimesOf: manifest,
      isSigned: isSigned,
      expiry: policy.manifestExpiry,
      now: now
    ) {
      return objection
    }
    guard isSigned else { return nil }
    // Signed pages of two generations would combine to a manifest that was never published.
    if case .page = document.kind, manifest.generated != time {
      return Failure(.signature, "it was generated at another time than the manifest it belongs to")
    }
    return objection(toAge: manifest, stored: stored, isSigned: true, policy: policy)
  }

  private static func mismatch(
    of manifest: Manifest,
    _ segment: SegmentDeclaration,
    _ bundleID: String?
  ) -> Failure? {
    // A user who mirrors a list has selected it by its URL.
    let isAnybodys = segment.publishing?.mirror != nil
    if let named = manifest.segment, named != segment.name, !isAnybodys {
      return Failure(
        .manifestInvalid,
        "it is the manifest of segment `\(named)`, not of `\(segment.name)`"
      )
    }
    guard let configured = bundleID, let declared = manifest.bundleID, configured != declared else {
      return nil
    }
    return Failure(
      .bundleMismatch,
      "its `bundle_id` is `\(declared)`, the configuration's is `\(configured)`"
    )
  }

  /// Returns why a manifest's times are refused; only they prove that a signed one is not a replay.
  package static func objection(
    toTimesOf manifest: Manifest,
    isSigned: Bool,
    expiry: ManifestExpiry,
    now: Instant
  ) -> Failure? {
    if isSigned, manifest.generated == nil {
      return Failure(
        .signature,
        "neither it nor its signature says when it was made (`generated`, `timestamp:`); "
          + "a trusted comment of one's own needs `timestamp:SECONDS`, as minisign writes it unasked"
      )
    }
    guard let expires = manifest.expires else {
      guard isSigned, expiry == .required else { return nil }
      return Failure(
        .signature,
        "it does not say when it `expires`; `manifest_expiry: optional` accepts that"
      )
    }
    guard expires <= now else { return nil }
    return Failure(
      isSigned ? .signature : .manifestGuard,
      "it expired at \(Timestamp.format(expires))"
    )
  }

  private static func objection(
    toAge manifest: Manifest,
    stored: Instant?,
    isSigned: Bool,
    policy: RunPolicy
  ) -> Failure? {
    guard let old = stored, let new = manifest.generated, new < old, !policy.allowsRollback else {
      return nil
    }
    return Failure(
      isSigned ? .rollback : .manifestGuard,
      "it was generated at \(Timestamp.format(new)), before the stored one (\(Timestamp.format(old))); "
        + "`--allow rollback` accepts it once"
    )
  }
}

extension Manifest {
  fileprivate var hasPagesFromServer: Bool {
    furtherDocuments.contains { document in
      switch document.kind {
      case .page, .sitemap, .hubTree: true
      case .packageIndex, .moduleSource, .checksums, .dates: false
      }
    }
  }
}

extension SegmentDeclaration.Source {
  fileprivate var isFromServer: Bool {
    switch self {
    case .remote: true
    case .file(_, let isStream): isStream
    case .inline: false
    }
  }
}
