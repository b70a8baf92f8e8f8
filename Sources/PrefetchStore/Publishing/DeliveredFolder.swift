internal import Glibc
package import PrefetchCore

/// Folder that receives copies of bodies under names from publishers; nothing is written outside.
///
/// No link below the folder is followed: in place of a folder it is refused, in place of a file
/// replaced. Files become durable before they get names, so that no name shows an incomplete file.
package final class DeliveredFolder {
  private struct Copy {
    var form: TreeSource.Form
    var file: OpenFile
    var folder: Folder
    var name: String
  }

  private let root: Folder
  private let device: UInt64
  private let source: TreeSource
  private let store: DiskStore
  private let durability: Durability
  private var folders: [URLKey: Folder] = [:]
  private var pending: [Copy] = []
  private var pendingBytes: Int64 = 0
  /// Whether a pending file is on a file system mounted below the root.
  private var hasElsewhere = false
  /// Whether a power cut could still remove new names.
  private var hasNewNames = false

  package init(at path: String, of store: DiskStore, durability: Durability) throws(Failure) {
    var rules = PublishingRules(folder: path)
    // The user may change a delivered file, and the stored body must not change with it.
    rules.link = .copy
    root = try Folder.making(path)
    device = try root.status().device
    source = TreeSource(objects: store.layers, rules: rules, heedsMask: true) { false }
    self.store = store
    self.durability = durability
  }

  /// Delivers a file, durable after ``finish()``; returns false when its bytes are lost or damaged.
  package func deliver(
    _ digest: ContentDigest,
    size: Int64,
    as path: String
  ) throws(Failure) -> Bool {
    let parts = PathText.components(of: path).map(String.init)
    let isSafe = parts.allSatisfy { !["", ".", ".."].contains($0) && !$0.utf8.contains(0) }
    guard isSafe, let name = parts.last else {
      throw Failure(.unsafeName, "the name `\(path)` would leave `\(root.path)`")
    }
    let folder = try folder(parts.dropLast(), for: path)
    if let status = try folder.status(of: name) {
      guard status.kind != .folder else { throw .system(EISDIR, "write", folder.path(of: name)) }
      // A hard link to the stored body is not the user's own file.
      let isLink = status.linkCount > 1 && source.isLink(status, to: .body(digest, size: size))
      if status.kind == .file, status.size == size, !isLink, isBody(digest, name, in: folder) {
        return true
      }
    }
    guard try store.intactObject(digest) != nil else { return false }
    let form: TreeSource.Form
    do throws(Failure) {
      form = try source.make(.body(digest, size: size), in: folder)
    } catch {
      // Another process may have removed the body just now.
      guard error.code == .storeDamaged else { throw error }
      return false
    }
    guard let file = form.file else { return true }
    pending.append(Copy(form: form, file: file, folder: folder, name: name))
    pendingBytes += size
    if try file.status().device != device { hasElsewhere = true }
    if pending.count >= TreeFilling.mostPending || pendingBytes >= TreeFilling.mostPendingBytes {
      try flush()
    }
    return true
  }

  private func isBody(_ digest: ContentDigest, _ name: String, in folder: Folder) -> Bool {
    guard let file = (try? ObjectFolder.open(name, in: folder)) ?? nil else { return false }
    return (try? ObjectFolder.digest(of: file)) == digest
  }

  package func finish() throws(Failure) {
    try flush()
    guard hasNewNames else { return }
    hasNewNames = false
    try root.synchronizeFileSystem()
  }

  private func folder(
    _ parts: ArraySlice<String>,
    for path: String
  ) throws(Failure) -> Folder {
    guard !parts.isEmpty else { return root }
    // Keyed by bytes, as the file system compares names.
    let key = URLKey(parts.joined(separator: "/"))
    if let known = folders[key] { return known }
    var folder = root
    for part in parts {
      if let kind = try folder.status(of: part)?.kind, kind != .folder {
        throw Failure(
          .unsafeName,
          "`\(root.path)/\(path)` would be written through what is a link or no folder"
        )
      }
      folder = try folder.makingFolder(part, mode: 0o777).0
    }
    if folders.count >= 32 { folders = [:] }
    folders[key] = folder
    return folder
  }

  private func flush() throws(Failure) {
    guard !pending.isEmpty else { return }
    defer {
      for copy in pending { copy.form.discard() }
      pending = []
      pendingBytes = 0
      hasElsewhere = false
    }
    // Up to this number, single flushes are cheaper and disturb no other program.
    let isSingle = durability == .each || pending.count <= 8 || hasElsewhere
    if isSingle {
      for copy in pending { try copy.file.synchronize() }
    } else {
      try root.synchronizeFileSystem()
    }
    for copy in pending { try copy.form.install(as: copy.name, in: copy.folder) }
    guard isSingle else {
      hasNewNames = true
      return
    }
    for (position, copy) in pending.enumerated()
    where position == 0 || copy.folder !== pending[position - 1].folder {
      // Some file systems cannot flush a folder; the file is durable anyway.
      try? copy.folder.synchronize()
    }
  }
}
