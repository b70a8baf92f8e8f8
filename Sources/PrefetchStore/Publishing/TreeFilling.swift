internal import PrefetchCore

/// Makes one folder equal to a plan: what is missing comes, what left goes, and what belongs to
/// others stays as it is.
///
/// What a file will be known by is recorded before it gets its name, so that after a kill at any
/// moment everything of ours is known as ours.
final class TreeFilling {
  struct Manner {
    var isDurable: Bool
    /// Whether a recorded file is believed to be there.
    var isTrusting = false
    /// Whether files come in another way than those that are there.
    var isRelinking = false
    /// Asked between files, and within large ones.
    var isCancelled: () -> Bool
  }

  let tree: TreeRecord.Tree
  let record: TreeRecord
  let folders: TreeFolders
  let plan: TreePlan
  let source: TreeSource
  let neighbours: [TreeNeighbour]
  /// What a mirror's files shall have.
  let times: ModificationTimes
  let manner: Manner
  /// The rows of files that stay.
  var seen: Set<Int64> = []
  /// What is made and has no name yet.
  var pending: [TreePlacement] = []
  private var pendingNames: Set<URLKey> = []
  private var pendingBytes: Int64 = 0
  /// Files in whose place stands a folder, which may go with what left.
  private var blocked: [Int] = []
  var outcome: TreeOutcome
  /// Files of nobody that say what is wanted, and so serve.
  private(set) var servingCount = 0

  init(
    _ plan: TreePlan,
    tree: TreeRecord.Tree,
    in root: Folder,
    record: TreeRecord,
    objects: ObjectFolder,
    neighbours: [TreeNeighbour] = [],
    times: ModificationTimes = .none,
    manner: Manner
  ) {
    self.plan = plan
    self.tree = tree
    self.record = record
    self.neighbours = neighbours
    self.times = times
    self.manner = manner
    folders = TreeFolders(root, record: record, tree: tree)
    source = TreeSource(objects: objects, rules: plan.rules, isCancelled: manner.isCancelled)
    outcome = TreeOutcome(folder: plan.rules.folder)
  }

