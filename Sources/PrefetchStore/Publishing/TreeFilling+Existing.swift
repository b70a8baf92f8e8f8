internal import PrefetchCore

/// Handling of names in use: by an unchanged published file, a changed one, or a foreign file.
extension TreeFilling {
  func isSettled(
    _ spot: TreeSpot,
    _ file: TreeFile,
    _ digest: ContentDigest,
    _ rows: [TreeRecord.Row]
  ) throws(Failure) -> Bool {
    if let own = try published(rows, at: spot) {
      if spot.isUnchanged(since: own) {
        guard own.digest == digest, !options.isRelinking else { return false }
        guard try !isLeftover(spot, file, digest) else {
          recordRepair("\(Self.changed(spot)), and is replaced", on: file)
          return false
        }
        guard let number = try dated(own, file, spot) else { return false }
        source.restoreMode(spot, of: file.content)
        seen.insert(number)
        return true
      }
      guard try isAsWanted(spot, file, digest, was: own.digest) else { return false }
      seen.insert(try record.add(file.name, digest, spot.identity, birth: own.birth, to: tree))
      try record.remove(rows.map(\.number))
      return true
    }
    guard let claim = try claim(on: file.name, spot) else {
      try keepForeign(spot, file, digest, rows)
      return true
    }
    guard claim.row.digest == digest else {
      try record.remove(rows.map(\.number))
      throw Self.taken(spot, by: claim.neighbour)
    }
    if claim.row.identity != spot.identity {
      guard try isAsWanted(spot, file, digest, was: claim.row.digest) else { return false }
    }
    try adopt(spot, file, digest, rows)
    return true
  }

  /// Returns the row of the file that was published here: the file itself, or a copy of it that
  /// came back from a backup, which has its bytes and, in the recorded folder, its time.
  func published(
    _ rows: [TreeRecord.Row],
    at spot: TreeSpot
  ) throws(Failure) -> TreeRecord.Row? {
    if let row = rows.first(where: spot.isFile) { return row }
    guard spot.status.kind == .file else { return nil }
    for var row in rows where spot.status.size == row.identity.size {
      guard isMoved || spot.hasTime(of: row), try isBody(row.digest, spot) else { continue }
      row.identity = spot.identity
      row.birth = spot.folder.birth(of: spot.leaf)
      try record.renew([row])
      return row
    }
    return nil
  }

  private func adopt(
    _ spot: TreeSpot,
    _ file: TreeFile,
    _ digest: ContentDigest,
    _ rows: [TreeRecord.Row]
  ) throws(Failure) {
    try record.remove(rows.map(\.number))
    let birth = spot.folder.birth(of: spot.leaf)
    var number = try record.add(file.name, digest, spot.identity, birth: birth, to: tree)
    let row = try record.rows(file.name, of: tree).first { $0.number == number }
    if let row, let dated = try dated(row, file, spot) { number = dated }
    source.restoreMode(spot, of: file.content)
    seen.insert(number)
  }

  private func keepForeign(
    _ spot: TreeSpot,
    _ file: TreeFile,
    _ digest: ContentDigest,
    _ rows: [TreeRecord.Row]
  ) throws(Failure) {
    // A hard link to the object was published, though a lost record does not say so.
    if source.isLink(spot.status, to: file.content) { return try adopt(spot, file, digest, rows) }
    do throws(Failure) {
      if case .link(let target) = file.content, try spot.folder.target(of: spot.leaf) == target {
        try record.remove(rows.map(\.number))
        guard plan.rules.adopts else { return try recordForeign(file, digest, spot) }
        let identity = FileIdentity.content(size: target.utf8.count)
        seen.insert(try record.add(file.name, digest, identity, birth: 0, to: tree))
        return
      }
      guard spot.status.kind == .file else { throw Self.noFile(spot) }
      guard try isBody(digest, spot) else { throw Self.foreign(spot) }
      if plan.rules.adopts, spot.status.isAdoptable {
        return try adopt(spot, file, digest, rows)
      }
      try record.remove(rows.map(\.number))
      foreign.addServing(spot, adopts: plan.rules.adopts, replaces: !rows.isEmpty)
      try recordForeign(file, digest, spot)
    } catch {
      try keepForeign(file)
      // The rows stay, so that the absence of the published file can be reported.
      for row in rows { seen.insert(row.number) }
      throw error
    }
  }

  /// Records a foreign file that serves, so that it can be named when the list drops its item.
  private func recordForeign(
    _ file: TreeFile,
    _ digest: ContentDigest,
    _ spot: TreeSpot
  ) throws(Failure) {
    let known = try record.rows(file.name, of: tree.foreign)
    if known.count == 1, spot.isUnchanged(since: known[0]), known[0].digest == digest {
      seen.insert(known[0].number)
      return
    }
    try record.remove(known.map(\.number))
    let identity = spot.status.kind == .link ? .content(size: 0) : spot.identity
    seen.insert(try record.add(file.name, digest, identity, birth: 0, to: tree.foreign))
  }

