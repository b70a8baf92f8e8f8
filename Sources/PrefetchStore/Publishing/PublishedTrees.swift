internal import Glibc
package import PrefetchCore

/// Published trees of segments; processes that publish into one folder take turns.
package final class PublishedTrees: TreePublisher, FileAdopter {
  let record: TreeRecord
  let isDurable: Bool
  let store: DiskStore
  let objects: ObjectLayers
  let declared: [SegmentKey: String]?
  let isCancelled: () -> Bool

  /// `declared` are the folders of this configuration; files of other trees may be taken over.
  package init(
    store: DiskStore,
    state: StateStore,
    durability: Durability,
    declared: [SegmentKey: String]? = nil,
    isCancelled: @escaping () -> Bool = { false }
  ) throws(Failure) {
    self.store = store
    objects = store.layers
    self.declared = declared
    self.isCancelled = isCancelled
    record = try TreeRecord(state)
    isDurable = durability != .none
  }

  // MARK: Existing tree

  package func existingTree(
    of segment: SegmentKey,
    _ rules: PublishingRules
  ) throws(Failure) -> TreeOutcome? {
    try Self.existingTree(of: segment, rules, record)
  }

  package func untouched(
    _ segment: SegmentKey,
    _ rules: PublishingRules
  ) throws(Failure) -> TreeOutcome? {
    guard !record.isCopied, let outcome = try existingTree(of: segment, rules),
      let publication = try record.publication(of: segment, folder: rules.folder),
      let location = try TreeLocation.existing(rules.folder)
    else { return nil }
    let generation = rules.isAtomic ? publication.current : 0
    let trees = try record.trees(of: publication)
    guard let tree = trees.first(where: { $0.generation == generation }),
      let root = try location.root(of: generation),
      try TreeFolderTimes(of: tree, in: root, record).changed.isEmpty
    else { return nil }
    return outcome
  }

  package static func existingTree(
    of segment: SegmentKey,
    _ rules: PublishingRules,
    in state: StateStore
  ) throws(Failure) -> TreeOutcome? {
    try existingTree(of: segment, rules, try TreeRecord(state))
  }

  private static func existingTree(
    of segment: SegmentKey,
    _ rules: PublishingRules,
    _ record: TreeRecord
  ) throws(Failure) -> TreeOutcome? {
    guard let publication = try record.publication(of: segment, folder: rules.folder),
      let location = try TreeLocation.existing(rules.folder)
    else { return nil }
    var outcome = TreeOutcome(folder: rules.folder)
    outcome.isHeld = publication.isHeld
    let generation = rules.isAtomic ? publication.current : 0
    let tree = try record.trees(of: publication).first { $0.generation == generation }
    guard let tree, tree.mark != nil else { return nil }
    outcome.generation = publication.current
    if rules.isAtomic, try location.linkedGeneration != generation { return nil }
    guard let root = try? location.root(of: generation) else { return nil }
    if record.isCopied { return try record.isComplete(tree, in: root) ? outcome : nil }
    if rules.isAtomic { return outcome }
    return try root.status().inode == tree.inode ? outcome : nil
  }

  package static func hasTree(
    of segment: SegmentKey,
    in folder: String,
    _ state: StateStore
  ) throws(Failure) -> Bool {
    try TreeRecord(state).publication(of: segment, folder: folder) != nil
  }

  /// Returns the tree's loss if nothing but a mirror's own folder is in its place; nil otherwise.
  ///
  /// Looks at no file of the tree.
  package static func loss(
    of segment: SegmentKey,
    in folder: String,
    _ state: StateStore
  ) throws(Failure) -> TreeInspection.Gone? {
    let names = try Folder(at: folder)?.names() ?? []
    guard names.allSatisfy({ $0 == MirrorRules.ownFolder }) else { return nil }
    let record = try TreeRecord(state)
    guard let publication = try record.publication(of: segment, folder: folder) else { return nil }
    let shown = try record.trees(of: publication).filter { tree in
      tree.generation == 0 || tree.generation == publication.current
    }
    var count = 0
    for tree in shown { count += try record.fileCount(of: tree) }
    guard count > 0 else { return nil }
    return TreeInspection.Gone(
      segment: segment.name,
      folder: folder,
      place: FolderGap(above: folder),
      count: count
    )
  }

  // MARK: Publishing

  package func publish(_ plan: TreePlan) -> TreeOutcome {
    var outcome = TreeOutcome(folder: plan.rules.folder)
    do throws(Failure) {
      try adoptCopies()
      let location = try TreeLocation.making(plan.rules.folder)
      try withPublisherLock(location) { () throws(Failure) in
        if plan.rules.mirror != nil, plan.rules.hub == nil {
          try record.takeOver(plan.segment, plan.rules.folder)
        }
        let publication = try record.making(plan.segment, folder: plan.rules.folder)
        if plan.rules.isAtomic {
          try publishWhole(plan, location, publication, &outcome)
        } else {
          try publishInPlace(plan, location, publication, &outcome)
        }
      }
    } catch {
      outcome.troubles.append(.init(failure: error))
    }
    return outcome
  }

  func withPublisherLock<Value>(
    _ location: TreeLocation,
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let lock = try KernelLock.acquire(
      .exclusive,
      on: location.parent.open(".", O_RDONLY | O_DIRECTORY),
      timeout: .seconds(Int64.max / 2),
      isCancelled: isCancelled
    )
    guard let lock else { throw Failure(.cancelled, "stopped while another process publishes") }
    defer { withExtendedLifetime(lock) {} }
    return try body()
  }

  private func publishInPlace(
    _ plan: TreePlan,
    _ location: TreeLocation,
    _ found: TreeRecord.Publication,
    _ outcome: inout TreeOutcome
  ) throws(Failure) {
    var publication = found
    if publication.current > 0 { outcome.generation = publication.current }
    let (root, isNew) = try location.makingRoot()
    let inode = try root.status().inode
    let link = TreeSource.linkMethod(plan.rules)
    let known = try record.trees(of: publication).first { $0.generation == 0 }
    var tree: TreeRecord.Tree
    if let known {
      tree = known
    } else {
      tree = try record.makeTree(0, of: publication, link: link, inode: inode)
    }
    // A new folder may have the inode of the folder that it replaces.
    let isSame = !isNew && tree.inode == inode && tree.link == link
    let dates = try dates(of: plan)
    let mark = plan.mark ^ dates.mark
    let times = try TreeFolderTimes(of: tree, in: root, record)
    if isSame, tree.mark == mark, times.changed.isEmpty, !plan.isThorough, !plan.hasFreshBodies {
      return
    }
    var options = options
    options.changed = times.changed
    // A changed mode must reach files that are already there.
    options.isTrusting =
      isSame && tree.mark != nil && !plan.isThorough && !plan.rules.needsOwnFiles
    options.isRelinking = tree.link != link
    let filling = TreeFilling(
      plan,
      tree: tree,
      in: root,
      record: record,
      objects: objects,
      neighbours: try neighbours(of: tree, plan),
      dates: dates,
      options: options,
      isSpoilt: store.isSpoilt
    )
    // After an interruption the next run checks every file.
    tree.mark = nil
    try record.set(tree)
    defer { finish(filling, &outcome) }
    try filling.fill()
    outcome.warnings += filling.foreign.warnings(plan.rules, isFirst: known == nil)
    guard filling.outcome.troubles.isEmpty else { return }
    if isDurable, filling.outcome.created > 0 { try filling.folders.root.synchronizeFileSystem() }
    let hasChanged = filling.outcome.created + filling.outcome.removed > 0
    if hasChanged || publication.current == 0 { publication.current += 1 }
    publication.isHeld = false
    try record.set(publication)
    outcome.generation = publication.current
    tree.mark = mark
    tree.inode = inode
    tree.link = link
    try record.set(tree)
    try times.renew(filling.homes, of: tree, in: root, record)
  }

  func dates(of plan: TreePlan) throws(Failure) -> ModificationTimes {
    try Self.dates(of: plan, in: store)
  }

  static func dates(
    of plan: TreePlan,
    in store: DiskStore
  ) throws(Failure) -> ModificationTimes {
    guard plan.rules.isDated else { return .none }
    return try store.modificationTimes(of: plan.segment)
  }

  func finish(_ filling: TreeFilling, _ outcome: inout TreeOutcome) {
    outcome.merge(filling.outcome)
    outcome.troubles += filling.mended
    guard !filling.damaged.isEmpty else { return }
    do throws(Failure) {
      try store.dropDamaged(Array(filling.damaged))
    } catch {
      outcome.troubles.append(.init(failure: error))
    }
  }

  private func neighbours(
    of tree: TreeRecord.Tree,
    _ plan: TreePlan
  ) throws(Failure) -> [TreeNeighbour] {
    try Self.neighbours(of: tree, plan, record, declared)
  }

  /// Returns the trees that overlap with this one, declared ones first; `tree` is nil for a new one.
  static func neighbours(
    of tree: TreeRecord.Tree?,
    _ plan: TreePlan,
    _ record: TreeRecord,
    _ declared: [SegmentKey: String]?
  ) throws(Failure) -> [TreeNeighbour] {
    var neighbours: [TreeNeighbour] = []
    for published in try record.otherTrees(excluding: tree) {
      let isOthers = published.key.identity != plan.segment.identity
      let isAlive = declared.map { isOthers || $0[published.key] == published.folder } ?? true
      guard let neighbour = TreeNeighbour(published, of: plan.rules.folder, isAlive: isAlive) else {
        continue
      }
      neighbours.append(neighbour)
    }
    return neighbours.filter(\.isAlive) + neighbours.filter { !$0.isAlive }
  }

  private var options: TreeFilling.Options {
    TreeFilling.Options(isDurable: isDurable, isCancelled: isCancelled)
  }

  func filling(
    _ plan: TreePlan,
    _ tree: TreeRecord.Tree,
    _ root: Folder,
    dates: ModificationTimes = .none,
    after past: TreeRecord.Tree? = nil
  ) -> TreeFilling {
    TreeFilling(
      plan,
      tree: tree,
      in: root,
      record: record,
      objects: objects,
      dates: dates,
      past: past,
      options: options,
      isSpoilt: store.isSpoilt
    )
  }
}

extension TreeOutcome {
  mutating func merge(_ other: TreeOutcome) {
    created += other.created
    restored += other.restored
    removed += other.removed
    troubles += other.troubles
    warnings += other.warnings
  }
}
