import PrefetchCore
import PrefetchDocuments
import PrefetchStore

/// A record with the facts around it that `list` and `explain` show.
struct CachedItem {
  var record: ContentRecord
  var segments: [String]
  var isLocked: Bool
  var usedAt: Instant?
  var granted: [Freshness.Lifetime] = []
  /// Reason for the item's state, if it is not the record's failure.
  var reason: String?
  var progress: ItemProgress?

  func json(bodies: BodyPaths) -> JSONValue {
    [
      "url": .string(Redaction.url(record.shownURL)),
      "id": .string(record.id),
      "provider": .optional(record.provider),
      "segments": .strings(segments),
      "origin": .string(record.origin(in: segments).rawValue),
      "state": .string(record.state.rawValue),
      "type": .string(record.type ?? "file"),
      "title": .optional(record.caption.title),
      "info": record.caption.info.flatMap { JSONValue(text: $0) } ?? .null,
      "mime": .optional(record.mime),
      "size": record.digest == nil ? .null : .integer(record.wholeSize),
      "digest": .optional(record.digest?.description),
      "path": .optional(record.digest.map { bodies.path(of: $0) }),
      "headers": .headers(record.headers),
      "fetched_at": .time(record.fetchedAt),
      "validated_at": .time(record.validatedAt),
      "expires_at": .time(expiry),
      "used_at": .time(usedAt),
      "locked": .bool(isLocked),
      "categories": .strings(record.categories),
      "thumbnail": .optional(record.thumbnail.map(Redaction.url)),
      "reason": .optional(reason ?? record.failure?.message),
      "error": .failure(record.failure),
      "progress": progress?.document ?? .null,
    ]
  }

  /// Time at which the item is due for revalidation; nil if it is revalidated at each use.
  private var expiry: Instant? {
    guard record.digest != nil else { return nil }
    var granted = granted + [record.lifetime].compactMap(\.self)
    if granted.isEmpty, record.type == BundleForm.ad.rawValue {
      granted.append(BundleForm.adLifetime)
    }
    if case .undeclared = record.freshness, granted.isEmpty { return nil }
    return record.freshness.end(
      under: granted,
      respondedAt: record.validatedAt ?? record.fetchedAt
    )
  }
}

extension ItemProgress {
  var document: JSONValue {
    ["bytes": .integer(bytes), "total": .optional(total), "rate": .optional(rate)]
  }

  var words: String {
    let all = total.map { " of \(Amounts.bytes($0))" } ?? ""
    let speed = rate.map { ", \(Amounts.bytes($0))/s" } ?? ""
    return "\(Amounts.bytes(bytes))\(all)\(speed)"
  }

  static func byURL(inCache path: String) -> [String: ItemProgress] {
    Dictionary(TransferProgressFile.all(inCache: path).map { ($0.url, $0) }) { first, _ in first }
  }
}
