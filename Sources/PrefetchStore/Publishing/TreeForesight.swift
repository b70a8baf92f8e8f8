package import PrefetchCore

/// Finds what would be in the way of published files, and changes nothing; for dry runs.
package struct TreeForesight: TreePublisher {
  /// Record of published files; nil without a state, so that every file is foreign.
  private let record: TreeRecord?
  private let store: DiskStore?
  private let declared: [SegmentKey: String]
  private let isCancelled: () -> Bool

  package init(
    state: StateStore?,
    store: DiskStore?,
    declared: [SegmentKey: String],
    isCancelled: @escaping () -> Bool = { false }
  ) throws(Failure) {
    record = try state.map { state throws(Failure) in try TreeRecord(state) }
    self.store = store
    self.declared = declared
    self.isCancelled = isCancelled
  }

  /// Returns nil: a dry run looks at every tree.
  package func untouched(_ segment: SegmentKey, _ rules: PublishingRules) -> TreeOutcome? {
    nil
  }

  package func publish(_ plan: TreePlan) -> TreeOutcome {
    var outcome = TreeOutcome(folder: plan.rules.folder)
    // In a copied state no inode tells the files apart; a run compares their bytes first.
    guard record?.isCopied != true else { return outcome }
    do throws(Failure) {
      guard let place = try TreeLocation.existing(plan.rules.folder) else { return outcome }
      if plan.rules.isAtomic {
        if plan.isWhole { try place.checkSwitch() }
      } else {
        try place.checkRoot()
        if let root = try place.root(of: 0) { try look(at: root, plan, &outcome) }
      }
    } catch {
      outcome.troubles.append(.init(failure: error))
    }
    return outcome
  }

  private func look(
    at root: Folder,
    _ plan: TreePlan,
    _ outcome: inout TreeOutcome
  ) throws(Failure) {
    let publication = try record.map { record throws(Failure) in
      try record.publication(of: plan.segment, folder: plan.rules.folder)
    }
    outcome.generation = (publication ?? nil)?.current
    var look = TreeForesightLook(
      plan,
      root: root,
      record: record,
      tree: try tree(of: publication ?? nil),
      objects: store?.layers,
      isCancelled: isCancelled
    )
    try look.compare(with: store)
    guard !look.isAsPlanned else { return }
    try look.findNeighbours(declared)
    for index in plan.indices where !plan.isSwitch(index) {
      guard let file = plan.file(at: index) else { continue }
      guard !isCancelled() else {
        throw Failure(.cancelled, "stopped before every file was compared")
      }
      do throws(Failure) {
        try look.inspect(file)
      } catch {
        outcome.troubles.append(.init(name: file.name, url: file.url, failure: error))
      }
    }
    outcome.warnings += look.warnings
  }

  private func tree(
    of publication: TreeRecord.Publication?
  ) throws(Failure) -> TreeRecord.Tree? {
    guard let record, let publication else { return nil }
    return try record.trees(of: publication).first { $0.generation == 0 }
  }
}

/// The comparison of one folder with the files of a plan.
private struct TreeForesightLook {
  private let plan: TreePlan
  private let root: Folder
  private let record: TreeRecord?
  private let tree: TreeRecord.Tree?
  private let source: TreeSource?
  private let isCancelled: () -> Bool
  private var neighbours: [TreeNeighbour] = []
  private var isTrusting = false
  private var changed: Set<URLKey> = []
  private(set) var isAsPlanned = false
  private var lastFolder: (path: String, folder: Folder?)?
  /// Foreign files of which only the run can tell whether they have the right bytes.
  private var doubtful: [String] = []

  init(
    _ plan: TreePlan,
    root: Folder,
    record: TreeRecord?,
    tree: TreeRecord.Tree?,
    objects: ObjectLayers?,
    isCancelled: @escaping () -> Bool
  ) {
    self.plan = plan
    self.root = root
    self.record = record
    self.tree = tree
    self.isCancelled = isCancelled
    source = objects.map {
      TreeSource(objects: $0, rules: plan.rules, isCancelled: isCancelled)
    }
  }

  /// Skips what a run would skip: files that the record knows in folders that have not changed.
  mutating func compare(with store: DiskStore?) throws(Failure) {
    guard let record, let tree, let store, try root.status().inode == tree.inode,
      tree.link == TreeSource.linkMethod(plan.rules), let mark = tree.mark
    else { return }
    changed = try TreeFolderTimes(of: tree, in: root, record).changed
    isTrusting = !plan.rules.needsOwnFiles
    guard changed.isEmpty, !plan.hasFreshBodies else { return }
    let dates = try PublishedTrees.dates(of: plan, in: store)
    isAsPlanned = mark == plan.mark ^ dates.mark
  }

