internal import Glibc
package import PrefetchCore

/// What looking at published files found.
package struct TreeInspection: Hashable, Sendable {
  package struct Damage: Hashable, Sendable {
    package enum Problem: String, Hashable, Sendable {
      case missing
      /// The file that was put there has other bytes or another time.
      case changed
      /// Another file, or none that is a file, has taken its place.
      case foreign
    }

    package var segment: String
    package var path: String
    package var problem: Problem
  }

  package var checked = 0
  package var bad: [Damage] = []
  package var warnings: [Diagnostic] = []

  package init() {}
}

extension PublishedTrees {
  /// Looks at every published file, changing nothing.
  ///
  /// `declared` are the folders that count; without it all that are there. `damaged` are the bodies
  /// of `store` that were found to have other bytes.
  package static func inspect(
    _ state: StateStore,
    of store: DiskStore?,
    damaged: Set<ContentDigest>,
    declared: [SegmentKey: String]?,
    isCancelled: @escaping () -> Bool
  ) throws(Failure) -> TreeInspection {
    let record = try TreeRecord(state)
    var inspection = TreeInspection()
    for found in try record.publications() {
      guard let place = try Self.place(found, declared) else { continue }
      // What is just being made is not yet as it will be.
      let lock = try KernelLock.take(
        .shared,
        on: place.parent.open(".", O_RDONLY | O_DIRECTORY),
        patience: .seconds(30),
        isCancelled: isCancelled
      )
      if lock != nil {
        let bodies = TreeBodies(objects: store?.layers, damaged: damaged)
        try inspection.look(at: found, place, record, bodies, isCancelled) { _, _ in }
      } else {
        guard !isCancelled() else { throw Failure(.cancelled, "stopped while verifying") }
        inspection.warnings.append(
          Diagnostic(
            "publish.busy",
            "`\(found.folder)` was not checked, since another process is publishing there",
            severity: .warning
          )
        )
      }
      withExtendedLifetime(lock) {}
    }
    return inspection
  }

  /// The trees that a rollback holds, of the folders that count.
  package static func holds(
    in state: StateStore,
    declared: [SegmentKey: String]?
  ) throws(Failure) -> [Diagnostic] {
    try TreeRecord(state).publications().filter { found in
      found.publication.isHeld && declared.map { $0[found.key] == found.folder } ?? true
    }.map { found in
      TreeOutcome.hold(of: found.key.name, found.folder, found.publication.current)
    }
  }

  /// Lets go of what is not as it was put there, so that the next run makes it again: foreign files
  /// stay, and a tree that is switched as a whole stands until another takes its place.
  ///
  /// `damaged` are the stored bodies that were found to have other bytes.
  package func repair(damaged: Set<ContentDigest>) throws(Failure) -> TreeInspection {
    try adoptCopies()
    let bodies = TreeBodies(objects: objects, damaged: damaged)
    var inspection = TreeInspection()
    for found in try record.publications() {
      guard let place = try Self.place(found, declared) else { continue }
      try inTurn(place) { () throws(Failure) in
        try inspection.look(at: found, place, record, bodies, isCancelled) {
          (tree, damage) throws(Failure) in
          if tree.generation == 0, damage.problem == .changed, let spot = damage.spot {
            try spot.folder.remove(spot.leaf)
          }
          var tree = tree
          tree.mark = nil
          try record.set(tree)
        }
      }
    }
    return inspection
  }

  /// Nil for a publication that does not count.
  ///
  /// Of one that no segment is known to declare, nothing is missed where its folder is gone.
  private static func place(
    _ found: TreeRecord.Found,
    _ declared: [SegmentKey: String]?
  ) throws(Failure) -> TreePlace? {
    guard declared.map({ $0[found.key] == found.folder }) ?? true,
      let place = try TreePlace.existing(found.folder)
    else { return nil }
    guard declared == nil else { return place }
    return try place.parent.status(of: place.name) == nil ? nil : place
  }
}

extension TreeInspection {
  fileprivate struct Finding {
    var problem: Damage.Problem
    var spot: TreeSpot?
  }

  fileprivate mutating func look(
    at found: TreeRecord.Found,
    _ place: TreePlace,
    _ record: TreeRecord,
    _ bodies: TreeBodies,
    _ isCancelled: () -> Bool,
    _ body: (TreeRecord.Tree, Finding) throws(Failure) -> Void
  ) throws(Failure) {
    for tree in try record.trees(of: found.publication)
    where tree.generation == 0 || tree.mark != nil {
      guard let root = try place.root(of: tree.generation) else {
        // An earlier generation is no segment's tree.
        guard tree.generation == found.publication.current || tree.generation == 0 else { continue }
        bad.append(Damage(segment: found.key.name, path: found.folder, problem: .missing))
        try body(tree, Finding(problem: .missing))
        continue
      }
      let folders = TreeFolders(root, record: record, tree: tree)
      checked += try folders.eachChange(isCancelled, isSound: bodies.isSoundLink) {
        (row, spot) throws(Failure) in
        let problem: Damage.Problem =
          if let spot { spot.isFile(of: row) ? .changed : .foreign } else { .missing }
        bad.append(
          Damage(segment: found.key.name, path: root.path(of: row.path), problem: problem)
        )
        try body(tree, Finding(problem: problem, spot: spot))
      }
    }
  }
}

/// The stored bodies behind a tree's hard links.
struct TreeBodies {
  var objects: ObjectLayers?
  /// Those that were found to have other bytes.
  var damaged: Set<ContentDigest> = []

  /// Whether the file is a second name of a stored body that was hashed and is sound.
  func isSoundLink(_ digest: ContentDigest, _ status: FileStatus) -> Bool {
    guard let objects, !damaged.contains(digest),
      let home = (try? objects.home(of: digest)) ?? nil,
      let object = (try? home.folder.status(of: digest.hexadecimal)) ?? nil
    else { return false }
    return object.isSameFile(as: status)
  }
}
