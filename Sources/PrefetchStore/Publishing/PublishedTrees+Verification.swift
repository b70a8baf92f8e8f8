internal import Glibc
package import PrefetchCore

package struct TreeInspection: Hashable, Sendable {
  package struct Damage: Hashable, Sendable {
    package enum Problem: String, Hashable, Sendable {
      case missing
      case changed
      /// Another file, or something that is no file, is in its place.
      case foreign
      case unreadable
    }

    package var segment: String
    package var path: String
    package var problem: Problem
    /// Why the file could not be read.
    package var reason: String?
    /// Whether the stored body of the file is damaged or missing too.
    package var hasDamagedBody = false
  }

  /// A tree without any of its files, as on a disk that is not mounted.
  package struct Gone: Hashable, Sendable {
    package var segment: String
    /// Folder of the tree.
    package var folder: String
    /// Topmost missing folder of the tree's path, or the empty folder above it.
    package var place: FolderGap
    /// Number of published files.
    package var count: Int
  }

  /// A tree that this process could not look at.
  package struct Unread: Hashable, Sendable {
    package var segment: String
    package var failure: Failure

    package init(segment: String, failure: Failure) {
      self.segment = segment
      self.failure = failure
    }
  }

  package var checked = 0
  package var bad: [Damage] = []
  package var gone: [Gone] = []
  package var unread: [Unread] = []
  package var warnings: [Diagnostic] = []

  package init() {}

  /// Number of files that are not as they were published.
  package var badCount: Int { bad.count + gone.reduce(0) { $0 + $1.count } }
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

  /// Returns the folder of every recorded tree with its segment.
  package static func folders(
    in state: StateStore
  ) throws(Failure) -> [(segment: SegmentKey, folder: String)] {
    try TreeRecord(state).publications().map { ($0.key, $0.folder) }
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
      guard declared != nil, PublishedTrees.isDeclared(found, declared) else { return }
      for tree in try record.trees(of: found.publication)
      where tree.generation == 0 || tree.generation == found.publication.current {
        try recordGone(found, count: record.fileCount(of: tree))
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
      // Readers see only the current generation.
      if depth != .bytes, tree.generation > 0,
        isInPlace || tree.generation != found.publication.current
      {
        continue
      }
      guard let root = try location.root(of: tree.generation) else {
        // An earlier generation is not the segment's present tree.
        guard tree.generation == found.publication.current || tree.generation == 0 else { continue }
        try recordGone(found, count: record.fileCount(of: tree))
        try body(tree, Finding(problem: .missing))
        continue
      }
      if depth != .bytes, tree.generation > 0,
        try location.linkedGeneration != tree.generation
      {
        bad.append(Damage(segment: found.key.name, path: found.folder, problem: .missing))
        continue
      }
      var changed: Set<URLKey>?
      if depth == .asRuns, tree.mark != nil {
        changed = try TreeFolderTimes(of: tree, in: root, record).changed
      }
      if changed?.isEmpty == true { continue }
      let earlierCount = bad.count
      var (count, missingCount) = (0, 0)
      // Files of the user that serve as files of the tree are looked at as well.
      for part in [tree, tree.foreign] {
        let folders = TreeFolders(root, record: record, tree: part)
        count += try folders.eachChange(
          in: changed,
          readsFiles: depth != .status,
          isCancelled,
          isSound: bodies.isSoundLink
        ) {
          (row, spot, failure) throws(Failure) in
          // A run that was killed while it removed files has not forgotten them yet.
          if row.isLeaving, spot == nil { return }
          let isOwn = part.number == tree.number
          let problem: Damage.Problem =
            if failure != nil {
              .unreadable
            } else if let spot {
              isOwn && spot.isFile(of: row) ? .changed : .foreign
            } else {
              .missing
            }
          if problem == .missing { missingCount += 1 }
          bad.append(
            Damage(
              segment: found.key.name,
              path: root.path(of: row.path),
              problem: problem,
              reason: failure?.message,
              hasDamagedBody: bodies.damaged.contains(row.digest)
            )
          )
          try body(tree, Finding(problem: problem, spot: spot))
        }
      }
      checked += count
      guard changed == nil, count > 0, missingCount == count else { continue }
      bad.removeSubrange(earlierCount...)
      recordGone(found, count: count, isCounted: true)
    }
  }

  private mutating func recordGone(
    _ found: TreeRecord.Found,
    count: Int,
    isCounted: Bool = false
  ) {
    guard count > 0 else { return }
    if !isCounted { checked += count }
    gone.append(
      Gone(
        segment: found.key.name,
        folder: found.folder,
        place: FolderGap(above: found.folder),
        count: count
      )
    )
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
