/// Names in the cache folder of a hub's own tools, in which models, data sets and spaces have folders.
package struct HubLayout: Hashable, Sendable {
  /// Folder of the repository, such as `models--ORG--NAME`.
  package let folder: String
  /// File that names the current commit of a branch or tag; nil for a commit by itself.
  package let reference: String?

  package init(_ repository: HubRepository) {
    folder = ([repository.kind.rawValue] + repository.names).joined(separator: "--")
    let revision = repository.revision
    let name = "\(folder)/refs/\(revision)"
    let isNamed =
      !HubRepository.isCommit(revision) && TreeName.objection(to: name, below: "") == nil
    reference = isNamed ? name : nil
  }

  package var snapshots: String { "\(folder)/snapshots" }
  package var blobs: String { "\(folder)/blobs" }

  func snapshot(of commit: String, _ path: String) -> String {
    "\(snapshots)/\(commit)/\(path)"
  }

  /// Returns the name of an entry's body: that of its git blob, or the SHA-256 of a large file.
  func blob(of entry: ManifestEntry, _ body: ContentDigest?) -> String? {
    // Small files come first, since a lock file gives them digests of its own.
    if let revision = entry.revision, HubRepository.isCommit(revision) {
      return "\(blobs)/\(revision)"
    }
    if let declared = entry.digests.first(where: { $0.algorithm == .sha256 }) {
      return "\(blobs)/\(Hexadecimal.encode(declared.bytes))"
    }
    return body.map { "\(blobs)/\($0.hexadecimal)" }
  }

  /// Returns the text of the link from a snapshot's file to its body.
  static func target(of path: String, blob: String) -> String {
    let depth = path.utf8.count { $0 == PathText.slash } + 2
    return String(repeating: "../", count: depth) + "blobs/\(PathText.split(blob).leaf)"
  }

  /// Returns the commit in the address of a file; nil for the address of anything else.
  static func commit(of url: WebURL) -> String? {
    let parts = url.path.split(separator: "/")
    return parts.indices.dropLast(2).lazy.filter { parts[$0] == "resolve" }
      .map { String(parts[$0 + 1]) }.first(where: HubRepository.isCommit)
  }

  /// Returns the commit of a snapshot's file; nil for the name of any other file.
  package func commit(ofFile name: String) -> String? {
    PathText.rest(of: name, after: snapshots + "/").flatMap { rest in
      PathText.components(of: rest).first.map(String.init)
    }
  }
}

extension TreePlan {
  /// Number of files beyond the bodies: a link for each item, and the file that names the commit.
  var hubFileCount: Int { rules.hub == nil ? 0 : entryCount + 1 }

  /// Whether a file switches readers to the plan's files, so that it comes after all of them.
  package func isSwitch(_ index: Int) -> Bool {
    rules.hub != nil && index == indices.upperBound - 1
  }

  /// Commit of all items; nil if they are of several, as in a lock file that was edited.
  package var commit: String? {
    guard entryCount > 0, let first = HubLayout.commit(of: plannedEntry(at: 0).url) else {
      return nil
    }
    let isCommon = (1..<entryCount).allSatisfy { position in
      HubLayout.commit(of: plannedEntry(at: position).url) == first
    }
    return isCommon ? first : nil
  }

  func hubFile(_ number: Int) -> TreeFile? {
    guard let hub = rules.hub else { return nil }
    guard number < entryCount else {
      guard let name = hub.reference, let commit else { return nil }
      return TreeFile(name: name, content: isWhole ? .bytes(Array(commit.utf8)) : .absent)
    }
    guard let blob = file(at: number), let url = blob.url,
      let commit = HubLayout.commit(of: plannedEntry(at: number).url),
      let path = plannedEntry(at: number).path
    else { return nil }
    let content: TreeFile.Content =
      if case .body = blob.content {
        .link(HubLayout.target(of: path, blob: blob.name))
      } else {
        .absent
      }
    return TreeFile(name: hub.snapshot(of: commit, path), content: content, url: url)
  }
}
