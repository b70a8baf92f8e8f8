import PrefetchCore
import PrefetchStore

struct ItemGathering {
  enum ItemStatus {
    case kept
    case missing
    /// The stored body would be usable but does not match its digest.
    case damaged
    case absent
    case fetched
    /// The item was requested and not received.
    case withheld
    /// The server answered 404 or 410, so no older copy stands in.
    case gone
    case delivered
  }

  let wanted: WantedItems
  /// Wanted items without declared digests and sizes; nil unless the network is off.
  let loose: WantedItems?
  var statuses: [ItemStatus]
  var absences: [Int: Absence] = [:]
  var damaged: [Int: ContentDigest] = [:]
  /// URLs of bodies that came with `no-store` and belong to no segment.
  var transient: Set<String> = []
  var reports: [Report] = []
  var delivered: [DeliveredItem] = []

  init(of wanted: WantedItems, loose: WantedItems?) {
    self.wanted = wanted
    self.loose = loose
    statuses = Array(repeating: .missing, count: wanted.count)
  }

  /// Whether an older copy is delivered although its list now declares another body.
  func standsIn(_ record: ContentRecord, for item: Int, _ facts: Planner.Facts) -> Bool {
    guard let loose else { return false }
    var kept = KeptItems(loose, facts)
    return kept.isSatisfied(item, by: record)
  }
}

struct DeliveredItem {
  var number: Int
  var size: Int64
  var path: String
  var isStale: Bool
  var isFetched: Bool
}
