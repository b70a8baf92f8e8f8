package import PrefetchCore

/// Atomic trees: each generation is a folder, and a link points to the current one.
extension PublishedTrees {
  func publishWhole(
    _ plan: TreePlan,
    _ location: TreeLocation,
    _ found: TreeRecord.Publication,
    _ outcome: inout TreeOutcome
  ) throws(Failure) {
    var publication = found
    let trees = try record.trees(of: publication)
    try adopt(location, &publication, trees)
    if publication.current > 0 { outcome.generation = publication.current }
    if publication.isHeld, !plan.isThorough {
      outcome.isHeld = true
      return
    }
    if let generations = try location.existingGenerations() {
      switch try reusableTree(for: plan, among: trees, location, publication, generations, &outcome)
      {
      case .tree(let tree):
        outcome.isSwitched = try location.linkedGeneration != tree.generation
        guard outcome.isSwitched || plan.isThorough else { return }
        try stand(tree.generation, location, generations, &publication)
        outcome.generation = tree.generation
        return try prune(publication, plan.rules, generations)
      case .spoilt: return
      case nil: break
      }
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
    let generations = try location.makingGenerations()
    let tree = try makeGeneration(plan, publication, trees, generations, &outcome)
    guard let tree else { return }
    try stand(tree.generation, location, generations, &publication)
    outcome.generation = tree.generation
    try prune(publication, plan.rules, generations)
  }

  /// Records a switch that a kill left unrecorded.
  private func adopt(
    _ location: TreeLocation,
    _ publication: inout TreeRecord.Publication,
    _ trees: [TreeRecord.Tree]
  ) throws(Failure) {
    guard let linked = try location.linkedGeneration, linked != publication.current else { return }
    guard trees.contains(where: { $0.generation == linked && $0.mark != nil }) else { return }
    publication.current = linked
    try record.set(publication)
  }

  private enum Found {
    case tree(TreeRecord.Tree)
    /// A published file and its stored body were changed; the body has to be fetched again.
    case spoilt
  }

  private func reusableTree(
    for plan: TreePlan,
    among trees: [TreeRecord.Tree],
    _ location: TreeLocation,
    _ publication: TreeRecord.Publication,
    _ generations: Folder,
    _ outcome: inout TreeOutcome
  ) throws(Failure) -> Found? {
    let mark = plan.mark ^ (try dates(of: plan).mark)
    let linked = try location.linkedGeneration
    for var tree in trees.reversed() where tree.mark == mark {
      guard let root = try generations.folder(String(tree.generation)) else { continue }
      let isLinked =
        tree.generation == publication.current && linked == tree.generation
      let times = try TreeFolderTimes(of: tree, in: root, record)
      if isLinked, !plan.isThorough, !plan.hasFreshBodies, times.changed.isEmpty {
        return .tree(tree)
      }
      let filling = filling(plan, tree, root)
      let isInPlace = try filling.isInPlace()
      finish(filling, &outcome)
      if isInPlace {
        try times.renew(filling.homes, of: tree, in: root, record)
        return .tree(tree)
      }
      tree.mark = nil
      try record.set(tree)
      guard filling.damaged.isEmpty else { return .spoilt }
    }
    return nil
  }

  /// Makes a new generation; returns nil, and removes the generation, after any trouble.
  private func makeGeneration(
    _ plan: TreePlan,
    _ publication: TreeRecord.Publication,
    _ trees: [TreeRecord.Tree],
    _ generations: Folder,
    _ outcome: inout TreeOutcome
  ) throws(Failure) -> TreeRecord.Tree? {
    let recorded = trees.map(\.generation)
    // The new number is higher than any number in use, also by others.
    let present = try generations.names().compactMap { Int($0) }.filter { $0 < Int.max / 2 }
    let unrecorded = present.filter { !recorded.contains($0) }
    if !unrecorded.isEmpty {
      outcome.warnings.append(Self.unrecorded(unrecorded, in: plan.rules.folder))
    }
    let number = max((present + recorded).max() ?? 0, publication.current) + 1
    let new = try newFolder(number, of: publication, plan, generations)
    var tree = new.tree
    let past = trees.first { $0.generation == publication.current }
    let dates = try dates(of: plan)
    let filling = filling(plan, tree, new.root, dates: dates, after: past)
    defer { finish(filling, &outcome) }
    do throws(Failure) {
      try filling.fill()
      if isDurable { try new.root.synchronizeFileSystem() }
    } catch {
      try? clear(tree, generations)
      throw error
    }
    guard filling.outcome.troubles.isEmpty else {
      try clear(tree, generations)
      return nil
    }
    tree.mark = plan.mark ^ dates.mark
    try record.set(tree)
    try TreeFolderTimes(of: tree, in: new.root, record)
      .renew(filling.homes, of: tree, in: new.root, record)
    return tree
  }

  private func newFolder(
    _ first: Int,
    of publication: TreeRecord.Publication,
    _ plan: TreePlan,
    _ generations: Folder
  ) throws(Failure) -> (tree: TreeRecord.Tree, root: Folder) {
    var number = first
    while true {
      // Recorded before the folder exists, so that it is known after a kill.
      let link = TreeSource.linkMethod(plan.rules)
      var tree = try record.makeTree(number, of: publication, link: link, inode: 0)
      let (root, isNew) = try generations.makingFolder(String(number))
      if isNew {
        tree.inode = try root.status().inode
        return (tree, root)
      }
      // Another cache publishes here as well and was faster.
      try record.forget(tree, removesTree: true)
      number += 1
    }
  }

  private static func unrecorded(_ numbers: [Int], in folder: String) -> Diagnostic {
    let names = numbers.sorted().prefix(5).map { "`\($0)`" }.joined(separator: ", ")
    let rest = numbers.count > 5 ? " and \(numbers.count - 5) more" : ""
    return Diagnostic(
      "publish.not-recorded",
      "`\(folder).generations` holds \(names)\(rest), and no record says that prefetch made them "
        + "(the state may be lost): they are kept",
      severity: .warning,
      hint: "delete them when they are no longer read"
    )
  }

  /// Switches the link to a generation by one rename.
  private func stand(
    _ generation: Int,
    _ location: TreeLocation,
    _ generations: Folder,
    _ publication: inout TreeRecord.Publication,
    isHeld: Bool = false
  ) throws(Failure) {
    if try location.linkedGeneration != generation {
      try location.stand(generation, generations)
      // Earlier generations may be removed only when no reader can be led there again.
      if isDurable { try location.parent.synchronize() }
    }
    publication.current = generation
    publication.isHeld = isHeld
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

  private func clear(_ tree: TreeRecord.Tree, _ generations: Folder) throws(Failure) {
    let name = String(tree.generation)
    var tree = tree
    tree.mark = nil
    try record.set(tree)
    if let root = try generations.folder(name) {
      try filling(.empty, tree, root).empty()
      try? generations.removeFolder(name)
    }
    try record.forget(tree, removesTree: true)
  }

  // MARK: Going back

  /// Switches to the previous generation until the next `publish`; returns nil without one.
  package func rollBack(
    _ segment: SegmentKey,
    _ rules: PublishingRules
  ) throws(Failure) -> TreeOutcome? {
    try adoptCopies()
    guard let location = try TreeLocation.existing(rules.folder) else { return nil }
    return try withPublisherLock(location) { () throws(Failure) in
      try rollBack(segment, rules, location)
    }
  }

  private func rollBack(
    _ segment: SegmentKey,
    _ rules: PublishingRules,
    _ location: TreeLocation
  ) throws(Failure) -> TreeOutcome? {
    guard var publication = try record.publication(of: segment, folder: rules.folder) else {
      return nil
    }
    let trees = try record.trees(of: publication)
    try adopt(location, &publication, trees)
    let earlier = trees.last {
      $0.mark != nil && $0.generation > 0 && $0.generation < publication.current
    }
    guard let earlier, let generations = try location.existingGenerations(),
      let root = try generations.folder(String(earlier.generation))
    else { return nil }
    let folders = TreeFolders(root, record: record, tree: earlier)
    let bodies = TreeBodies(objects: objects)
    _ = try folders.eachChange(isCancelled, isSound: bodies.isSoundLink) {
      (row, _, failure) throws(Failure) in
      throw failure
        ?? Failure(
          .failed,
          "`\(root.path(of: row.path))` is not as it was published, so that generation is not used again"
        )
    }
    // Held first: after a kill in between, the next run must not switch forward.
    publication.isHeld = true
    try record.set(publication)
    try stand(earlier.generation, location, generations, &publication, isHeld: true)
    var outcome = TreeOutcome(folder: rules.folder)
    outcome.generation = earlier.generation
    outcome.isHeld = true
    outcome.isSwitched = true
    return outcome
  }
}
