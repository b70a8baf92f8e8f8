/// Marks that a lock file leaves on the entries of a table.
struct LockMarks: Hashable, Sendable {
  /// Reasons why entries are refused, by position.
  var faults: [Int: PlanReason] = [:]
  /// Digests of the files of entries that consist of several, by position and key.
  var files: [Int: [String: ContentDigest]] = [:]
  /// Positions of entries that the lock does not pin.
  var unlocked: Set<Int> = []
  /// Whether a file that the lock does not name is refused.
  var isFrozen = false
}

extension EntryTable {
  /// Takes over the marks of another table's entry, which is now this table's last.
  mutating func copyLockMarks(of position: Int, in other: EntryTable) {
    guard let marks = other.lockMarks else { return }
    var own = lockMarks ?? LockMarks(unlocked: Set(0..<count - 1))
    own.faults[count - 1] = marks.faults[position]
    own.files[count - 1] = marks.files[position]
    if marks.unlocked.contains(position) { own.unlocked.insert(count - 1) }
    lockMarks = own
  }

  /// Pins the entries to a segment's lock, as if their list declared its sizes and digests.
  ///
  /// A frozen table also has the locked items that its list does not name.
  package mutating func lock(
    to segment: LockedSegment,
    isFrozen: Bool = false,
    isLifted: (_ url: String) -> Bool = { _ in false },
    isOwn: (_ url: String) -> Bool = { _ in true }
  ) {
    var marks = lockMarks ?? LockMarks()
    marks.isFrozen = isFrozen
    for position in indices {
      guard let place = segment.items.position(of: key(at: position)),
        let digest = segment.items.columnDigest(at: place)
      else {
        marks.unlocked.insert(position)
        let isAd = type(at: position) == BundleForm.ad.rawValue
        if isFrozen, !isAd { marks.faults[position] = .notInLockfile }
        continue
      }
      guard !isLifted(url(at: position)) else {
        marks.unlocked.insert(position)
        continue
      }
      if let files = segment.files(of: segment.items.url(at: place)) {
        // The files of a stream are checked one by one; its own body is made of them.
        marks.unlocked.insert(position)
        marks.files[position] = files
        continue
      }
      let isAgreed = pin(position, to: digest, size: segment.items.size(at: place) ?? 0)
      if !isAgreed { marks.faults[position] = .drifted }
    }
    for place in segment.items.indices
    where isFrozen && position(of: segment.items.key(at: place)) == nil
      && isOwn(segment.items.url(at: place))
    {
      var entry = segment.items[place]
      if let files = segment.files(of: entry.url.string) {
        entry.digests = []
        marks.unlocked.insert(count)
        marks.files[count] = files
      }
      append(entry)
    }
    lockMarks = marks
  }

  package func isLocked(at position: Int) -> Bool {
    lockMarks.map { !$0.unlocked.contains(position) } ?? false
  }

  /// Pins an entry to a digest; returns whether its list does not contradict that.
  private mutating func pin(
    _ position: Int,
    to digest: ContentDigest,
    size: Int64
  ) -> Bool {
    let isSize = self.size(at: position).map { $0 == size } ?? true
    rows[position].size = size
    if !hasExtras(at: position) {
      if digests.isEmpty { digests.append(contentsOf: repeatElement(.none, count: count)) }
      let isDigest = digests[position].isNone || digests[position] == digest
      digests[position] = digest
      return isSize && isDigest
    }
    var entry = entry(at: position, identified: false)
    let declared = entry.digests.filter { $0.algorithm == .sha256 }
    let pinned = ExpectedDigest(lockedTo: digest)
    entry.digests.removeAll { $0.algorithm == .sha256 }
    entry.digests.append(pinned)
    entry.size = size
    if rows[position].extra > 0 {
      special[Int(rows[position].extra) - 1] = entry
    } else {
      keep(entry)
      rows[position].extra = Int32(special.count)
    }
    return isSize && (declared.isEmpty || declared.contains(pinned))
  }
}

extension ManifestEntry {
  /// Whether a lock file pins the entry's body.
  var isLocked: Bool { digests.contains(where: \.isOfLockfile) }
}

/// Files that a lock file names for one item, by their keys.
package struct LockedFiles: Hashable, Sendable {
  var digests: [String: ContentDigest]
  /// Whether a file that it does not name is refused.
  var isFrozen: Bool

  func objection(to digest: ContentDigest, of key: String) -> Failure? {
    guard let pinned = digests[key] else { return objection(toUnnamed: key) }
    return digest == pinned ? nil : .drifted("its sha256 is \(digest)")
  }

  func objection(toUnnamed key: String) -> Failure? {
    guard isFrozen, digests[key] == nil else { return nil }
    return Failure(
      .notInLockfile,
      "the lock file does not name `\(WebURL.redacted(key))`; `prefetch freeze --update` adds it"
    )
  }
}

extension EntryTable {
  func lockedFiles(at position: Int) -> LockedFiles? {
    guard let marks = lockMarks, let files = marks.files[position] else { return nil }
    return LockedFiles(digests: files, isFrozen: marks.isFrozen)
  }
}

/// Compares the stored files of items with those that a lock file names.
struct LockedFileCheck {
  private let files: [Int: [String: ContentDigest]]
  private let stored: [Int: Set<ContentDigest>]

  init(_ entries: EntryTable, _ inventory: Inventory) {
    files = entries.lockMarks?.files ?? [:]
    var stored: [Int: Set<ContentDigest>] = [:]
    if !files.isEmpty {
      for file in inventory.files { stored[file.row, default: []].insert(file.digest) }
    }
    self.stored = stored
  }

  func accepts(_ row: Int, _ entry: Int) -> Bool {
    guard let files = files[entry], let stored = stored[row] else { return false }
    return files.values.allSatisfy(stored.contains)
  }
}

extension Failure {
  static func drifted(_ finding: String) -> Failure {
    drifted(because: "\(finding), and the lock file pins another body")
  }

  static func drifted(because reason: String) -> Failure {
    Failure(.drifted, "\(reason); `prefetch freeze --update` accepts it")
  }
}
