internal import Glibc
package import PrefetchCore

/// The trees of files that segments publish, and what is remembered of them.
///
/// The run lock keeps two processes of one cache from working on a tree at the same time.
package final class PublishedTrees: TreePublisher {
  private let objects: ObjectFolder
  private let record: TreeRecord
  private let isDurable: Bool

  package init(store: DiskStore, state: StateStore, durability: Durability) throws(Failure) {
    guard let objects = store.objects else { throw Failure(.storeDamaged, "there are no objects") }
    self.objects = objects
    record = TreeRecord(state)
    isDurable = durability != .none
  }

  // MARK: Standing

  package func standing(
    of segment: SegmentKey,
    _ rules: PublishingRules
  ) throws(Failure) -> TreeOutcome? {
    try Self.standing(of: segment, rules, record)
  }

  /// Also for those who only read.
  package static func standing(
    of segment: SegmentKey,
    _ rules: PublishingRules,
    in state: StateStore
  ) throws(Failure) -> TreeOutcome? {
    try standing(of: segment, rules, TreeRecord(state))
  }

  private static func standing(
    of segment: SegmentKey,
    _ rules: PublishingRules,
    _ record: TreeRecord
  ) throws(Failure) -> TreeOutcome? {
    guard let publication = try record.publication(of: segment, folder: rules.folder),
      let place = try TreePlace.existing(rules.folder)
    else { return nil }
    var outcome = TreeOutcome(folder: rules.folder)
    outcome.isHeld = publication.isHeld
    let generation = rules.isAtomic ? publication.current : 0
    let tree = try record.trees(of: publication).first { $0.generation == generation }
    guard let tree, tree.mark != nil else { return nil }
    outcome.generation = publication.current
    guard rules.isAtomic else {
      let status = try place.parent.status(of: place.name)
      return status?.kind == .folder && status?.inode == tree.inode ? outcome : nil
    }
    return place.standingGeneration == generation ? outcome : nil
  }

  // MARK: Publishing

  package func publish(_ plan: TreePlan) -> TreeOutcome {
    var outcome = TreeOutcome(folder: plan.rules.folder)
    do throws(Failure) {
      let place = try TreePlace.making(plan.rules.folder)
      let publication = try record.making(plan.segment, folder: plan.rules.folder)
      if plan.rules.isAtomic {
        try publishAtomic(plan, place, publication, &outcome)
      } else {
        try publishInPlace(plan, place, publication, &outcome)
      }
    } catch {
      outcome.troubles.append(.init(failure: error))
    }
    return outcome
  }

  private func publishInPlace(
    _ plan: TreePlan,
    _ place: TreePlace,
    _ found: TreeRecord.Publication,
    _ outcome: inout TreeOutcome
  ) throws(Failure) {
    var publication = found
    if publication.current > 0 { outcome.generation = publication.current }
    let (root, isNew) = try place.makingRoot()
    let inode = try root.status().inode
    let link = plan.rules.link.rawValue
    let known = try record.trees(of: publication).first { $0.generation == 0 }
    var tree: TreeRecord.Tree
    if let known {
      tree = known
    } else {
      tree = try record.makeTree(0, of: publication, link: link, inode: inode)
    }
    // A new folder may well have the number of the one that it replaces.
    let isSame = !isNew && tree.inode == inode && tree.link == link
    let mark = plan.mark
    if isSame, tree.mark == mark, !plan.isThorough { return }
    let isRelinking = tree.link != link
    let filling = TreeFilling(
      plan,
      tree: tree,
      in: root,
      record: record,
      objects: objects,
      isDurable: isDurable,
      isTrusting: isSame && tree.mark != nil && !plan.isThorough,
      isRelinking: isRelinking
    )
    // Whatever happens from here on, the next run looks at every file.
    tree.mark = nil
    tree.inode = inode
    try record.set(tree)
    defer { outcome.take(filling.outcome) }
    try filling.fill()
    guard filling.outcome.troubles.isEmpty else { return }
    if isDurable, filling.outcome.placed > 0 { try filling.synchronize() }
    let hasChanged = filling.outcome.placed + filling.outcome.removed > 0
    if hasChanged || publication.current == 0 { publication.current += 1 }
    publication.isHeld = false
    try record.set(publication)
    outcome.generation = publication.current
    tree.mark = mark
    tree.link = link
    try record.set(tree)
  }

  // MARK: Generations

  private func publishAtomic(
    _ plan: TreePlan,
    _ place: TreePlace,
    _ found: TreeRecord.Publication,
    _ outcome: inout TreeOutcome
  ) throws(Failure) {
    var publication = found
    var trees = try record.trees(of: publication)
    try adopt(place, &publication, trees)
    if publication.current > 0 { outcome.generation = publication.current }
    if publication.isHeld, !plan.isThorough {
      outcome.isHeld = true
      return
    }
    let generations = try place.makingGenerations()
    let mark = plan.mark
    for tree in trees.reversed() where tree.mark == mark {
      let isStanding = tree.generation == publication.current
      if isStanding, !plan.isThorough, place.standingGeneration == tree.generation { return }
      guard try isInPlace(tree, plan, generations) else { continue }
      try stand(tree.generation, place, generations, &publication)
      outcome.generation = tree.generation
      return try prune(publication, plan.rules, generations)
    }
    guard plan.isWhole else {
      outcome.warnings.append(
        Diagnostic(
          "publish.not-whole",
          "`\(plan.rules.folder)` stays as it is until every item of `\(plan.segment.name)` is there",
          severity: .warning
        )
      )
      return
    }
    let tree = try makeGeneration(plan, publication, trees, generations, &outcome)
    guard let tree else { return }
    try stand(tree.generation, place, generations, &publication)
    outcome.generation = tree.generation
    trees.append(tree)
    try prune(publication, plan.rules, generations)
  }

  /// What a kill left between the switch and its record, and what a lost record does not know.
  private func adopt(
    _ place: TreePlace,
    _ publication: inout TreeRecord.Publication,
    _ trees: [TreeRecord.Tree]
  ) throws(Failure) {
    guard let standing = place.standingGeneration, standing != publication.current else { return }
    guard trees.contains(where: { $0.generation == standing && $0.mark != nil }) else { return }
    publication.current = standing
    try record.set(publication)
  }

  private func isInPlace(
    _ tree: TreeRecord.Tree,
    _ plan: TreePlan,
    _ generations: Folder
  ) throws(Failure) -> Bool {
    guard let root = try generations.folder(String(tree.generation)) else { return false }
    return try filling(plan, tree, root).isInPlace()
  }

  private func filling(_ plan: TreePlan, _ tree: TreeRecord.Tree, _ root: Folder) -> TreeFilling {
    TreeFilling(
      plan,
      tree: tree,
      in: root,
      record: record,
      objects: objects,
      isDurable: isDurable,
      isTrusting: false,
      isRelinking: false
    )
  }

  /// Nil where anything was in the way; then nothing is switched.
  private func makeGeneration(
    _ plan: TreePlan,
    _ publication: TreeRecord.Publication,
    _ trees: [TreeRecord.Tree],
    _ generations: Folder,
    _ outcome: inout TreeOutcome
  ) throws(Failure) -> TreeRecord.Tree? {
    let known = try generations.names().compactMap { Int($0) } + trees.map(\.generation)
    let number = max(known.max() ?? 0, publication.current) + 1
    let (root, _) = try generations.makingFolder(String(number))
    var tree = try record.makeTree(
      number,
      of: publication,
      link: plan.rules.link.rawValue,
      inode: try root.status().inode
    )
    let filling = filling(plan, tree, root)
    defer { outcome.take(filling.outcome) }
    do throws(Failure) {
      try filling.fill()
      if isDurable { try filling.synchronize() }
    } catch {
      try? clear(tree, generations)
      throw error
    }
    guard filling.outcome.troubles.isEmpty else {
      try clear(tree, generations)
      return nil
    }
    tree.mark = plan.mark
    try record.set(tree)
    return tree
  }

  /// One rename, after which every look at the folder finds the other tree.
  private func stand(
    _ generation: Int,
    _ place: TreePlace,
    _ generations: Folder,
    _ publication: inout TreeRecord.Publication
  ) throws(Failure) {
    if place.standingGeneration != generation { try place.stand(generation, generations) }
    publication.current = generation
    publication.isHeld = false
    try record.set(publication)
  }

  private func prune(
    _ publication: TreeRecord.Publication,
    _ rules: PublishingRules,
    _ generations: Folder
  ) throws(Failure) {
    let others = try record.trees(of: publication).filter {
      $0.generation != publication.current && $0.generation > 0
    }
    let kept = others.filter { $0.mark != nil && $0.generation < publication.current }
      .suffix(rules.keptGenerations).map(\.generation)
    for tree in others where !kept.contains(tree.generation) { try clear(tree, generations) }
  }

  /// Takes a generation away; what others put into it stays.
  private func clear(_ tree: TreeRecord.Tree, _ generations: Folder) throws(Failure) {
    let name = String(tree.generation)
    var tree = tree
    tree.mark = nil
    try record.set(tree)
    if let root = try generations.folder(name) {
      let nothing = TreePlan.nothing
      try filling(nothing, tree, root).empty()
      try? generations.removeFolder(name)
    }
    try record.forget(tree, isGone: true)
  }

  // MARK: Going back

  /// Lets the generation before the present one stand until the next `publish`; nil without one.
  package func rollBack(
    _ segment: SegmentKey,
    _ rules: PublishingRules
  ) throws(Failure) -> TreeOutcome? {
    guard var publication = try record.publication(of: segment, folder: rules.folder),
      let place = try TreePlace.existing(rules.folder)
    else { return nil }
    let trees = try record.trees(of: publication)
    try adopt(place, &publication, trees)
    let earlier = trees.last { $0.mark != nil && (1..<publication.current).contains($0.generation) }
    let generations = try place.makingGenerations()
    guard let earlier, try generations.folder(String(earlier.generation)) != nil else { return nil }
    // Held first: a kill in between must not let the next run go forward again unasked.
    publication.isHeld = true
    try record.set(publication)
    try stand(earlier.generation, place, generations, &publication)
    publication.isHeld = true
    try record.set(publication)
    var outcome = TreeOutcome(folder: rules.folder)
    outcome.generation = earlier.generation
    outcome.isHeld = true
    return outcome
  }
}

extension TreeOutcome {
  fileprivate mutating func take(_ other: TreeOutcome) {
    placed += other.placed
    removed += other.removed
    troubles += other.troubles
    warnings += other.warnings
  }
}
