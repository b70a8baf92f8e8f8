internal import Glibc
package import PrefetchCore

/// Finds files of the user that could be adopted, and changes nothing; for dry runs.
package struct AdoptionLook: FileAdopter {
  let isCancelled: () -> Bool

  package init(isCancelled: @escaping () -> Bool = { false }) {
    self.isCancelled = isCancelled
  }

  package func adopt(_ wanted: AdoptableFile) throws(Failure) -> FoundBody? {
    try find(wanted)?.body
  }

  struct Find {
    var file: OpenFile
    var spot: TreeSpot
    /// Body without a digest when only the size was compared.
    var body: FoundBody
  }

  func find(_ wanted: AdoptableFile) throws(Failure) -> Find? {
    guard let spot = try adoptable(wanted),
      let file = try ObjectFolder.open(spot.leaf, in: spot.folder)
    else { return nil }
    let status = try file.status()
    guard status.isSameFile(as: spot.status), status.isAdoptable else { return nil }
    let second: Int64 = 1_000_000_000
    let modified = Instant(seconds: status.modified / second)
    guard wanted.size.map({ $0 == status.size }) ?? true,
      wanted.limit.map({ status.size <= $0 }) ?? true,
      wanted.modified.map({ $0 == modified }) ?? true
    else { return nil }
    var found = FoundBody(digest: nil, size: status.size)
    found.modified = modified
    if !wanted.digests.isEmpty || wanted.modified != nil {
      let body = try file.hashed(by: Set(wanted.digests.map(\.algorithm)), isCancelled)
      guard body.hasAll(wanted.digests) else { return nil }
      found.digest = body.digest
      found.otherDigests = body.otherDigests
    }
    return Find(
      file: file,
      spot: TreeSpot(folder: spot.folder, leaf: spot.leaf, status: status),
      body: found
    )
  }

  /// Returns the user's regular file at the place, unless a link leads there or a tree is atomic.
  private func adoptable(_ wanted: AdoptableFile) throws(Failure) -> TreeSpot? {
    guard !wanted.rules.isAtomic, let location = try TreeLocation.existing(wanted.rules.folder),
      let root = try location.root(of: 0)
    else { return nil }
    let (path, leaf) = PathText.split(wanted.name)
    var folder = root
    for name in path.isEmpty ? [] : PathText.components(of: path) {
      guard try folder.status(of: String(name))?.kind == .folder,
        let next = try folder.folder(String(name))
      else { return nil }
      folder = next
    }
    guard let status = try folder.status(of: leaf), status.isAdoptable else { return nil }
    return TreeSpot(folder: folder, leaf: leaf, status: status)
  }
}

extension PublishedTrees {
  package func adopt(_ wanted: AdoptableFile) throws(Failure) -> FoundBody? {
    guard let find = try AdoptionLook(isCancelled: isCancelled).find(wanted) else { return nil }
    guard let digest = find.body.digest else { return find.body }
    let isAdopted = try store.adopt(
      find.file,
      find.spot.status,
      named: find.spot.leaf,
      in: find.spot.folder,
      as: digest,
      mayLink: Self.mayLink(wanted.rules)
    )
    return isAdopted ? find.body : nil
  }

  private static func mayLink(_ rules: PublishingRules) -> Bool {
    !rules.needsOwnFiles && !rules.layout.isWrittenByTools
      && [.auto, .hardlink].contains(rules.link)
  }
}

extension FileStatus {
  var isAdoptable: Bool {
    kind == .file && linkCount == 1 && isOwn
  }

  var isOwn: Bool { owner == geteuid() }
}

extension StagedBody {
  func hasAll(_ digests: [ExpectedDigest]) -> Bool {
    let groups = Dictionary(grouping: digests, by: \.algorithm)
    return groups.values.allSatisfy { $0.contains(where: matches) }
  }
}