  func keepForeign(_ file: TreeFile) throws(Failure) {
    for row in try record.rows(file.name, of: tree.foreign) { seen.insert(row.number) }
  }

  func claim(
    on name: String,
    _ spot: TreeSpot
  ) throws(Failure) -> (neighbour: TreeNeighbour, row: TreeRecord.Row)? {
    try neighbours.claim(on: name, spot, record)
  }

  // MARK: Written through

  /// Reports a changed file; returns whether its bytes are the wanted ones and the file stays.
  private func isAsWanted(
    _ spot: TreeSpot,
    _ file: TreeFile,
    _ digest: ContentDigest,
    was old: ContentDigest
  ) throws(Failure) -> Bool {
    let isSound = try isBody(old, spot)
    if isSound, old == digest, !options.isRelinking {
      recordRepair("\(Self.changed(spot)), though its bytes are right", on: file)
      return true
    }
    if !isSound, source.isLink(spot.status, to: .body(old, size: 0)),
      try !source.isIntact(old, options.isCancelled)
    {
      damaged.insert(old)
    }
    if case .body = file.content, try !source.isIntact(digest, options.isCancelled) {
      damaged.insert(digest)
      try spot.folder.remove(spot.leaf)
      throw Failure(
        .storeDamaged,
        "\(Self.changed(spot)), and with it the stored body: both are dropped, and the next run fetches it again"
      )
    }
    recordRepair("\(Self.changed(spot)), and is replaced", on: file)
    return false
  }

  /// Returns whether the file has old bytes of a body that was damaged and fetched again.
  private func isLeftover(
    _ spot: TreeSpot,
    _ file: TreeFile,
    _ digest: ContentDigest
  ) throws(Failure) -> Bool {
    // A symbolic link has no bytes; its target was compared before.
    if case .link = file.content { return false }
    guard plan.isFresh(file), !source.isLink(spot.status, to: file.content) else { return false }
    return try !isBody(digest, spot)
  }

  static func changed(_ spot: TreeSpot) -> String {
    "`\(spot.path)` was changed in its place after it was published"
  }

  private func recordRepair(_ message: String, on file: TreeFile) {
    var trouble = TreeOutcome.Trouble(
      name: file.name,
      url: file.url,
      failure: Failure(.storeDamaged, message)
    )
    trouble.isMended = true
    mended.append(trouble)
  }

  func isBody(_ digest: ContentDigest, _ spot: TreeSpot) throws(Failure) -> Bool {
    do throws(Failure) {
      guard let open = try ObjectFolder.open(spot.leaf, in: spot.folder) else { return false }
      return try ObjectFolder.digest(of: open, isCancelled: options.isCancelled) == digest
    } catch {
      if error.code == .cancelled { throw error }
      return false
    }
  }

  /// Rehashes a body whose link in the previous tree has changed: a program may have written to it.
  func heedPast(_ placement: TreePlacement) throws(Failure) {
    guard case .object = placement.form else { return }
    var isSuspect = false
    if case .body(_, let size) = placement.file.content {
      isSuspect = placement.identity.size != size
    }
    if let past {
      let known = try record.rows(placement.file.name, of: past)
      isSuspect =
        isSuspect
        || known.contains { row in
          row.digest == placement.digest && row.identity.inode == placement.identity.inode
            && row.identity != placement.identity
        }
    }
    guard isSuspect, try !source.isIntact(placement.digest, options.isCancelled) else { return }
    damaged.insert(placement.digest)
    throw Failure(
      .storeDamaged,
      "the stored body of `\(placement.file.name)` was changed through a tree that links it: it is dropped, and the next run fetches it again"
    )
  }

  // MARK: Looking only

  func isInPlace() throws(Failure) -> Bool {
    var isInPlace = true
    for index in plan.indices {
      guard let file = plan.file(at: index), let digest = source.digest(of: file.content) else {
        continue
      }
      recordHome(PathText.split(file.name).folder)
      let rows = try record.rows(file.name, of: tree).filter { $0.digest == digest }
      guard let first = rows.first, let spot = try folders.spot(of: first),
        let row = try published(rows, at: spot)
      else {
        isInPlace = false
        continue
      }
      if spot.isUnchanged(since: row) {
        if plan.isThorough { source.restoreMode(spot, of: file.content) }
        continue
      }
      isInPlace = false
      try nameChanged(spot, file, digest)
    }
    return isInPlace
  }

  /// Reports a changed file of an atomic tree, which stays until another tree replaces it.
  private func nameChanged(
    _ spot: TreeSpot,
    _ file: TreeFile,
    _ digest: ContentDigest
  ) throws(Failure) {
    guard case .body = file.content, try !source.isIntact(digest, options.isCancelled) else {
      return recordRepair("\(Self.changed(spot)), and is replaced", on: file)
    }
    damaged.insert(digest)
    let failure = Failure(
      .storeDamaged,
      "\(Self.changed(spot)), and with it the stored body, which is dropped: the next run fetches it again"
    )
    outcome.troubles.append(.init(name: file.name, url: file.url, failure: failure))
  }
}
