import PrefetchConfig
import PrefetchCore
import PrefetchCrypto
import PrefetchManifests
import PrefetchStore
import PrefetchSystem

/// Makes a lock file of what the last run has stored.
struct Freezing {
  /// Item or list that is not stored, so that nothing can be locked.
  struct Gap {
    var segment: String
    var url: String?
    var reason: String
  }

  private let identity: String
  let store: DiskStore
  let facts: Planner.Facts
  private let placeholders: SecretPlaceholders
  private(set) var lockfile: Lockfile
  private(set) var gaps: [Gap] = []
  /// Items and whole segments that a lock does not hold, by segment.
  private(set) var leftOut: [String: Int] = [:]
  /// Items of lists that servers give and whose URLs hold a secret.
  private(set) var exposed: [Gap] = []
  private var dependsOnPlatform = false

  /// `base` is the lock whose other segments stay.
  init(
    _ loaded: LoadedConfiguration,
    _ builder: RequestBuilder,
    _ store: DiskStore,
    keeping base: Lockfile? = nil,
    now: Instant
  ) throws(Failure) {
    identity = loaded.identity
    self.store = store
    lockfile = base ?? Lockfile()
    placeholders = SecretPlaceholders(loaded.placeholders)
    let inventory = try store.readInventory()
    facts = Planner.Facts(
      inventory: inventory,
      missing: try store.missingObjects(of: inventory),
      policy: builder.policy,
      now: now
    )
  }

  mutating func lock(_ segments: [SegmentDeclaration]) throws(Failure) {
    let recorded = try store.segments()
    for segment in segments {
      let key = SegmentKey(identity: identity, name: segment.name)
      try lock(segment, recorded.first { $0.key == key })
    }
    if dependsOnPlatform { lockfile.platform = ThisMachine.platformName }
  }

  var text: [UInt8] {
    LockfileText.bytes(of: lockfile) { placeholders.place($0) }
  }

  // MARK: One segment

  private mutating func lock(
    _ segment: SegmentDeclaration,
    _ record: SegmentRecord?
  ) throws(Failure) {
    guard segment.isStored else {
      leftOut[segment.name] = record?.itemCount ?? 0
      lockfile.remove(segment.name)
      return
    }
    let limit = facts.policy.maximumManifestSize
    let manifest: Manifest
    switch DeclaredItems.whole(segment, record, in: store, limit: limit) {
    case .success(let whole): manifest = whole
    case .failure(let failure):
      gaps.append(Gap(segment: segment.name, reason: failure.message))
      return
    }
    var segment = segment
    segment.age.complete(under: manifest)
    let selection = ManifestSelection(segment.manifestRules)
    for entry in selection.apply(to: manifest.rejected) where entry.isRequired {
      gaps.append(Gap(segment: segment.name, url: entry.url, reason: entry.failure.message))
    }
    var locked = LockedSegment(name: segment.name)
    locked.list = listDigest(segment, record)
    var (items, pieces) = (EntryTable(), [LockedPiece]())
    let entries = selection.select(from: manifest.entries, of: segment, facts).entries
    for position in entries.indices {
      try lock(position, of: entries, segment, &items, &pieces)
    }
    locked.add(items, pieces)
    lockfile.set(locked)
    dependsOnPlatform = dependsOnPlatform || choosesByPlatform(segment, record)
  }

  private mutating func lock(
    _ position: Int,
    of entries: EntryTable,
    _ segment: SegmentDeclaration,
    _ items: inout EntryTable,
    _ pieces: inout [LockedPiece]
  ) throws(Failure) {
    let entry = entries.entry(at: position, identified: false)
    let behavior = entry.behavior ?? segment.manifestRules.behavior
    if behavior.withholds(isThumbnail: entry.isThumbnail) { return }
    if let expires = entry.expires, expires <= facts.now { return }
    let place = facts.inventory.position(of: entries.key(at: position))
    let row = place.map { facts.inventory.rows[$0] }
    if entry.type == BundleForm.ad.rawValue || row?.form == .ad {
      leftOut[segment.name, default: 0] += 1
      return
    }
    guard let place, let row, facts.isUsable(row), row.state != .partial,
      facts.isDeclared(entry, at: place)
    else {
      guard entry.isRequired else {
        leftOut[segment.name, default: 0] += 1
        return
      }
      var reason = row.map { facts.isUsable($0) } == true ? "another body is stored" : "not stored"
      if let age = facts.age(of: position, in: entries, segment), facts.now < age.until {
        reason += ", and the listed one waits for its age until \(Timestamp.format(age.until))"
      }
      gaps.append(Gap(segment: segment.name, url: entry.url.string, reason: reason))
      return
    }
    if segment.isListed, placeholders.isIn(entry.url.string) {
      exposed.append(Gap(segment: segment.name, url: entry.url.string, reason: "holds a secret"))
    }
    var locked = ManifestEntry(url: entry.url)
    locked.path = entry.path
    locked.size = row.size
    var digest = row.digest
    if facts.inventory.hasFiles(place), let record = try store.record(url: entry.url.string) {
      let key = segment.bundleRules.key(of: entry.url)
      // A playlist stays reserved after the whole that it belongs to has arrived, unlike its pieces.
      let hasRest = record.files.contains { $0.isReserved && $0.role != .document }
      let files = record.files.filter { file in
        !file.key.isEmpty && (!file.isReserved || !hasRest && file.role == .document)
      }
      guard let own = files.first(where: { $0.key == key && $0.role == .document }) else {
        gaps.append(
          Gap(segment: segment.name, url: entry.url.string, reason: "its playlist is not stored")
        )
        return
      }
      locked.type = BundleForm.stream.rawValue
      locked.size = own.size
      digest = own.digest
      pieces += files.filter { $0.key != key }.map { file in
        LockedPiece(item: entry.url.string, key: file.key, size: file.size, digest: file.digest)
      }
    }
    locked.digests = [ExpectedDigest(algorithm: .sha256, bytes: digest.bytes)]
    items.appendToColumns(locked)
  }

  // MARK: Its list

  private func listDigest(
    _ segment: SegmentDeclaration,
    _ record: SegmentRecord?
  ) -> ContentDigest? {
    switch segment.source {
    case .inline: nil
    case .remote: record?.manifest
    case .file(let path, _): listBytes(path).map { SHA256.digest(of: $0) }
    }
  }

  private func listBytes(_ path: String) -> [UInt8]? {
    try? FileReading.read(path, limit: Int(clamping: facts.policy.maximumManifestSize))
  }

  private func choosesByPlatform(_ segment: SegmentDeclaration, _ record: SegmentRecord?) -> Bool {
    guard segment.manifestRules.platforms.isEmpty else { return false }
    var source = ManifestSource(
      bytes: .nothing,
      base: segment.base,
      mime: nil,
      name: record?.manifestURL ?? segment.name,
      rules: segment.manifestRules
    )
    switch segment.source {
    case .inline: return false
    case .remote:
      guard let digest = record?.manifest else { return false }
      let chooses = try? store.withObject(digest) { bytes in
        ManifestReader.choosesByPlatform(bytes, source)
      }
      return chooses ?? false
    case .file(let path, _):
      source.name = path
      guard let bytes = listBytes(path) else { return false }
      return unsafe ManifestReader.choosesByPlatform(bytes.span.bytes, source)
    }
  }
}
