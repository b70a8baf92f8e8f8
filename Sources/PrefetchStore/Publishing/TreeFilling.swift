internal import PrefetchCore

/// Makes one folder equal to a plan: adds missing files, removes old ones, leaves foreign ones.
///
/// A file's identity is recorded before the file gets its name, so that it is known after a kill.
final class TreeFilling {
  struct Options {
    var isDurable: Bool
    /// Whether a recorded file is assumed to exist, unless its folder is in ``changed``.
    var isTrusting = false
    var changed: Set<URLKey> = []
    /// Whether the way of making files (link, clone, copy) has changed.
    var isRelinking = false
    var isCancelled: () -> Bool
  }

  let tree: TreeRecord.Tree
  let record: TreeRecord
  let folders: TreeFolders
  let plan: TreePlan
  let source: TreeSource
  let neighbours: [TreeNeighbour]
  let dates: ModificationTimes
  let options: Options
  var seen: Set<Int64> = []
  var pending: [TreePlacement] = []
  private var pendingNames: Set<URLKey> = []
  private var pendingBytes: Int64 = 0
  /// Files whose names are in use by folders, which may be removed later.
  private var blocked: [Int] = []
  var outcome: TreeOutcome
  var foreign = ForeignFiles()
  var mended: [TreeOutcome.Trouble] = []
  var damaged: Set<ContentDigest> = []
  private(set) var homes: [String] = []
  private var knownHomes: Set<URLKey> = []
  /// Whether the folder is another than the recorded one, whose files may be copies therefore.
  let isMoved: Bool
  /// Previous generation of an atomic tree, which records the state of linked bodies.
  let past: TreeRecord.Tree?

  init(
    _ plan: TreePlan,
    tree: TreeRecord.Tree,
    in root: Folder,
    record: TreeRecord,
    objects: ObjectLayers,
    neighbours: [TreeNeighbour] = [],
    dates: ModificationTimes = .none,
    past: TreeRecord.Tree? = nil,
    options: Options,
    isSpoilt: @escaping (ContentDigest) throws(Failure) -> Bool
  ) {
    self.plan = plan
    self.tree = tree
    self.record = record
    self.neighbours = neighbours
    self.dates = dates
    self.past = past
    self.options = options
    isMoved = (try? root.status().inode) != tree.inode
    folders = TreeFolders(root, record: record, tree: tree)
    source = TreeSource(
      objects: objects,
      rules: plan.rules,
      isCancelled: options.isCancelled,
      isSpoilt: isSpoilt
    )
    outcome = TreeOutcome(folder: plan.rules.folder)
  }

  func fill() throws(Failure) {
    defer { discardPending() }
    for index in plan.indices where !plan.isSwitch(index) {
      try fillFile(at: index, isLast: false)
    }
    try flush()
    if let last = plan.indices.last, plan.isSwitch(last), let file = plan.file(at: last) {
      try switchReaders(to: file)
    }
    try removeLeft()
    folders.forgetChain()
    for index in blocked { try fillFile(at: index, isLast: true) }
    try flush()
    if source.hasCopiedAcross {
      outcome.warnings.append(
        Diagnostic(
          "publish.copied",
          "`\(plan.rules.folder)` is on another file system than the cache: files are copied, and take their room twice",
          severity: .warning
        )
      )
    }
  }

  func discardPending() {
    for placement in pending { placement.form.discard() }
    pending = []
    pendingNames = []
    pendingBytes = 0
    source.mirrorLinks?.forget()
  }

  // MARK: One file

  private func fillFile(at index: Int, isLast: Bool) throws(Failure) {
    guard let file = plan.file(at: index) else { return }
    guard !options.isCancelled() else {
      throw Failure(.cancelled, "stopped before every file was there")
    }
    do throws(Failure) {
      try fill(file, index: index, isLast: isLast)
    } catch {
      // Rows of a name stay until a new file stands there.
      for row in try record.rows(file.name, of: tree) { seen.insert(row.number) }
      try recordFailure(error, of: file)
    }
  }