  /// Throws where nothing more can be done; what is wrong with single files is in ``outcome``.
  func fill() throws(Failure) {
    defer { letGo() }
    for index in plan.indices { try take(index, isLast: false) }
    try flush()
    try removeLeft()
    folders.forgetChain()
    for index in blocked { try take(index, isLast: true) }
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

  /// What was made and did not get its name leaves nothing behind.
  func letGo() {
    for placement in pending { placement.form.discard() }
    pending = []
    pendingNames = []
    pendingBytes = 0
    source.mirrorLinks?.forget()
  }

  // MARK: One file

  private func take(_ index: Int, isLast: Bool) throws(Failure) {
    guard let file = plan.file(at: index) else { return }
    guard !manner.isCancelled() else {
      throw Failure(.cancelled, "stopped before every file was there")
    }
    do throws(Failure) {
      try take(file, index: index, isLast: isLast)
    } catch {
      try note(error, of: file)
    }
  }

  /// A full disk is full for the next file too.
  func note(_ failure: Failure, of file: TreeFile) throws(Failure) {
    if [.diskFull, .unsupported, .cancelled].contains(failure.code) { throw failure }
    outcome.troubles.append(.init(name: file.name, url: file.url, failure: failure))
  }

  private func take(_ file: TreeFile, index: Int, isLast: Bool) throws(Failure) {
    guard !pendingNames.contains(URLKey(file.name)) else { return }
    let rows = try record.rows(file.name, of: tree)
    guard let digest = source.digest(of: file.content) else {
      for row in rows { seen.insert(row.number) }
      return
    }
    if rows.contains(where: { seen.contains($0.number) }) { return }
    if manner.isTrusting, rows.count == 1, rows[0].digest == digest, isTimed(rows[0], file) {
      seen.insert(rows[0].number)
      return
    }
    let (folderPath, leaf) = PathText.split(file.name)
    let folder = try folders.making(folderPath)
    var replaced: [TreeRecord.Row] = []
    if let status = try folder.status(of: leaf) {
      if status.kind == .folder, !isLast {
        blocked.append(index)
        return
      }
      let own = rows.first { $0.identity == FileIdentity(status) && status.kind == .file }
      if let own, own.digest == digest, !manner.isRelinking,
        let number = try timed(own, file, status, leaf, in: folder)
      {
        seen.insert(number)
        return
      }
      guard own != nil else {
        return try takeForeign(file, digest, status, leaf, in: folder, rows: rows)
      }
      replaced = rows
    } else {
      try record.remove(rows.map(\.number))
    }
    let form = try source.make(file.content, in: folder, modified: times.time(of: file.url))
    var placement = TreePlacement(
      file: file,
      digest: digest,
      folder: folder,
      folderPath: folderPath,
      leaf: leaf,
      form: form,
      identity: try identity(of: form)
    )
    placement.replaced = replaced
    if !replaced.isEmpty { placement.temporary = RandomName.make(TreeName.temporaryPrefix) }
    pending.append(placement)
    pendingNames.insert(URLKey(file.name))
    if case .body(_, let size) = file.content { pendingBytes += size }
    if pending.count >= Self.mostPending || pendingBytes >= Self.mostPendingBytes { try flush() }
  }

  /// Each group costs a commit of the record and a flush; each made file holds a descriptor, and its
  /// folder may hold one.
  static let mostPending = max(64, min(1024, DescriptorLimit.current / 8))
  static let mostPendingBytes: Int64 = 64 << 20

  /// What is not ours may stay where it says the same; otherwise it is in the way.
  private func takeForeign(
    _ file: TreeFile,
    _ digest: ContentDigest,
    _ status: FileStatus,
    _ leaf: String,
    in folder: Folder,
    rows: [TreeRecord.Row]
  ) throws(Failure) {
    try record.remove(rows.map(\.number))
    let path = folder.path(of: leaf)
    guard status.kind == .file else { throw Self.foreign(path, "it is no file") }
    let identity = FileIdentity(status)
    if let claim = try claim(on: file.name, identity) {
      guard claim.row.digest == digest else {
        throw Failure(
          .failed,
          "`\(path)` stays as it is: segment `\(claim.neighbour.segment)` publishes something else there"
        )
      }
      seen.insert(try record.add(file.name, digest, identity, to: tree))
      return
    }
    // A second name of the object, which a lost record does not know any more.
    if source.isLink(status, to: file.content) {
      seen.insert(try record.add(file.name, digest, identity, to: tree))
      return
    }
    guard let open = try ObjectFolder.open(leaf, in: folder),
      try ObjectFolder.digest(of: open, isCancelled: manner.isCancelled) == digest
    else { throw Self.foreign(path, "it is not prefetch's, or was changed since") }
    servingCount += 1
  }

  /// Who else put the file there.
  func claim(
    on name: String,
    _ identity: FileIdentity
  ) throws(Failure) -> (neighbour: TreeNeighbour, row: TreeRecord.Row)? {
    for neighbour in neighbours {
      guard let theirs = neighbour.name(of: name) else { continue }
      let row = try record.rows(theirs, of: neighbour.tree).first { $0.identity == identity }
      if let row { return (neighbour, row) }
    }
    return nil
  }

  static func foreign(_ path: String, _ reason: String) -> Failure {
    Failure(.failed, "`\(path)` stays as it is: \(reason); move it away to have the item there")
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
    }
  }

  /// Whether every file is as it was put there.
  func isInPlace() throws(Failure) -> Bool {
    for index in plan.indices {
      guard let file = plan.file(at: index), let digest = source.digest(of: file.content) else {
        continue
      }
      guard let row = try record.rows(file.name, of: tree).first(where: { $0.digest == digest }),
        try isAsPut(row)
      else { return false }
    }
    return true
  }

  /// The first file that is recorded and is not as it was put there.
  func changedFile() throws(Failure) -> String? {
    var number: Int64 = 0
    while true {
      let rows = try record.rows(of: tree, after: number)
      guard let last = rows.last else { return nil }
      number = last.number
      for row in rows where try !isAsPut(row) { return folders.root.path(of: row.path) }
    }
  }

  private func isAsPut(_ row: TreeRecord.Row) throws(Failure) -> Bool {
    let (folderPath, leaf) = PathText.split(row.path)
    guard let status = try folders.existing(folderPath)?.status(of: leaf) else { return false }
    return status.kind == .file && FileIdentity(status) == row.identity
  }
}
