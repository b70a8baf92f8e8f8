internal import CLinux
internal import Glibc
internal import PrefetchCore

/// Makes one folder equal to a plan: what is missing comes, what left goes, and what belongs to
/// others stays as it is.
///
/// What a file will be known by is recorded before it gets its name, so that after a kill at any
/// moment everything of ours is known as ours.
final class TreeFilling {
  private let plan: TreePlan
  private let tree: TreeRecord.Tree
  private let record: TreeRecord
  private let folders: TreeFolders
  private let source: TreeSource
  private let isDurable: Bool
  /// Whether a recorded file is believed to be there.
  private let isTrusting: Bool
  /// Whether files come in another way than those that are there.
  private let isRelinking: Bool
  private var seen: Set<Int64> = []
  private var pending: [Placement] = []
  private var pendingNames: Set<String> = []
  private var pendingBytes: Int64 = 0
  /// Files in whose place stands a folder, which may go with what left.
  private var blocked: [Int] = []
  private(set) var outcome: TreeOutcome

  fileprivate struct Placement {
    var file: TreeFile
    var digest: ContentDigest
    var folder: Folder
    var folderPath: Substring
    var leaf: String
    var form: TreeSource.Form
    var identity: FileIdentity
    /// Where it takes the place of files of ours: their rows, and what it is called before.
    var replaced: [Int64] = []
    var temporary: String?
    var row: Int64 = 0
    var temporaryRow: Int64 = 0
  }

  init(
    _ plan: TreePlan,
    tree: TreeRecord.Tree,
    in root: Folder,
    record: TreeRecord,
    objects: ObjectFolder,
    isDurable: Bool,
    isTrusting: Bool,
    isRelinking: Bool
  ) {
    self.plan = plan
    self.tree = tree
    self.record = record
    self.isDurable = isDurable
    self.isTrusting = isTrusting
    self.isRelinking = isRelinking
    folders = TreeFolders(root, record: record, tree: tree)
    source = TreeSource(objects: objects, rules: plan.rules)
    outcome = TreeOutcome(folder: plan.rules.folder)
  }

