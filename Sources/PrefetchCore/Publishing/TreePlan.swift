package struct TreeFile: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    case body(ContentDigest, size: Int64)
    /// Bytes without a stored body: made for the tree's tool, or read from a local file.
    case bytes([UInt8])
    case list(ManifestSource.Bytes)
    /// Symbolic link with this text.
    case link(String)
    case foreseen(ForeseenBody)
    /// No matching body is stored; an existing file stays.
    case absent
  }

  package var name: String
  package var content: Content
  package var url: String?
}

/// Plan of a segment's tree; each file is computed on request.
package struct TreePlan: Sendable {
  package let segment: SegmentKey
  package let rules: PublishingRules
  package private(set) var isWhole: Bool
  /// Number of required items without a body, set by ``requireAll()``.
  package private(set) var absentCount = 0
  package var isThorough = false
  private let entries: EntryTable
  private let facts: Planner.Facts
  private let bodies: [URLKey: TreeBody]
  private let withheld: Set<URLKey>
  private let selector: VariantSelector
  private let held: [String]
  /// Bodies of removed items, which keep their files until their successors are stored.
  private let retained: Set<ContentDigest>
  private let behavior: ItemBehavior
  private let naming: TreeName
  private var supplements: [TreeFile] = []
  private var heldBeginnings: [String] = []
  private var bundleMark = StableHash()

  package init(
    segment: SegmentKey,
    of declaration: SegmentDeclaration,
    rules: PublishingRules,
    entries: EntryTable,
    facts: Planner.Facts,
    bodies: [URLKey: TreeBody] = [:],
    withheld: Set<URLKey> = [],
    held: [String] = [],
    retained: Set<ContentDigest> = [],
    isWhole: Bool
  ) {
    self.segment = segment
    self.rules = rules
    self.entries = entries
    self.facts = facts
    self.bodies = bodies
    self.withheld = withheld
    selector = facts.selector(of: declaration)
    self.held = held
    self.retained = retained
    behavior = declaration.manifestRules.behavior
    self.isWhole = isWhole
    naming = TreeName(rules)
    supplements = toolSupplements
  }

  /// Adds the files of items of several files; returns name collisions.
  package mutating func addBundleFiles(_ files: (String) -> [BundleFile]) -> [TreeOutcome.Trouble] {
    let others = supplements.count
    collectBundleFiles(files)
    guard supplements.count > others else { return [] }
    var counts: [String: Int] = [:]
    for file in supplements { counts[file.name, default: 0] += 1 }
    for position in entries.indices {
      let entry = entry(at: position)
      guard entry.bundleForm == nil, !counts.isEmpty,
        let name = (try? naming.make(of: entry, body: nil)) ?? nil, counts[name] != nil
      else { continue }
      counts[name, default: 0] += 1
    }
    let repeated = counts.filter { $0.value > 1 }
    guard !repeated.isEmpty else { return [] }
    var seen: Set<String> = []
    let troubles = supplements.filter { repeated[$0.name] != nil && seen.insert($0.name).inserted }
      .map { file in
        TreeOutcome.Trouble(
          url: file.url,
          failure: Failure(
            .nameCollision,
            "several items have a file `\(file.name)`; an `id` or `path` can tell them apart"
          )
        )
      }
    supplements.removeAll { repeated[$0.name] != nil }
    return troubles
  }

  private mutating func collectBundleFiles(_ files: (String) -> [BundleFile]) {
    for position in entries.indices {
      let declared = entries.type(at: position).flatMap { BundleForm(rawValue: $0) }
      guard declared != nil || rules.layout == .hls else { continue }
      let entry = entry(at: position)
      guard entry.bundleForm != nil else { continue }
      let body = body(at: position, entry)
      guard !isExpiredOrRemoved(entry, at: position),
        let name = (try? naming.make(of: entry, body: body?.digest)) ?? nil
      else { continue }
      let folder = PathText.split(name).folder
      guard let body else {
        heldBeginnings += naming.beginnings(of: entry, in: folder)
        continue
      }
      for file in files(entry.recordURL) where file.isShown {
        supplements.append(
          TreeFile(
            name: folder.isEmpty ? file.name : "\(folder)/\(file.name)",
            content: .body(file.digest, size: file.size),
            url: entry.recordURL
          )
        )
        bundleMark.combine(file.name)
        bundleMark.combine(file.digest.bytes[...])
      }
      // The main playlist comes last, since it switches the stream to the new files.
      guard entry.bundleForm == .stream else { continue }
      let content = TreeFile.Content.body(body.digest, size: body.size)
      supplements.append(TreeFile(name: name, content: content, url: entry.recordURL))
    }
  }

  private var toolSupplements: [TreeFile] {
    let supplements: [(name: String, text: String)]
    switch rules.layout {
    case .go:
      let names = entries.indices.compactMap { position -> String? in
        guard let file = file(at: position), file.content != .absent else { return nil }
        return file.name
      }
      supplements = GoProxyName.supplements(to: names)
    case .cargo: supplements = [(CargoSource.fileName, CargoSource.text)]
    case .url, .basename, .npm, .pip, .bazel, .yarn, .hls, .hf: return []
    }
    return supplements.map { TreeFile(name: $0.name, content: .bytes(Array($0.text.utf8))) }
  }

  package mutating func add(list name: String, _ bytes: ManifestSource.Bytes) {
    supplements.append(TreeFile(name: name, content: .list(bytes)))
  }

  /// Resolves the contents of lists with `read`; returns those that cannot be in the tree.
  package mutating func readLists(
    _ read: (ManifestSource.Bytes) throws(Failure) -> TreeFile.Content
  ) -> [TreeOutcome.Trouble] {
    var troubles: [TreeOutcome.Trouble] = []
    for index in supplements.indices.reversed() {
      guard case .list(let bytes) = supplements[index].content else { continue }
      do throws(Failure) {
        try checkName(ofList: supplements[index].name)
        supplements[index].content = try read(bytes)
      } catch {
        troubles.append(.init(name: supplements[index].name, failure: error))
        supplements.remove(at: index)
      }
    }
    return troubles
  }

  private func checkName(ofList name: String) throws(Failure) {
    if let objection = TreeName.objection(to: name, below: rules.folder) { throw objection }
    let isUsed = entries.indices.contains { position in
      ((try? naming.make(of: entry(at: position), body: nil)) ?? nil) == name
    }
    guard isUsed else { return }
    throw Failure(
      .nameCollision,
      "an item has the name of the list, so the list is left out of the folder"
    )
  }

  package mutating func requireAll() {
    absentCount = entries.indices.count { position in
      let entry = entry(at: position)
      // A body that its server has removed is not waited for.
      if isExpiredOrRemoved(entry, at: position) { return false }
      guard entry.isRequired else { return false }
      // Items that only `get` fetches are not waited for.
      if (entry.behavior ?? behavior).withholds(isThumbnail: entry.isThumbnail) { return false }
      return body(at: position, entry) == nil && foreseen(at: position) == nil
    }
    if absentCount > 0 { isWhole = false }
  }

  package static var empty: TreePlan {
    TreePlan(
      segment: SegmentKey(identity: "", name: ""),
      of: SegmentDeclaration(name: "", source: .inline([])),
      rules: PublishingRules(folder: "/"),
      entries: EntryTable(),
      facts: Planner.Facts(
        inventory: Inventory(),
        missing: [],
        policy: RunPolicy(),
        now: Instant(milliseconds: 0)
      ),
      isWhole: true
    )
  }

  package var indices: Range<Int> {
    0..<entries.count + held.count + supplements.count + hubFileCount
  }

  package func file(at index: Int) -> TreeFile? {
    guard index >= entries.count else { return item(at: index) }
    let rest = index - entries.count
    guard rest >= held.count else { return TreeFile(name: held[rest], content: .absent) }
    guard rest - held.count >= supplements.count else { return supplements[rest - held.count] }
    return hubFile(rest - held.count - supplements.count)
  }

  var entryCount: Int { entries.count }

  func plannedEntry(at position: Int) -> ManifestEntry {
    entries.entry(at: position, identified: false)
  }

  /// Returns the entry, with the type recognised from its body if none is declared.
  private func entry(at position: Int) -> ManifestEntry {
    var entry = entries.entry(at: position, identified: false)
    guard rules.layout == .hls, entry.bundleForm == nil, entry.isRecognizable else { return entry }
    let key = entries.key(at: position)
    if let body = bodies[key] {
      entry.type = body.form?.rawValue ?? entry.type
    } else if let stored = facts.inventory.position(of: key), facts.inventory.hasFiles(stored) {
      entry.type = facts.inventory.rows[stored].form?.rawValue ?? entry.type
    }
    return entry
  }

  private func item(at position: Int) -> TreeFile? {
    let entry = entry(at: position)
    if isExpiredOrRemoved(entry, at: position) { return nil }
    let body = body(at: position, entry)
    // Playlists are in `supplements`, after the files that they name.
    if body != nil, entry.bundleForm != nil { return nil }
    if let foreseen = foreseen(at: position) {
      guard entry.bundleForm == nil,
        let name = (try? naming.make(of: entry, body: foreseen.digest)) ?? nil
      else { return nil }
      return TreeFile(name: name, content: .foreseen(foreseen), url: entry.url.string)
    }
    guard let name = (try? naming.make(of: entry, body: body?.digest)) ?? nil else { return nil }
    let content = body.map { TreeFile.Content.body($0.digest, size: $0.size) } ?? .absent
    return TreeFile(name: name, content: content, url: entry.url.string)
  }

  private func foreseen(at position: Int) -> ForeseenBody? {
    bodies.isEmpty ? nil : bodies[entries.key(at: position)]?.foreseen
  }

  private func isExpiredOrRemoved(_ entry: ManifestEntry, at position: Int) -> Bool {
    if let expires = entry.expires, expires <= facts.now { return true }
    return bodies[entries.key(at: position)]?.isGone == true
  }

  /// Whether an unplanned file stays: its item of several files is missing, or its body retained.
  package func holds(_ name: String, _ body: ContentDigest) -> Bool {
    retained.contains(body) || heldBeginnings.contains { name.utf8.starts(with: $0.utf8) }
  }

  /// Returns the file of a retained body, which the plan does not list; nil for any other.
  package func retainedFile(_ name: String, _ body: ContentDigest, size: Int64) -> TreeFile? {
    retained.contains(body) ? TreeFile(name: name, content: .body(body, size: size)) : nil
  }

  /// Whether the file's body has just been stored, possibly to replace a damaged one.
  package func isFresh(_ file: TreeFile) -> Bool {
    guard !bodies.isEmpty, let url = file.url else { return false }
    return bodies[URLKey(url)] != nil
  }

  package var hasFreshBodies: Bool {
    !bodies.isEmpty && entries.indices.contains { bodies[entries.key(at: $0)] != nil }
  }

  /// Returns the body for an entry; nil if no stored body is known to be the declared one.
  private func body(at position: Int, _ entry: ManifestEntry) -> TreeBody? {
    let key = entries.key(at: position)
    guard !withheld.contains(key) else { return nil }
    // A stream's declared digest is that of its pristine playlist.
    let digests = entry.bundleForm == nil ? entry.digests : []
    if let body = bodies[key] {
      // Another segment may have fetched the body without these digests.
      let isDeclared = body.fits(digests) ?? digests.isEmpty
      return body.digest.isNone || !isDeclared ? nil : body
    }
    guard let stored = facts.inventory.position(of: key) else { return nil }
    let row = facts.inventory.rows[stored]
    guard facts.isUsable(row) else { return nil }
    let others = facts.inventory.strongDigests(of: stored)
    let body = TreeBody(digest: row.digest, otherDigests: others, size: row.size)
    if let isDeclared = body.fits(digests) { return isDeclared ? body : nil }
    if row.variance > 0 {
      let variance = facts.inventory.variances[Int(row.variance) - 1]
      let purpose = RequestPurpose(itemType: entry.type)
      guard selector.selection(variance, of: entry, for: purpose) != .other else { return nil }
    }
    return body
  }

  /// Hash of the tree's inputs; an equal one means that publishing has nothing to do.
  package var mark: UInt64 {
    var hash = StableHash()
    hash.combine(rules.layout.rawValue)
    hash.combine(rules.link.rawValue)
    hash.combine(rules.isAtomic ? 1 : 0)
    if rules.adopts { hash.combine("adopts") }
    hash.combine(rules.goProxy?.string)
    if let hub = rules.hub {
      hash.combine(hub.folder)
      hash.combine(hub.reference)
      hash.combine(Int64(rules.keptGenerations))
      hash.combine(isWhole ? 1 : 0)
    }
    if let mirror = rules.mirror {
      hash.combine(mirror.namesHosts == true ? 1 : 0)
      hash.combine(Int64(mirror.cutFolders))
    }
    if rules.needsOwnFiles {
      hash.combine(rules.times.rawValue)
      hash.combine(rules.mode.map(Int64.init))
    }
    if rules.mirror?.includesList == true {
      for file in supplements where file.url == nil {
        hash.combine(file.name)
        if case .body(let digest, _) = file.content { hash.combine(digest.bytes[...]) }
        if case .bytes(let bytes) = file.content { hash.combine(bytes[...]) }
      }
    }
    for name in held { hash.combine(name) }
    // Retained files are deleted once nothing retains them, though the entries stay the same.
    for digest in retained.sorted() { hash.combine(digest.bytes[...]) }
    if !supplements.isEmpty { hash.combine(String(bundleMark.value)) }
    for position in entries.indices {
      let entry = entry(at: position)
      if isExpiredOrRemoved(entry, at: position) { continue }
      hash.combine(entry.url.string)
      hash.combine(entry.path)
      for digest in entry.digests { hash.combine(digest.bytes[...]) }
      hash.combine(body(at: position, entry)?.digest.bytes[...])
    }
    return hash.value
  }
}

