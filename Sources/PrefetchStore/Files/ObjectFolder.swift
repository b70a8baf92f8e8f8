internal import Glibc
internal import PrefetchCore
internal import PrefetchCrypto

/// `CACHE/objects/sha256`: complete bodies, named by their digests.
struct ObjectFolder {
  let root: Folder

  func open(_ digest: ContentDigest) throws(Failure) -> OpenFile? {
    guard let folder = try folder(of: digest.prefix) else { return nil }
    return try Self.open(digest.hexadecimal, in: folder)
  }

  func folder(of prefix: UInt8) throws(Failure) -> Folder? {
    try root.folder(Self.name(of: prefix))
  }

  func changed(_ prefix: UInt8) throws(Failure) -> Int64 {
    try root.status(of: Self.name(of: prefix))?.changed ?? FolderTimes.absent
  }

  func digests(in prefix: UInt8) throws(Failure) -> Set<ContentDigest> {
    guard let folder = try folder(of: prefix) else { return [] }
    var found: Set<ContentDigest> = []
    for name in try folder.names() where name.utf8.count == 64 {
      guard let digest = ContentDigest(name), digest.prefix == prefix else { continue }
      found.insert(digest)
    }
    return found
  }

  static func name(of prefix: UInt8) -> String {
    Hexadecimal.encode([prefix])
  }

  static func open(_ name: String, in folder: Folder) throws(Failure) -> OpenFile? {
    // Without O_NONBLOCK, opening a pipe would wait for its writer.
    let number = folder.openNumber(name, O_RDONLY | O_NONBLOCK)
    guard number != -ENOENT else { return nil }
    guard number != -ELOOP else { throw notFile(folder.path(of: name)) }
    guard number >= 0 else { throw .system(-number, "open", folder.path(of: name)) }
    let file = OpenFile(owning: number, path: folder.path(of: name))
    guard try file.status().kind == .file else { throw notFile(file.path) }
    return file
  }

  private static func notFile(_ path: String) -> Failure {
    Failure(.storeDamaged, "`\(path)` is not a file")
  }

  static func digest(
    of file: OpenFile,
    isCancelled: () -> Bool = { false }
  ) throws(Failure) -> ContentDigest {
    let hasher = try BodyHasher()
    var buffer = try file.buffer
    var offset: Int64 = 0
    while true {
      let count = try file.read(into: &buffer, at: offset)
      guard count > 0 else { return hasher.finish().sha256 }
      guard !isCancelled() else {
        throw Failure(.cancelled, "stopped while reading `\(file.path)`")
      }
      unsafe hasher.update(buffer.span.extracting(first: count).bytes)
      offset += Int64(count)
    }
  }
}

extension ContentDigest {
  var prefix: UInt8 {
    firstByte
  }
}
