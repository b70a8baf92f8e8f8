import PrefetchCore
import PrefetchStore

/// The wanted items of one `get`, and how far each has come.
struct ItemGathering {
  enum Standing {
    /// The cache can answer by itself.
    case kept
    case missing
    /// Its body would do, and is not what its name says.
    case damaged
    /// A server said not long ago that it does not have it.
    case absent
    case fetched
    /// It was asked for, and did not come.
    case withheld
    /// The server has answered 404 or 410: no older copy stands in.
    case gone
    case delivered
  }

  let wanted: WantedItems
  /// The wanted items without declared digests and sizes; nil where servers may be asked.
  let loose: WantedItems?
  var standings: [Standing]
  var absences: [Int: Absence] = [:]
  var damaged: [Int: ContentDigest] = [:]
  /// URLs of bodies that came with `no-store` and belong to no segment.
  var transient: Set<String> = []
  var reports: [Report] = []
  var delivered: [DeliveredItem] = []

  init(of wanted: WantedItems, loose: WantedItems?) {
    self.wanted = wanted
    self.loose = loose
    standings = Array(repeating: .missing, count: wanted.count)
  }

  /// Whether an older copy is given although its list declares another body by now, as `path` and
  /// `serve` give it.
  func standsIn(_ record: ContentRecord, for item: Int, _ facts: Planner.Facts) -> Bool {
    guard let loose else { return false }
    var kept = KeptItems(loose, facts)
    return kept.isSatisfied(item, by: record)
  }
}

/// An item whose body came out, and where it lies now.
struct DeliveredItem {
  var number: Int
  var size: Int64
  var path: String
  /// Its fetch failed, and the old copy would do.
  var isStale: Bool
  /// A server was needed for it.
  var isFetched: Bool
}
