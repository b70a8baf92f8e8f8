/// What the cache held when the run began, as flat rows of about 100 bytes each.
///
/// It has what decisions need and no text: URLs are keys; a caller that needs a whole record
/// asks the store for it by the row's number.
package struct Inventory: Sendable {
  /// One item.
  package struct Row: Hashable, Sendable {
    package var key: URLKey
    /// The store's own number of the record.
    package var item: Int64
    /// ``ContentDigest/none`` as long as no body was ever complete.
    package var digest: ContentDigest
    package var size: Int64
    /// What its answers state, as ``Freshness/columns`` has it; ``never`` for nil.
    package var freshUntil: Int64 = Row.never
    package var freshnessKind: UInt8 = 1
    /// ``never`` for nil.
    package var validatedAt: Int64 = Row.never
    /// Of the entity tag, as ``tagHash(_:)`` makes it; zero for none.
    package var entityTag: UInt64 = 0
    /// What the manifest last said of the item, as ``ManifestEntry/descriptionHash`` makes it.
    package var description: UInt64 = 0
    /// Into ``holderSets``.
    package var holders: UInt32 = 0
    /// Into ``strongDigests``, from 1; zero for none.
    package var strong: UInt32 = 0
    /// Into ``variances``, from 1; zero for an answer that depends on nothing.
    package var variance: UInt32 = 0
    package var state: ItemState
    package var hasValidators = false
    /// Whether its entity tag names one representation among all.
    package var hasStrongTag = false
    package var isLocked = false
    /// As ``ContentRecord/form``.
    package var form: BundleForm?

    package static let never = Int64.min

    package init(key: URLKey, item: Int64, digest: ContentDigest, size: Int64, state: ItemState) {
      self.key = key
      self.item = item
      self.digest = digest
      self.size = size
      self.state = state
    }

    package var hasBody: Bool {
      !digest.isNone
    }

    /// When a server last said something about it.
    package var answeredAt: Instant? {
      validatedAt == Row.never ? nil : Instant(milliseconds: validatedAt)
    }

    package var freshness: Freshness {
      get {
        Freshness(until: freshUntil == Row.never ? nil : freshUntil, kind: Int64(freshnessKind))
      }
      set {
        freshUntil = newValue.columns.until ?? Row.never
        freshnessKind = UInt8(truncatingIfNeeded: newValue.columns.kind)
      }
    }
  }

  /// A further file of an item that consists of several.
  package struct Part: Hashable, Sendable {
    package var row: Int
    package var digest: ContentDigest
    package var size: Int64

    package init(row: Int, digest: ContentDigest, size: Int64) {
      self.row = row
      self.digest = digest
      self.size = size
    }
  }

  package private(set) var rows: [Row]
  package private(set) var parts: [Part]
  private var partedRows: Set<Int>
  /// Digests besides SHA-256 of the few rows that have any.
  package private(set) var strongDigests: [[DigestAlgorithm: [UInt8]]]
  /// What answers depend on; most that depend on anything depend on the same.
  package private(set) var variances: [Variance]
  /// Each set of segments that holds something together, as indices into ``segmentKeys``; the
  /// first is the empty set.
  package private(set) var holderSets: [[Int]]
  package private(set) var segmentKeys: [SegmentKey]
  /// Whether it has the rows of some items alone.
  package var isPart = false
  /// The newest `Date` that servers have told; nil where none has.
  package var newestDate: Instant?
  private var index: KeyTable
  /// For each of ``segmentKeys`` its rows.
  private var members: [[UInt32]]

  /// `rows` name their sets by position in `holderSets`, whose first must be empty.
  package init(
    rows: [Row] = [],
    parts: [Part] = [],
    strongDigests: [[DigestAlgorithm: [UInt8]]] = [],
    variances: [Variance] = [],
    holderSets: [[Int]] = [[]],
    segmentKeys: [SegmentKey] = []
  ) {
    self.rows = rows
    self.parts = parts
    partedRows = Set(parts.map(\.row))
    self.strongDigests = strongDigests
    self.variances = variances
    self.holderSets = holderSets
    self.segmentKeys = segmentKeys
    index = KeyTable(minimumCapacity: rows.count)
    members = [[UInt32]](repeating: [], count: segmentKeys.count)
    for (position, row) in rows.enumerated() {
      _ = index.insert(row.key, at: position) { rows[$0].key }
      for holder in holderSets[Int(row.holders)] { members[holder].append(UInt32(position)) }
    }
  }

  package var count: Int {
    rows.count
  }

  /// Whether its item consists of several files.
  package func hasParts(_ position: Int) -> Bool {
    !partedRows.isEmpty && partedRows.contains(position)
  }

  package func position(of key: URLKey) -> Int? {
    rows.isEmpty ? nil : index.position(of: key) { rows[$0].key }
  }

  package func position(of url: String) -> Int? {
    position(of: URLKey(url))
  }

  /// Where the rows of a segment stand.
  package func positions(of key: SegmentKey) -> [UInt32] {
    segmentKeys.firstIndex(of: key).map { members[$0] } ?? []
  }

  package func holders(of position: Int) -> [Int] {
    holderSets[Int(rows[position].holders)]
  }

  /// Numbers of the ``holderSets`` in which a segment is.
  package func sets(holding key: SegmentKey) -> [UInt32] {
    guard let holder = segmentKeys.firstIndex(of: key) else { return [] }
    return holderSets.indices.filter { holderSets[$0].contains(holder) }.map { UInt32($0) }
  }

  package func strongDigests(of position: Int) -> [DigestAlgorithm: [UInt8]] {
    let number = Int(rows[position].strong)
    return number == 0 ? [:] : strongDigests[number - 1]
  }

  /// The same tag gives the same number within one process only.
  package static func tagHash(_ tag: String?) -> UInt64 {
    tag.map { URLKey($0).first | 1 } ?? 0
  }
}

extension Inventory.Row {
  package init(_ record: ContentRecord, item: Int64) {
    self.init(
      key: URLKey(record.url),
      item: item,
      digest: record.digest ?? .none,
      size: record.size,
      state: record.state
    )
    freshness = record.freshness
    validatedAt = record.validatedAt?.milliseconds ?? Self.never
    entityTag = Inventory.tagHash(record.validators.entityTag)
    hasValidators = !record.validators.isEmpty
    hasStrongTag = record.validators.hasStrongTag
    description = record.description
    form = record.form
  }
}
