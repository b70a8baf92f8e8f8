internal import PrefetchCore
internal import PrefetchDocuments

/// Reads a revision of a hub's repository, which names its commit, and the tree of that commit.
enum HubList {
  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    let root = try NativeManifest.parse(unsafe bytes.withUnsafeBytes { unsafe Array($0) })
    guard let repository = (source.address ?? source.base).flatMap(HubRepository.init(api:)) else {
      throw root.invalid(
        "the address of the list names no revision of a repository, as `…/api/models/ORG/NAME/revision/REV` does"
      )
    }
    if source.documentRole == .hubTree { return try tree(root, of: repository, source) }
    guard root.mapping != nil else {
      throw root.invalid("a revision must be an object, not \(root.kindName)")
    }
    guard let commit = root.member("sha")?.text, HubRepository.isCommit(commit),
      let tree = repository.tree(of: commit)
    else { throw root.invalid("a revision names its commit in `sha`; this has none") }
    var draft = ManifestDraft()
    draft.add(FurtherDocument(url: tree, kind: .hubTree))
    return try draft.finished()
  }

  private static func tree(
    _ root: Node,
    of repository: HubRepository,
    _ source: ManifestSource
  ) throws(Failure) -> Manifest {
    guard let nodes = root.sequence else {
      throw root.invalid("the files of a commit must be a list, not \(root.kindName)")
    }
    if let surplus = ManifestBounds.surplus(items: nodes.count, bytes: 0) {
      throw root.invalid(surplus)
    }
    var draft = ManifestDraft()
    for node in nodes where node.member("type")?.text != "directory" {
      do throws(Failure) {
        draft.add(try entry(node, of: repository))
      } catch {
        draft.reject(node.member("path")?.text ?? "", error)
      }
    }
    if let page = source.page, case .next = page.link,
      let next = try page.next(after: nodes.count, from: source.address ?? page.url)
    {
      draft.add(FurtherDocument(url: next, kind: .hubTree))
    }
    return try draft.finished(asFurtherDocument: true)
  }

  private static func entry(
    _ node: Node,
    of repository: HubRepository
  ) throws(Failure) -> ManifestEntry {
    guard let path = node.member("path")?.text, !path.isEmpty else {
      throw node.invalid("a file has a `path`")
    }
    guard PublishedName.isSafe(path) else { throw PublishedName.objection(to: path) }
    guard let url = repository.file(path, in: repository.revision) else {
      throw node.invalid("the address of `\(TreeName.visible(path))` is too long")
    }
    var entry = ManifestEntry(url: url)
    entry.path = path
    entry.size = node.member("size")?.integer.flatMap { $0 >= 0 ? $0 : nil }
    entry.lifetime = .immutable
    if let large = node.member("lfs") {
      let text = large.member("oid")?.text ?? ""
      guard let digest = DigestText.decode(text, algorithm: .sha256) else {
        throw large.invalid("`oid` of a large file holds no SHA-256 in hexadecimal digits")
      }
      entry.digests = [digest]
      entry.size = large.member("size")?.integer.flatMap { $0 >= 0 ? $0 : nil } ?? entry.size
    } else if let blob = node.member("oid")?.text, HubRepository.isCommit(blob) {
      entry.revision = blob
    }
    return entry
  }
}
