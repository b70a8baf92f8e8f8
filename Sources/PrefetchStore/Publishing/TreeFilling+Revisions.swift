internal import PrefetchCore

/// Revisions in the cache of a hub: the switch between them, and the earlier ones that stay.
extension TreeFilling {
  /// Names of earlier revisions that stay.
  struct KeptRevisions {
    fileprivate var layout: HubLayout?
    fileprivate var commits: Set<String> = []
    fileprivate var blobs: Set<String> = []

    func holds(_ name: String) -> Bool {
      guard let layout else { return false }
      return layout.commit(ofFile: name).map(commits.contains) ?? blobs.contains(name)
    }
  }

  /// Replaces the file that names the current commit, once all files of the commit are there.
  ///
  /// The hub's tools write this file as well, so that its content alone identifies it.
  func switchReaders(to file: TreeFile) throws(Failure) {
    let rows = try record.rows(file.name, of: tree)
    guard case .bytes(let bytes) = file.content, outcome.troubles.isEmpty,
      let digest = source.digest(of: file.content)
    else {
      for row in rows { seen.insert(row.number) }
      return
    }
    folders.forgetChain()
    let (path, leaf) = PathText.split(file.name)
    recordHome(path)
    let folder = try folders.making(path)
    let identity = FileIdentity.content(size: bytes.count)
    if let status = try folder.status(of: leaf) {
      let spot = TreeSpot(folder: folder, leaf: leaf, status: status)
      guard status.kind == .file else { return try recordFailure(Self.noFile(spot), of: file) }
      // A reference that the hub's tools have moved since is theirs, until the next revision.
      if let row = rows.first(where: { $0.digest == digest }) {
        seen.insert(row.number)
        return
      }
      if try isBody(digest, spot) {
        seen.insert(try record.add(file.name, digest, identity, birth: 0, to: tree))
        return try record.remove(rows.map(\.number))
      }
    }
    // After a power cut the file must not name a commit whose files are lost.
    if options.isDurable { try folders.root.synchronizeFileSystem() }
    let form = try source.make(file.content, in: folder)
    let temporary = RandomName.make(TreeName.temporaryPrefix)
    let draft = try record.add("\(path)/\(temporary)", digest, identity, birth: 0, to: tree)
    let result = form.link(as: temporary, in: folder)
    guard result == 0 else { throw .system(-result, "create", folder.path(of: leaf)) }
    try folder.rename(temporary, to: leaf, in: folder)
    // Recorded only now: a row of this commit says that readers were led to it.
    seen.insert(try record.add(file.name, digest, identity, birth: 0, to: tree))
    try record.remove(rows.map(\.number) + [draft])
    outcome.created += 1
  }

  /// Returns the revisions other than the plan's that stay: the one that readers are led to, and the newest.
  func keptRevisions() throws(Failure) -> KeptRevisions {
    guard let layout = plan.rules.hub else { return KeptRevisions() }
    var newest: [String: Int64] = [:]
    try forEachRow { row in
      if let commit = layout.commit(ofFile: row.path) { newest[commit] = row.number }
    }
    if let commit = plan.commit { newest[commit] = nil }
    var kept = KeptRevisions(layout: layout)
    if let current = try currentCommit(layout), newest.removeValue(forKey: current) != nil {
      kept.commits.insert(current)
    }
    let rest = max(0, plan.rules.keptGenerations - kept.commits.count)
    kept.commits.formUnion(newest.sorted { $0.value > $1.value }.prefix(rest).map(\.key))
    guard !kept.commits.isEmpty else { return KeptRevisions() }
    var linked: [TreeRecord.Row] = []
    try forEachRow { row in
      if layout.commit(ofFile: row.path).map(kept.commits.contains) == true { linked.append(row) }
    }
    for row in linked {
      guard let spot = try folders.spot(of: row),
        let target = try spot.folder.target(of: spot.leaf)
      else { continue }
      kept.blobs.insert("\(layout.blobs)/\(PathText.split(target).leaf)")
    }
    return kept
  }

  private func currentCommit(_ layout: HubLayout) throws(Failure) -> String? {
    guard let name = layout.reference else { return nil }
    let (path, leaf) = PathText.split(name)
    guard let folder = try folders.existing(path),
      let file = (try? ObjectFolder.open(leaf, in: folder)) ?? nil
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = (try? file.read(into: &bytes, at: 0)) ?? 0
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  private func forEachRow(_ body: (TreeRecord.Row) -> Void) throws(Failure) {
    var number: Int64 = 0
    while true {
      let rows = try record.rows(of: tree, after: number)
      guard let last = rows.last else { return }
      number = last.number
      for row in rows { body(row) }
    }
  }
}
