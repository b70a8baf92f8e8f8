internal import Glibc
package import PrefetchCore

/// Bodies of a cache and of its lower caches, which are only read.
struct ObjectLayers: Sendable {
  /// Bodies of the cache itself; nil in a reading store whose cache has no objects.
  let own: ObjectFolder?
  var lower: [ObjectFolder] = []

  /// Opens a body; an unreadable lower cache counts as empty.
  func open(_ digest: ContentDigest) throws(Failure) -> OpenFile? {
    if let file = try own?.open(digest) { return file }
    for folder in lower {
      if let file = (try? folder.open(digest)) ?? nil { return file }
    }
    return nil
  }

  func isBelow(_ digest: ContentDigest, size: Int64? = nil) -> Bool {
    lower.contains { folder in
      guard let status = folder.status(of: digest) else { return false }
      return size.map { status.size == $0 } ?? true
    }
  }

  /// Returns whether the body belongs to this cache; always true without lower caches.
  func isOwn(_ digest: ContentDigest) -> Bool {
    lower.isEmpty || own?.status(of: digest) != nil || !isBelow(digest)
  }

  func holds(_ digest: ContentDigest, size: Int64? = nil) -> Bool {
    if let status = own?.status(of: digest), size.map({ status.size == $0 }) ?? true { return true }
    return isBelow(digest, size: size)
  }

  func home(of digest: ContentDigest) throws(Failure) -> (folder: Folder, isOwn: Bool)? {
    if let own, lower.isEmpty || own.status(of: digest) != nil {
      return try own.folder(of: digest.prefix).map { ($0, true) }
    }
    for folder in lower where folder.status(of: digest) != nil {
      return try folder.folder(of: digest.prefix).map { ($0, false) }
    }
    return nil
  }
}

extension ObjectFolder {
  func status(of digest: ContentDigest) -> FileStatus? {
    let name = "\(Self.name(of: digest.prefix))/\(digest.hexadecimal)"
    guard let status = (try? root.status(of: name)) ?? nil, status.kind == .file else { return nil }
    return status
  }
}

/// Paths of bodies for any program: the layout is documented and stable.
package struct BodyPaths: Sendable {
  package var cache: String
  package var lower: [String]

  package init(cache: String, lower: [String] = []) {
    self.cache = cache
    self.lower = lower
  }

  package func path(of digest: ContentDigest) -> String {
    let name = "objects/sha256/\(ObjectFolder.name(of: digest.prefix))/\(digest.hexadecimal)"
    let own = "\(cache)/\(name)"
    guard !lower.isEmpty, unsafe access(own, F_OK) != 0 else { return own }
    return lower.lazy.map { "\($0)/\(name)" }.first { unsafe access($0, F_OK) == 0 } ?? own
  }
}
