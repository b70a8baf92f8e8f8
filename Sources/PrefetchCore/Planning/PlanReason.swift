/// Reason for a planner's decision; its text is made on demand.
package enum PlanReason: Hashable, Sendable {
  case refusedTransport
  case refusedAddress
  case compound
  case noDigest
  case tooLarge
  case unexpectedSize(Int64)
  case drifted
  case notInLockfile
  /// A dry run asks whether the server still has the locked body.
  case lockedProbe
  case paused
  case withheld
  case notStored
  case objectLost
  case refetchRequested
  case digestMatches
  case digestDiffers
  case digestNeverChecked
  case sizeDiffers
  case offline
  case staleOffline
  case otherVariant
  case entityTagMatches
  case immutable
  /// The manifest's time of change is before the last response.
  case unchangedSince(Instant)
  case freshUntil(Instant)
  case noValidators
  case revalidationRequested
  case stale
  case otherRevision
  /// Documents of the item are revalidated regardless of their lifetime.
  case severalFiles
  /// The stored form differs from the declared one.
  case otherKind
  case otherKindOffline
  case failedBefore
  /// The list failed, and the item has no digest.
  case untrustedList
  case notStoredOffline
  case objectLostOffline
  case digestDiffersOffline
  case sizeDiffersOffline
  case otherVariantOffline
  /// The body is younger than `min_age` until then.
  case tooYoung(until: Instant)

  package var text: String {
    switch self {
    case .refusedTransport: "transport security"
    case .refusedAddress: "address"
    case .compound: "unsupported type"
    case .noDigest: "no digest"
    case .tooLarge: "too large"
    case .unexpectedSize: "unexpected size"
    case .drifted: "the lock file pins another body"
    case .notInLockfile: "not in the lock file"
    case .lockedProbe: "pinned by the lock file"
    case .paused: "paused"
    case .withheld: "its `behavior` leaves it to `get`"
    case .notStored: "not stored"
    case .objectLost: "object lost"
    case .refetchRequested: "refetch requested"
    case .digestMatches: "digest matches"
    case .digestDiffers: "digest differs"
    case .digestNeverChecked: "the stored body was never checked against that digest"
    case .sizeDiffers: "size differs"
    case .offline: "offline"
    case .staleOffline: "stale, offline"
    case .otherVariant: "it was stored for other request headers"
    case .entityTagMatches: "entity tag matches"
    case .immutable: "immutable"
    case .unchangedSince(let time): "unchanged since \(Timestamp.format(time))"
    case .freshUntil(let until): "fresh until \(Timestamp.format(until))"
    case .noValidators: "stale, and the server gave no validators"
    case .revalidationRequested: "revalidation requested"
    case .stale: "stale"
    case .otherRevision: "the manifest names another revision"
    case .severalFiles: "its playlists are revalidated"
    case .otherKind: "it is declared differently than it was stored"
    case .otherKindOffline: "it is declared differently than it was stored, offline"
    case .failedBefore: "it failed before, and `retry_failed` is false"
    case .untrustedList: "its list failed, and gives it no digest"
    case .notStoredOffline: "not stored, offline"
    case .objectLostOffline: "object lost, offline"
    case .digestDiffersOffline: "digest differs, offline"
    case .sizeDiffersOffline: "size differs, offline"
    case .otherVariantOffline: "it was stored for other request headers, offline"
    case .tooYoung(let until): "younger than `min_age` until \(Timestamp.format(until))"
    }
  }

  /// Whether the body is right for good: by its digest, its entity tag or an immutable `ttl`.
  package var isForGood: Bool {
    self == .digestMatches || self == .entityTagMatches || self == .immutable
  }

  /// Whether the body is right by a response's terms, so that its server could still be asked.
  var isByResponse: Bool {
    switch self {
    case .freshUntil, .unchangedSince: true
    default: isForGood
    }
  }

  package func failure(
    of entry: ManifestEntry,
    segment: SegmentDeclaration,
    policy: RunPolicy,
    now: Instant
  ) -> Failure? {
    switch self {
    case .refusedTransport, .refusedAddress:
      return policy.refusal(
        of: entry.url,
        for: RequestPurpose(itemType: entry.type),
        named: self == .refusedAddress ? .publicServer : .local,
        at: now
      )
    case .compound:
      return Failure(
        .unsupported,
        "an item of type `\(entry.type ?? "")` is more than one file, which this version cannot fetch; "
          + "`type: file` stores this one alone"
      )
    case .noDigest:
      return Failure(
        .manifestInvalid,
        "it has no digest that proves anything, and `require_digest` asks for one"
      )
    case .tooLarge:
      let limit = segment.maximumFileSize ?? policy.maximumFileSize ?? 0
      guard let size = entry.size else {
        return Failure(
          .tooLarge,
          "the stored body is larger than `max_file_size`, which is \(SizeText.format(limit: limit))"
        )
      }
      let sizes = SizeText.format(together: [size, limit])
      return Failure(
        .tooLarge,
        "its declared size is \(sizes[0]), and `max_file_size` is \(SizeText.format(limit: limit))"
      )
    case .unexpectedSize(let size): return segment.expectation.sizeObjection(size)
    case .drifted: return .drifted(because: "the list declares another body than the lock file")
    case .notInLockfile:
      return Failure(
        .notInLockfile,
        "the lock file does not name it; `prefetch freeze --update` adds what its list names"
      )
    case .notStoredOffline: return Self.offline("not stored")
    case .objectLostOffline: return Self.offline("object lost")
    case .digestDiffersOffline: return Self.offline("digest differs")
    case .sizeDiffersOffline: return Self.offline("size differs")
    case .otherKindOffline: return Self.offline("it is declared differently than it was stored")
    case .otherVariantOffline:
      return Self.offline("it was stored for other request headers")
    case .failedBefore:
      return Failure(
        .failed,
        "it failed before, and `download.retry_failed` is false; `get` or `--refetch` tries again"
      )
    case .untrustedList:
      return Failure(
        .signature,
        "its list failed, and the last good list gives it no digest; it was not requested"
      )
    case .lockedProbe, .paused, .withheld, .notStored, .objectLost, .refetchRequested,
      .digestMatches,
      .digestDiffers, .digestNeverChecked,
      .sizeDiffers, .offline, .staleOffline, .otherVariant, .entityTagMatches, .immutable,
      .unchangedSince, .freshUntil, .noValidators, .revalidationRequested, .stale, .otherRevision,
      .severalFiles, .otherKind, .tooYoung:
      return nil
    }
  }

  private static func offline(_ what: String) -> Failure {
    Failure(.noNetwork, "\(what), and `--offline` sends no request")
  }
}
