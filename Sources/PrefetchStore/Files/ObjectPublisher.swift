internal import CLinux
internal import Glibc
internal import PrefetchCore

struct Publication {
  let digest: ContentDigest
  let size: Int64
  let staged: StagedFile
}

/// Names bodies as objects and removes objects; the caller excludes other processes.
struct ObjectPublisher {
  let objects: ObjectFolder
  let partial: PartialFolder
  let durability: Durability
  private let folders: OpenFolders

  init(
    objects: ObjectFolder,
    partial: PartialFolder,
    durability: Durability,
    descriptors: Int
  ) {
    self.objects = objects
    self.partial = partial
    self.durability = durability
    folders = OpenFolders(in: objects.root, descriptors: descriptors)
  }

  /// Publishes bodies and returns their files; a file is durable when `isKnown` returns true.
  func publish(
    _ publications: [Publication],
    updating times: inout FolderTimes,
    isKnown: (ContentDigest) throws(Failure) -> Bool
  ) throws(Failure) -> [ContentDigest: ObjectFile] {
    var found: [ContentDigest: ObjectFile] = [:]
    found.reserveCapacity(publications.count)
    var files: [OpenFile] = []
    var changed: [Folder] = []
    var hasNewFolder = false
    for group in Self.grouped(publications, by: \.digest) {
      let prefix = group[0].digest.prefix
      let (folder, before) = try folder(prefix)
      times.willChange(prefix, changed: before)
      let fileCount = files.count
      do throws(Failure) {
        for publication in group {
          let (file, isDurable) = try install(publication, in: folder, isKnown: isKnown)
          found[publication.digest] = try file.objectFile()
          if !isDurable { files.append(file) }
        }
      } catch {
        times.didFail(prefix)
        throw error
      }
      times.didChange(prefix, changed: try folder.status().changed)
      hasNewFolder = hasNewFolder || before == FolderTimes.absent
      if files.count > fileCount {
        changed.append(folder)
      }
    }
    if hasNewFolder {
      changed.append(objects.root)
    }
    do throws(Failure) {
      try makeDurable(files, changed)
    } catch {
      // The kernel reports a lost write only once; these bodies must not count as good later.
      for publication in publications {
        publication.staged.part?.remove()
      }
      var lost: [ContentDigest] = []
      for publication in publications where (try? isKnown(publication.digest)) == false {
        lost.append(publication.digest)
      }
      try? remove(lost, updating: &times)
      throw error
    }
    return found
  }

  /// A file outside the cache that becomes an object.
  struct Source {
    let file: OpenFile
    let leaf: String
    let folder: Folder
    let mayLink: Bool
  }

  func add(
    _ source: Source,
    as digest: ContentDigest,
    updating times: inout FolderTimes
  ) throws(Failure) {
    let (folder, before) = try folder(digest.prefix)
    times.willChange(digest.prefix, changed: before)
    do throws(Failure) {
      let file = try install(source, as: digest.hexadecimal, in: folder)
      let newFolders = before == FolderTimes.absent ? [folder, objects.root] : [folder]
      try makeDurable([file], newFolders)
    } catch {
      times.didFail(digest.prefix)
      throw error
    }
    times.didChange(digest.prefix, changed: try folder.status().changed)
  }

