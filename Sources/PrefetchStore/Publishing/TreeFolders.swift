internal import Glibc
internal import PrefetchCore

/// Folders of one tree, opened component by component, so that no link is followed.
final class TreeFolders {
  let root: Folder
  let record: TreeRecord
  let tree: TreeRecord.Tree
  /// Chain of the last opened folders; names mostly come sorted by folder.
  private var chain: [(name: Substring, folder: Folder)] = []

  init(_ root: Folder, record: TreeRecord, tree: TreeRecord.Tree) {
    self.root = root
    self.record = record
    self.tree = tree
  }

  /// Opens a folder and makes it where it is missing; removes a published file in the way.
  func making(_ path: Substring) throws(Failure) -> Folder {
    guard let folder = try open(path, isMaking: true) else {
      throw .system(ENOENT, "create", "\(root.path)/\(path)")
    }
    return folder
  }

  func existing(_ path: Substring) throws(Failure) -> Folder? {
    try open(path, isMaking: false)
  }

  func forgetChain() {
    chain = []
  }

  private func open(_ path: Substring, isMaking: Bool) throws(Failure) -> Folder? {
    let components = path.isEmpty ? [] : PathText.components(of: path)
    var depth = 0
    while depth < min(chain.count, components.count),
      chain[depth].name.utf8.elementsEqual(components[depth].utf8)
    {
      depth += 1
    }
    chain.removeSubrange(depth...)
    var folder = chain.last?.folder ?? root
    for component in components[depth...] {
      let folderPath = components[..<(chain.count + 1)].joined(separator: "/")
      guard let next = try step(String(component), in: folder, folderPath, isMaking: isMaking)
      else {
        return nil
      }
      chain.append((component, next))
      folder = next
    }
    return folder
  }

  private func step(
    _ name: String,
    in folder: Folder,
    _ folderPath: String,
    isMaking: Bool
  ) throws(Failure) -> Folder? {
    guard let status = try folder.status(of: name) else {
      return isMaking ? try make(name, in: folder, folderPath) : nil
    }
    if status.kind == .folder, let next = try folder.folder(name) { return next }
    guard isMaking else { return nil }
    let isOwn = try record.rows(folderPath, of: tree).contains {
      $0.identity == FileIdentity(status)
    }
    if isOwn, status.kind == .file {
      try folder.remove(name)
      return try make(name, in: folder, folderPath)
    }
    throw Self.obstacle(status, at: folder.path(of: name))
  }

  static func obstacle(_ status: FileStatus, at path: String) -> Failure {
    status.kind == .link
      ? Failure(.unsafeName, "`\(path)` is a symbolic link to a place outside the tree")
      : TreeFilling.foreign(path, "it is in the place of a folder")
  }

  private func make(
    _ name: String,
    in folder: Folder,
    _ folderPath: String
  ) throws(Failure) -> Folder {
    try record.addFolder(folderPath, to: tree)
    let (made, isNew) = try folder.makingFolder(name)
    if !isNew { try record.removeFolder(folderPath, of: tree) }
    return made
  }
}