/// Stored body; ``ContentDigest/none`` for a removed one.
package struct TreeBody: Hashable, Sendable {
  package var digest: ContentDigest
  package var otherDigests: [DigestAlgorithm: [UInt8]]
  package var size: Int64
  package var form: BundleForm?
  private(set) var foreseen: ForeseenBody?

  package init(
    digest: ContentDigest,
    otherDigests: [DigestAlgorithm: [UInt8]] = [:],
    size: Int64,
    form: BundleForm? = nil
  ) {
    self.digest = digest
    self.otherDigests = otherDigests
    self.size = size
    self.form = form
  }

  init(foreseen body: ForeseenBody) {
    self.init(digest: .none, size: 0)
    foreseen = body
  }

  fileprivate var isGone: Bool { digest.isNone && foreseen == nil }

  fileprivate func fits(_ declared: [ExpectedDigest]) -> Bool? {
    var hasMatch: Bool?
    for digest in declared {
      let known = digest.algorithm == .sha256 ? self.digest.bytes : otherDigests[digest.algorithm]
      guard let known else { continue }
      let isMatch = declared.contains { $0.algorithm == digest.algorithm && $0.bytes == known }
      guard isMatch else { return false }
      hasMatch = true
    }
    return hasMatch
  }
}

/// A body that a run would fetch, as far as a dry run knows it.
package struct ForeseenBody: Hashable, Sendable {
  /// Declared digests; the body has one of each algorithm.
  package var digests: [ExpectedDigest]
  package var size: Int64?

  fileprivate var digest: ContentDigest? {
    digests.lazy.filter { $0.algorithm == .sha256 }.compactMap { ContentDigest(bytes: $0.bytes) }
      .first
  }
}
