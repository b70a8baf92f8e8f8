internal import Glibc
package import PrefetchCore

package struct TreeInspection: Hashable, Sendable {
  package struct Damage: Hashable, Sendable {
    package enum Problem: String, Hashable, Sendable {
      case missing
      case changed
      /// Another file, or something that is no file, is in its place.
      case foreign
    }

    package var segment: String
    package var path: String
    package var problem: Problem
  }

  /// A tree that this process could not look at.
  package struct Unread: Hashable, Sendable {
    package var segment: String
    package var failure: Failure
  }

  package var checked = 0
  package var bad: [Damage] = []
  package var unread: [Unread] = []
  package var warnings: [Diagnostic] = []

  package init() {}
}

extension TreeInspection {
  /// How closely files are looked at.
  package enum Depth: Hashable, Sendable {
    case bytes
    /// Skips folders that have not changed, as runs do.
    case asRuns
    /// Looks at the status of every file, and reads none.
    case status
  }
}

extension PublishedTrees {
  /// Checks published files, changing nothing; `damaged` are stored bodies with wrong bytes.
  package static func inspect(
    _ state: StateStore,
    of store: DiskStore?,
    damaged: Set<ContentDigest> = [],
    declared: [SegmentKey: String]?,
    depth: TreeInspection.Depth = .bytes,
    isCancelled: @escaping () -> Bool
  ) throws(Failure) -> TreeInspection {
    let record = try TreeRecord(state)
    let bodies = TreeBodies(objects: store?.layers, damaged: damaged)
    var inspection = TreeInspection()
    for found in try record.publications() {
      do throws(Failure) {
        try inspection.inspect(found, record, bodies, declared, depth: depth, isCancelled)
      } catch {
        guard error.code != .cancelled else { throw error }
        inspection.unread.append(.init(segment: found.key.name, failure: error))
      }
    }
    return inspection
  }

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

  /// Removes changed files for the next run to make again; foreign files and atomic trees stay.
  package func repair(damaged: Set<ContentDigest>) throws(Failure) -> TreeInspection {
    try adoptCopies()
    let bodies = TreeBodies(objects: objects, damaged: damaged)
    var inspection = TreeInspection()
    for found in try record.publications() {
      guard let location = try Self.location(found, declared) else { continue }
      try withPublisherLock(location) { () throws(Failure) in
        try inspection.look(at: found, location, record, bodies, isCancelled) {
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

  fileprivate static func isDeclared(
    _ found: TreeRecord.Found,
    _ declared: [SegmentKey: String]?
  ) -> Bool {
    declared.map { $0[found.key] == found.folder } ?? true
  }

  /// Returns nil for an undeclared publication, and for a missing folder without `declared`.
  fileprivate static func location(
    _ found: TreeRecord.Found,
    _ declared: [SegmentKey: String]?
  ) throws(Failure) -> TreeLocation? {
    guard isDeclared(found, declared), let location = try TreeLocation.existing(found.folder)
    else { return nil }
    guard declared == nil else { return location }
    return try location.parent.status(of: location.name) == nil ? nil : location
  }
}

extension TreeInspection {
  fileprivate struct Finding {
    var problem: Damage.Problem
    var spot: TreeSpot?
  }

  fileprivate mutating func inspect(
    _ found: TreeRecord.Found,
    _ record: TreeRecord,
    _ bodies: TreeBodies,
    _ declared: [SegmentKey: String]?,
    depth: Depth,
    _ isCancelled: @escaping () -> Bool
  ) throws(Failure) {
    guard let location = try PublishedTrees.location(found, declared) else {
      // The parent of a declared tree is missing, such as behind a dangling link.
      if declared != nil, PublishedTrees.isDeclared(found, declared),
        try !record.trees(of: found.publication).isEmpty
      {
        bad.append(Damage(segment: found.key.name, path: found.folder, problem: .missing))
      }
      return
    }
    // A tree that is being made cannot be checked.
    let lock = try KernelLock.acquire(
      .shared,
      on: location.parent.open(".", O_RDONLY | O_DIRECTORY),
      timeout: depth == .bytes ? .seconds(30) : .zero,
      isCancelled: isCancelled
    )
    if lock != nil {
      try look(at: found, location, record, bodies, depth: depth, isCancelled) { _, _ in }
    } else {
      guard !isCancelled() else { throw Failure(.cancelled, "stopped while verifying") }
      warnings.append(
        Diagnostic(
          "publish.busy",
          "`\(found.folder)` was not checked, since another process is publishing there",
          severity: .warning
        )
      )
    }
    withExtendedLifetime(lock) {}
  }

  fileprivate mutating func look(
    at found: TreeRecord.Found,
    _ location: TreeLocation,
    _ record: TreeRecord,
    _ bodies: TreeBodies,
    depth: Depth = .bytes,
    _ isCancelled: () -> Bool,
    _ body: (TreeRecord.Tree, Finding) throws(Failure) -> Void
  ) throws(Failure) {
    let trees = try record.trees(of: found.publication)
    let isInPlace = trees.contains { $0.generation == 0 }
    for tree in trees where tree.generation == 0 || tree.mark != nil {
      if depth != .bytes, tree.generation > 0 {
        // Readers see only the current generation.
        guard !isInPlace, tree.generation == found.publication.current else { continue }
        if location.linkedGeneration != tree.generation {
          bad.append(Damage(segment: found.key.name, path: found.folder, problem: .missing))
          continue
        }
      }
      guard let root = try location.root(of: tree.generation) else {
        // An earlier generation is not the segment's present tree.
        guard tree.generation == found.publication.current || tree.generation == 0 else { continue }
        bad.append(Damage(segment: found.key.name, path: found.folder, problem: .missing))
        try body(tree, Finding(problem: .missing))
        continue
      }
      var changed: Set<URLKey>?
      if depth == .asRuns, tree.mark != nil {
        changed = try TreeFolderTimes(of: tree, in: root, record).changed
      }
      if changed?.isEmpty == true { continue }
      let folders = TreeFolders(root, record: record, tree: tree)
      checked += try folders.eachChange(
        in: changed,
        readsFiles: depth != .status,
        isCancelled,
        isSound: bodies.isSoundLink
      ) {
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

struct TreeBodies {
  var objects: ObjectLayers?
  var damaged: Set<ContentDigest> = []

  func isSoundLink(_ digest: ContentDigest, _ status: FileStatus) -> Bool {
    guard let objects, !damaged.contains(digest),
      let home = (try? objects.home(of: digest)) ?? nil,
      let object = (try? home.folder.status(of: digest.hexadecimal)) ?? nil
    else { return false }
    return object.isSameFile(as: status)
  }
}
