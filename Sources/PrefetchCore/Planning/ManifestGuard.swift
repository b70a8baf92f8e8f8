/// Keeps a server's mishap from emptying a cache: what a new manifest may not do to the last good one.
package enum ManifestGuard {
  /// Nil for types that a server may well give to a manifest; those of pages and media mean that
  /// something else came in its place.
  package static func objection(toType mime: String) -> Failure? {
    if mime == "text/html" || mime == "application/xhtml" {
      return Failure(.manifestGuard, "an HTML page came in its place")
    }
    let isForeign = ["image/", "audio/", "video/", "font/"].contains { mime.hasPrefix($0) }
    guard isForeign || ["text/css", "text/javascript"].contains(mime) else { return nil }
    return Failure(.manifestGuard, "its type is `\(mime)`, which no manifest has")
  }

  /// Nil when the manifest may replace the recorded generation.
  package static func objection(
    to manifest: Manifest,
    of segment: SegmentDeclaration,
    bundleID: String?,
    recorded: SegmentRecord?,
    policy: RunPolicy,
    now: Instant
  ) -> Failure? {
    if let named = manifest.segment, named != segment.name {
      return Failure(
        .manifestInvalid,
        "it is the manifest of segment `\(named)`, not of `\(segment.name)`"
      )
    }
    if let ours = bundleID, let theirs = manifest.bundleID, ours != theirs {
      return Failure(
        .bundleMismatch,
        "its `bundle_id` is `\(theirs)`, the configuration's is `\(ours)`"
      )
    }
    let zones = manifest.network?.localHours.compactMap(\.zone) ?? []
    if let name = zones.first(where: { policy.zone($0) == nil }) {
      return Failure(.manifestInvalid, "this system has no time zone `\(name)`")
    }
    if let expires = manifest.expires, expires <= now {
      return Failure(.manifestGuard, "it expired at \(Timestamp.format(expires))")
    }
    if manifest.itemCount == 0, !segment.allowsEmpty {
      return Failure(.manifestGuard, "it has no items; set `allow_empty: true` if that is meant")
    }
    guard let recorded, recorded.manifestURL != nil else { return nil }
    if let old = recorded.generated, let new = manifest.generated, new < old, !policy.allowsRollback
    {
      return Failure(
        .manifestGuard,
        "it was generated at \(Timestamp.format(new)), before the stored one (\(Timestamp.format(old))); "
          + "`--allow rollback` accepts it once"
      )
    }
    let lost = recorded.itemCount - manifest.itemCount
    let isMass =
      recorded.itemCount >= 10
      && Double(lost) > Double(recorded.itemCount) * policy.maximumRemovalFraction
    if isMass, !policy.allowsMassRemoval, !(manifest.itemCount == 0 && segment.allowsEmpty) {
      return Failure(
        .manifestGuard,
        "it has \(manifest.itemCount) items where the stored one has \(recorded.itemCount); "
          + "`--allow mass-removal` accepts it once"
      )
    }
    return nil
  }
}