  private func install(
    _ source: Source,
    as name: String,
    in folder: Folder
  ) throws(Failure) -> OpenFile {
    try folder.remove(name)
    let own = try partial.names()
    let temporary = RandomName.make("body-")
    let target = try own.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o444)
    do throws(Failure) {
      let isCloned =
        SystemCall.number { prefetch_clone_file(target.number, source.file.number) } == 0
      if !isCloned, source.mayLink, source.folder.link(source.leaf, to: name, in: folder) == 0 {
        try own.remove(temporary)
        guard try folder.status(of: name)?.inode == source.file.status().inode else {
          try folder.remove(name)
          throw Failure(.failed, "`\(source.file.path)` was replaced while it was read")
        }
        return source.file
      }
      if !isCloned { try source.file.copy(to: target) }
      try own.rename(temporary, to: name, in: folder)
      return target
    } catch {
      _ = try? own.remove(temporary)
      throw error
    }
  }

  /// Returns a folder and its change time; creates a folder again that was removed while open.
  private func folder(_ prefix: UInt8) throws(Failure) -> (Folder, changed: Int64) {
    for _ in 1...2 {
      let (folder, isNew) = try folders.making(prefix)
      guard !isNew else { return (folder, FolderTimes.absent) }
      let status = try folder.status()
      guard status.linkCount == 0 else { return (folder, status.changed) }
      folders.forget(prefix)
    }
    throw Failure(.disk, "`\(objects.root.path)` was removed while it was written to")
  }

  func remove(_ digests: [ContentDigest], updating times: inout FolderTimes) throws(Failure) {
    for group in Self.grouped(digests, by: \.self) {
      let prefix = group[0].prefix
      guard let folder = try objects.folder(of: prefix) else { continue }
      times.willChange(prefix, changed: try folder.status().changed)
      do throws(Failure) {
        for digest in group {
          try folder.remove(digest.hexadecimal)
        }
      } catch {
        times.didFail(prefix)
        throw error
      }
      times.didChange(prefix, changed: try folder.status().changed)
    }
  }

  private func install(
    _ publication: Publication,
    in folder: Folder,
    isKnown: (ContentDigest) throws(Failure) -> Bool
  ) throws(Failure) -> (file: OpenFile, isDurable: Bool) {
    let name = publication.digest.hexadecimal
    let result = try link(publication.staged, as: name, in: folder)
    if result == 0 {
      if let file = publication.staged.file { return (file, false) }
      return (try folder.open(name, O_RDONLY), false)
    }
    if result == -EEXIST {
      if let file = try intactFile(name, of: publication, in: folder) {
        return (file, try isKnown(publication.digest))
      }
    } else if Self.isFinal(-result) {
      throw .system(-result, "create", folder.path(of: name))
    }
    return (try replace(name, by: publication.staged, in: folder), false)
  }

  private func link(
    _ staged: StagedFile,
    as name: String,
    in folder: Folder
  ) throws(Failure) -> Int32 {
    if let stagedName = staged.name {
      return try partial.names().link(stagedName, to: name, in: folder)
    }
    try staged.part?.makeReadOnly()
    guard let file = staged.file else { return -ENOENT }
    return folder.link(file, as: name)
  }

  /// Returns an existing file if its bytes are right; a crash may have left a broken one.
  private func intactFile(
    _ name: String,
    of publication: Publication,
    in folder: Folder
  ) throws(Failure) -> OpenFile? {
    do throws(Failure) {
      guard let file = try ObjectFolder.open(name, in: folder),
        try file.status().size == publication.size
      else { return nil }
      return try ObjectFolder.digest(of: file) == publication.digest ? file : nil
    } catch {
      // An unreadable file is no good object and is replaced.
      return nil
    }
  }

  /// Replaces whatever has the name; also works on file systems without links.
  private func replace(
    _ name: String,
    by staged: StagedFile,
    in folder: Folder
  ) throws(Failure) -> OpenFile {
    let own = try partial.names()
    var temporary = RandomName.make("body-")
    if let stagedName = staged.name {
      temporary = stagedName
    } else if let file = staged.file, own.link(file, as: temporary) != 0 {
      try copy(file, to: temporary, in: own)
    }
    if try folder.status(of: name)?.kind == .folder {
      try? folder.removeFolder(name)
    }
    try own.rename(temporary, to: name, in: folder)
    return try folder.open(name, O_RDONLY)
  }

  private func copy(_ file: OpenFile, to name: String, in folder: Folder) throws(Failure) {
    let target = try folder.open(name, O_WRONLY | O_CREAT | O_EXCL, mode: 0o444)
    try file.copy(to: target)
    try target.close()
  }

  private func makeDurable(_ files: [OpenFile], _ folders: [Folder]) throws(Failure) {
    guard !files.isEmpty, durability != .none else { return }
    if durability == .batch, files.count > Self.mostSingleFlushes {
      return try objects.root.synchronizeFileSystem()
    }
    for file in files {
      try file.synchronize()
    }
    for folder in folders {
      try folder.synchronize()
    }
  }

  /// Returns whether the error would also meet another way of naming the file.
  private static func isFinal(_ error: Int32) -> Bool {
    [ENOSPC, EDQUOT, EROFS, EIO, EACCES, ENOMEM].contains(error)
  }

  private static func grouped<Element>(
    _ elements: [Element],
    by digest: (Element) -> ContentDigest
  ) -> [[Element]] {
    var groups = [[Element]](repeating: [], count: 256)
    for element in elements { groups[Int(digest(element).prefix)].append(element) }
    return groups.filter { !$0.isEmpty }
  }

  /// Up to this number, single flushes are cheaper than one of the file system.
  private static let mostSingleFlushes = 8
}
