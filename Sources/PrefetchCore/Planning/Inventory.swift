/// Contents of the cache at the start of a run, as flat rows of about 100 bytes without text.
///
/// URLs are hashed keys; the store returns a whole record by the row's number.
package struct Inventory: Sendable {
  package struct Row: Hashable, Sendable {
    package var key: URLKey
    package var item: Int64
    /// Digest of the body; ``ContentDigest/none`` until a body was complete.
    package var digest: ContentDigest
    package var size: Int64
    /// Freshness as in ``Freshness/columns``; ``never`` for nil.
    package var freshUntil: Int64 = Row.never
    package var freshnessKind: UInt8 = 1
    package var validatedAt: Int64 = Row.never
    /// Hash of the entity tag, by ``tagHash(_:)``; zero for none.
    package var entityTag: UInt64 = 0
    /// Hash of the manifest's last declaration, by ``ManifestEntry/descriptionHash``.
    package var description: UInt64 = 0
    package var holders: UInt32 = 0
    /// Index into ``strongDigests`` from 1; zero for none.
    package var strong: UInt32 = 0
    /// Index into ``variances`` from 1; zero for none.
    package var variance: UInt32 = 0
    package var state: ItemState
    package var hasValidators = false
    package var hasStrongTag = false
    package var isLocked = false
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

    package var respondedAt: Instant? {
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

  package struct File: Hashable, Sendable {
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
  package private(set) var files: [File]
  private var rowsWithFiles: Set<Int>
  package private(set) var strongDigests: [[DigestAlgorithm: [UInt8]]]
  /// Distinct variances; most rows with one share it.
  package private(set) var variances: [Variance]
  /// Distinct sets of segments that hold an item, as indices into ``segmentKeys``; first the empty.
  package private(set) var holderSets: [[Int]]
  package private(set) var segmentKeys: [SegmentKey]
  package var isPartial = false
  package var newestDate: Instant?
  /// First sights of bodies that age gates held back, by ``Row/item``.
  package var sights: [Int64: Sight] = [:]
  private var index: KeyTable
  private var members: [[UInt32]]

  package init(
    rows: [Row] = [],
    files: [File] = [],
    strongDigests: [[DigestAlgorithm: [UInt8]]] = [],
    variances: [Variance] = [],
    holderSets: [[Int]] = [[]],
    segmentKeys: [SegmentKey] = []
  ) {
    self.rows = rows
    self.files = files
    rowsWithFiles = Set(files.map(\.row))
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

  package func hasFiles(_ position: Int) -> Bool {
    !rowsWithFiles.isEmpty && rowsWithFiles.contains(position)
  }

  package func position(of key: URLKey) -> Int? {
    rows.isEmpty ? nil : index.position(of: key) { rows[$0].key }
  }

  package func position(of url: String) -> Int? {
    position(of: URLKey(url))
  }

  package func positions(of key: SegmentKey) -> [UInt32] {
    segmentKeys.firstIndex(of: key).map { members[$0] } ?? []
  }

  package func holders(of position: Int) -> [Int] {
    holderSets[Int(rows[position].holders)]
  }

  package func sets(holding key: SegmentKey) -> [UInt32] {
    guard let holder = segmentKeys.firstIndex(of: key) else { return [] }
    return holderSets.indices.filter { holderSets[$0].contains(holder) }.map { UInt32($0) }
  }

  package func strongDigests(of position: Int) -> [DigestAlgorithm: [UInt8]] {
    let number = Int(rows[position].strong)
    return number == 0 ? [:] : strongDigests[number - 1]
  }

  /// Returns a tag's hash, which is comparable within one process only.
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