  /// Throws where nothing more can be done; what is wrong with single files is in ``outcome``.
  func fill() throws(Failure) {
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

  // MARK: One file

  private func take(_ index: Int, isLast: Bool) throws(Failure) {
    guard let file = plan.file(at: index) else { return }
    do throws(Failure) {
      try take(file, index: index, isLast: isLast)
    } catch {
      try note(error, of: file)
    }
  }

  /// A full disk is full for the next file too.
  private func note(_ failure: Failure, of file: TreeFile) throws(Failure) {
    if failure.code == .diskFull || failure.code == .unsupported { throw failure }
    outcome.troubles.append(.init(name: file.name, url: file.url, failure: failure))
  }

  private func take(_ file: TreeFile, index: Int, isLast: Bool) throws(Failure) {
    guard !pendingNames.contains(file.name) else { return }
    let rows = try record.rows(file.name, of: tree)
    guard let digest = source.digest(of: file.content) else {
      for row in rows { seen.insert(row.number) }
      return
    }
    if rows.contains(where: { seen.contains($0.number) }) { return }
    if isTrusting, rows.count == 1, rows[0].digest == digest {
      seen.insert(rows[0].number)
      return
    }
    let (folderPath, leaf) = TreeFolders.split(file.name)
    let folder = try folders.making(folderPath)
    var replaced: [Int64] = []
    if let status = try status(of: leaf, in: folder) {
      if status.kind == .folder, !isLast {
        blocked.append(index)
        return
      }
      let own = rows.first { $0.identity == FileIdentity(status) && status.kind == .file }
      if let own, own.digest == digest, !isRelinking {
        seen.insert(own.number)
        return
      }
      guard own != nil else {
        return try takeForeign(file, digest, status, leaf, in: folder, rows: rows)
      }
      replaced = rows.map(\.number)
    } else {
      try record.remove(rows.map(\.number))
    }
    let form = try source.make(file.content, in: folder)
    var placement = Placement(
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
    pendingNames.insert(file.name)
    if case .body(_, let size) = file.content { pendingBytes += size }
    if pending.count >= Self.mostPending || pendingBytes >= Self.mostPendingBytes { try flush() }
  }

  private static let mostPending = 64
  private static let mostPendingBytes: Int64 = 64 << 20

  private func status(of leaf: String, in folder: Folder) throws(Failure) -> FileStatus? {
    try folder.status(of: leaf)
  }

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
    // A second name of the object, which a lost record does not know any more.
    if case .body = file.content, let same = try? source.make(file.content, in: folder),
      case .object(let home, let name) = same, let object = try home.status(of: name),
      object.inode == status.inode, object.device == status.device
    {
      let row = try record.add(file.name, digest, FileIdentity(status), to: tree)
      seen.insert(row)
      return
    }
    guard let open = try ObjectFolder.open(leaf, in: folder),
      try ObjectFolder.digest(of: open) == digest
    else { throw Self.foreign(path, "it is not prefetch's, or was changed since") }
  }

  static func foreign(_ path: String, _ reason: String) -> Failure {
    Failure(.failed, "`\(path)` stays as it is: \(reason); move it away to have the item there")
  }

  private func identity(of form: TreeSource.Form) throws(Failure) -> FileIdentity {
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

  // MARK: Names

  /// Durable first, recorded second, named last.
  private func flush() throws(Failure) {
    guard !pending.isEmpty else { return }
    defer {
      pending = []
      pendingNames = []
      pendingBytes = 0
    }
    if isDurable, pending.contains(where: \.isMade) { try synchronize() }
    try record.transaction { () throws(Failure) in
      for index in pending.indices {
        let placement = pending[index]
        pending[index].row = try record.add(
          placement.file.name,
          placement.digest,
          placement.identity,
          to: tree
        )
        guard let temporary = placement.temporary else { continue }
        pending[index].temporaryRow = try record.add(
          placement.folderPath.isEmpty ? temporary : "\(placement.folderPath)/\(temporary)",
          placement.digest,
          placement.identity,
          to: tree
        )
      }
    }
    var stale: [Int64] = []
    for placement in pending {
      do throws(Failure) {
        try name(placement)
        seen.insert(placement.row)
        stale += placement.replaced
        outcome.placed += 1
      } catch {
        // The old file is still there, and still ours.
        for row in placement.replaced { seen.insert(row) }
        stale.append(placement.row)
        try note(error, of: placement.file)
      }
      if placement.temporary != nil { stale.append(placement.temporaryRow) }
    }
    try record.remove(stale)
  }

  func synchronize() throws(Failure) {
    try SystemCall.require("write to disk", plan.rules.folder) {
      prefetch_syncfs(folders.root.number)
    }
  }

  private func name(_ placement: Placement) throws(Failure) {
    let leaf = placement.temporary ?? placement.leaf
    let result = link(placement.form, as: leaf, in: placement.folder)
    if result == -EEXIST {
      throw Self.foreign(placement.folder.path(of: leaf), "it came while the tree was made")
    }
    if result < 0 {
      guard case .object = placement.form,
        let form = try source.instead(of: placement.digest, in: placement.folder, error: -result)
      else { throw .system(-result, "create", placement.folder.path(of: placement.leaf)) }
      // Its own number is not recorded yet; the next run finds what a kill leaves here by its bytes.
      let identity = try identity(of: form)
      let again = link(form, as: leaf, in: placement.folder)
      guard again == 0 else {
        throw .system(-again, "create", placement.folder.path(of: placement.leaf))
      }
      let row = try record.add(placement.file.name, placement.digest, identity, to: tree)
      seen.insert(row)
      try record.remove([placement.row])
    }
    guard placement.temporary != nil else { return }
    do throws(Failure) {
      try placement.folder.rename(leaf, to: placement.leaf, in: placement.folder)
    } catch {
      _ = try? placement.folder.remove(leaf)
      throw error
    }
    // A rename onto a second name of the same file leaves both.
    _ = try? placement.folder.remove(leaf)
  }

  private func link(_ form: TreeSource.Form, as leaf: String, in folder: Folder) -> Int32 {
    switch form {
    case .object(let home, let name):
      return home.link(name, to: leaf, in: folder)
    case .unnamed(let file):
      return folder.link(file, as: leaf)
    case .named(_, let home, let name):
      let result = home.link(name, to: leaf, in: folder)
      _ = try? home.remove(name)
      return result
    }
  }

  // MARK: What left

  private func removeLeft() throws(Failure) {
    folders.forgetChain()
    var number: Int64 = 0
    while true {
      let rows = try record.rows(of: tree, after: number)
      guard let last = rows.last else { return }
      number = last.number
      var gone: [Int64] = []
      for row in rows where !seen.contains(row.number) {
        try remove(row)
        gone.append(row.number)
      }
      try record.remove(gone)
    }
  }

  /// Only what is still the file that was put there; then the folders of ours that it leaves empty.
  private func remove(_ row: TreeRecord.Row) throws(Failure) {
    let (folderPath, leaf) = TreeFolders.split(row.path)
    guard let folder = try folders.existing(folderPath),
      let status = try folder.status(of: leaf), status.kind == .file,
      FileIdentity(status) == row.identity
    else { return }
    // Another row may know the file that has come in its place.
    let others = try record.rows(row.path, of: tree).filter { $0.number != row.number }
    guard !others.contains(where: { $0.identity == row.identity && seen.contains($0.number) })
    else { return }
    try folder.remove(leaf)
    outcome.removed += 1
    try removeEmptyFolders(folderPath)
  }

  private func removeEmptyFolders(_ path: Substring) throws(Failure) {
    var path = path
    while !path.isEmpty, try record.hasFolder(String(path), of: tree) {
      let (parentPath, leaf) = TreeFolders.split(String(path))
      folders.forgetChain()
      guard let parent = try folders.existing(parentPath),
        (try? parent.removeFolder(leaf)) != nil
      else { return }
      try record.removeFolder(String(path), of: tree)
      path = path.prefix(parentPath.utf8.count == 0 ? 0 : parentPath.count)
    }
  }

  /// Takes everything away that is ours.
  func empty() throws(Failure) {
    seen = []
    try removeLeft()
  }

  /// Whether every file is as it was put there.
  func isInPlace() throws(Failure) -> Bool {
    for index in plan.indices {
      guard let file = plan.file(at: index), let digest = source.digest(of: file.content) else {
        continue
      }
      let (folderPath, leaf) = TreeFolders.split(file.name)
      guard let row = try record.rows(file.name, of: tree).first(where: { $0.digest == digest }),
        let folder = try folders.existing(folderPath), let status = try folder.status(of: leaf),
        status.kind == .file, FileIdentity(status) == row.identity
      else { return false }
    }
    return true
  }
}

extension TreeFilling.Placement {
  /// Whether it brings bytes of its own to the disk.
  fileprivate var isMade: Bool {
    if case .object = form { false } else { true }
  }
}