  /// Records a file's failure; rethrows one that would meet the next file as well.
  func recordFailure(_ failure: Failure, of file: TreeFile) throws(Failure) {
    if [.diskFull, .unsupported, .cancelled].contains(failure.code) { throw failure }
    if failure.code == .permission, !folders.root.isWritable { throw failure }
    outcome.troubles.append(.init(name: file.name, url: file.url, failure: failure))
  }

  /// Makes a file, unless it is there; `index` is its place in the plan.
  func fill(_ file: TreeFile, index: Int?, isLast: Bool) throws(Failure) {
    guard !pendingNames.contains(URLKey(file.name)) else { return }
    let (folderPath, leaf) = PathText.split(file.name)
    let home = recordHome(folderPath)
    let rows = try record.rows(file.name, of: tree)
    guard let digest = source.digest(of: file.content) else {
      for row in rows { seen.insert(row.number) }
      try keepForeign(file)
      return
    }
    if rows.contains(where: { seen.contains($0.number) }) { return }
    if options.isTrusting, !options.changed.contains(home), !plan.isFresh(file), rows.count == 1,
      rows[0].digest == digest, isDated(rows[0], file)
    {
      seen.insert(rows[0].number)
      return
    }
    let folder = try folders.making(folderPath)
    var existingFile: FileIdentity?
    if let status = try folder.status(of: leaf) {
      if status.kind == .folder, !isLast, let index {
        blocked.append(index)
        return
      }
      let spot = TreeSpot(folder: folder, leaf: leaf, status: status)
      guard try !isSettled(spot, file, digest, rows) else { return }
      existingFile = spot.identity
    }
    if !plan.isFresh(file), try source.isSpoilt(file.content) {
      damaged.insert(digest)
      throw Failure(
        .storeDamaged,
        "the stored body of `\(file.name)` was changed: it is dropped, and the next run fetches it again"
      )
    }
    let form = try source.make(file.content, in: folder, modified: dates.time(of: file.url))
    var placement = TreePlacement(
      file: file,
      digest: digest,
      folder: folder,
      folderPath: folderPath,
      leaf: leaf,
      form: form,
      identity: try identity(of: form),
      birth: form.birth
    )
    try heedPast(placement)
    placement.existingFile = existingFile
    placement.isRestored = existingFile == nil && rows.contains { $0.digest == digest }
    placement.replaced = rows.map(\.number)
    if existingFile != nil {
      placement.temporary = RandomName.make(TreeName.temporaryPrefix)
    }
    pending.append(placement)
    pendingNames.insert(URLKey(file.name))
    if case .body(_, let size) = file.content { pendingBytes += size }
    if pending.count >= Self.mostPending || pendingBytes >= Self.mostPendingBytes { try flush() }
  }

  @discardableResult
  func recordHome(_ folder: Substring) -> URLKey {
    let home = URLKey(String(folder))
    if knownHomes.insert(home).inserted { homes.append(String(folder)) }
    return home
  }

  /// Limit of a batch: each batch costs a commit and a flush, each file one or two descriptors.
  static let mostPending = max(64, min(1024, DescriptorLimit.current / 8))
  static let mostPendingBytes: Int64 = 64 << 20

  static func foreign(_ path: String, _ reason: String) -> Failure {
    Failure(.failed, "`\(path)` stays as it is: \(reason); move it away to have the item there")
  }

  static func foreign(_ spot: TreeSpot) -> Failure {
    foreign(spot.path, "it is not prefetch's, or was changed since")
  }

  static func noFile(_ spot: TreeSpot) -> Failure {
    foreign(spot.path, "it is not a file")
  }

  /// Returns the failure for a name where another segment has published a file.
  static func taken(_ spot: TreeSpot, by neighbour: TreeNeighbour) -> Failure {
    Failure(
      .failed,
      "`\(spot.path)` stays as it is: segment `\(neighbour.segment)` publishes something else there"
    )
  }

  func identity(of form: TreeSource.Form) throws(Failure) -> FileIdentity {
    switch form {
    case .object(let home, let name):
      guard let status = try home.status(of: name), status.kind == .file else {
        throw Failure(.storeDamaged, "the stored body `sha256:\(name)` is missing")
      }
      return FileIdentity(status)
    case .unnamed(let file), .named(let file, _, _):
      return FileIdentity(try file.status())
    case .alias(let target):
      return .content(size: target.utf8.count)
    }
  }
}