  mutating func findNeighbours(_ declared: [SegmentKey: String]) throws(Failure) {
    guard let record else { return }
    neighbours = try PublishedTrees.neighbours(of: tree, plan, record, declared)
  }

  mutating func inspect(_ file: TreeFile) throws(Failure) {
    if file.content == .absent { return }
    let (path, leaf) = PathText.split(file.name)
    var rows: [TreeRecord.Row] = []
    if let record, let tree { rows = try record.rows(file.name, of: tree) }
    let digest = source?.digest(of: file.content)
    if isTrusting, !changed.contains(URLKey(String(path))), !plan.isFresh(file), rows.count == 1,
      rows[0].digest == digest
    {
      return
    }
    guard let folder = try folder(path), let status = try folder.status(of: leaf) else { return }
    let spot = TreeSpot(folder: folder, leaf: leaf, status: status)
    if let own = rows.first(where: spot.isFile) {
      guard spot.isUnchanged(since: own) else {
        throw Failure(.storeDamaged, "\(TreeFilling.changed(spot)), and is replaced")
      }
      return
    }
    if let record, let claim = try neighbours.claim(on: file.name, spot, record) {
      guard digest.map({ $0 == claim.row.digest }) ?? true else {
        throw TreeFilling.taken(spot, by: claim.neighbour)
      }
      return
    }
    if status.kind == .folder, try isOurs(folder: file.name) { return }
    if source?.isLink(status, to: file.content) == true { return }
    if case .link(let target) = file.content, try folder.target(of: leaf) == target { return }
    guard status.kind == .file else { throw TreeFilling.noFile(spot) }
    switch try hasBytes(of: file.content, spot) {
    case true?: break
    case false?: throw TreeFilling.foreign(spot)
    case nil: doubtful.append(spot.path)
    }
  }

  /// Returns the folder of a file; nil where a run would make it.
  private mutating func folder(_ path: Substring) throws(Failure) -> Folder? {
    if let lastFolder, lastFolder.path == path { return lastFolder.folder }
    var found: Folder? = root
    for component in path.isEmpty ? [] : PathText.components(of: path) {
      let name = String(component)
      guard let folder = found, let status = try folder.status(of: name) else {
        found = nil
        break
      }
      if status.kind != .folder {
        guard try isOurs(status, below: folder) else {
          throw TreeFolders.obstacle(status, at: folder.path(of: name))
        }
        found = nil
        break
      }
      found = try folder.folder(name)
    }
    lastFolder = (String(path), found)
    return found
  }

  private func isOurs(_ status: FileStatus, below folder: Folder) throws(Failure) -> Bool {
    guard let record, let tree, status.kind == .file else { return false }
    return try record.hasFile(FileIdentity(status), of: tree)
  }

  private func isOurs(folder name: String) throws(Failure) -> Bool {
    guard let record, let tree else { return false }
    return try record.hasFolder(name, of: tree)
  }

  /// Returns nil where only the body of the server tells.
  private func hasBytes(
    of content: TreeFile.Content,
    _ spot: TreeSpot
  ) throws(Failure) -> Bool? {
    let size = spot.status.size
    switch content {
    case .body(let digest, let wanted):
      guard wanted == size else { return false }
      return try hash(spot)?.digest == digest
    case .bytes(let bytes):
      guard bytes.count == size else { return false }
      let (wanted, found) = (source?.digest(of: content), try hash(spot))
      return wanted == nil || found?.digest == wanted
    case .foreseen(let body):
      if let wanted = body.size, wanted != size { return false }
      guard !body.digests.isEmpty else { return nil }
      let found = try hash(spot, Set(body.digests.map(\.algorithm)))
      return found?.hasAll(body.digests) ?? false
    case .link: return false
    case .list, .absent: return true
    }
  }

  private func hash(
    _ spot: TreeSpot,
    _ algorithms: Set<DigestAlgorithm> = []
  ) throws(Failure) -> StagedBody? {
    do throws(Failure) {
      return try ObjectFolder.open(spot.leaf, in: spot.folder)?.hashed(by: algorithms, isCancelled)
    } catch {
      if error.code == .cancelled { throw error }
      return nil
    }
  }

  var warnings: [Diagnostic] {
    guard let first = doubtful.first else { return [] }
    let rest = doubtful.count > 1 ? " and \(doubtful.count - 1) more" : ""
    return [
      Diagnostic(
        "publish.in-the-way",
        "`\(first)`\(rest): not prefetch's; a run leaves it, and ends with 3 unless it has the bytes of the item",
        severity: .warning,
        hint: "move it away to have the item there"
      )
    ]
  }
}
