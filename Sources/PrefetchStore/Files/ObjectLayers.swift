internal import Glibc
package import PrefetchCore

/// The bodies of a cache, and below them those of other caches, which are read and never written.
struct ObjectLayers: Sendable {
  /// Nil in a reading store whose cache holds no objects.
  let own: ObjectFolder?
  /// The uppermost first.
  var lower: [ObjectFolder] = []

  /// Nil when there is no such object anywhere; a lower cache that cannot be read has none.
  func open(_ digest: ContentDigest) throws(Failure) -> OpenFile? {
    if let file = try own?.open(digest) { return file }
    for folder in lower {
      if let file = (try? folder.open(digest)) ?? nil { return file }
    }
    return nil
  }

  /// Whether the body lies in a lower cache, with that size where one is given.
  func isBelow(_ digest: ContentDigest, size: Int64? = nil) -> Bool {
    lower.contains { folder in
      guard let status = folder.status(of: digest) else { return false }
      return size.map { status.size == $0 } ?? true
    }
  }

  /// Whether the cache itself holds the body, or would have to; without lower caches it is not asked.
  func isOwn(_ digest: ContentDigest) -> Bool {
    lower.isEmpty || own?.status(of: digest) != nil || !isBelow(digest)
  }

  /// Whether the body is there at all, with that size where one is given.
  func holds(_ digest: ContentDigest, size: Int64? = nil) -> Bool {
    if let status = own?.status(of: digest), size.map({ status.size == $0 }) ?? true { return true }
    return isBelow(digest, size: size)
  }

  /// The folder that has it under its name, and whether that may be written; nil where none has.
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
  /// Nil for what is not there, is no file, or cannot be seen.
  func status(of digest: ContentDigest) -> FileStatus? {
    let name = "\(Self.name(of: digest.prefix))/\(digest.hexadecimal)"
    guard let status = (try? root.status(of: name)) ?? nil, status.kind == .file else { return nil }
    return status
  }
}

/// Where bodies lie, for any program to read: the layout is a promise.
package struct BodyPaths: Sendable {
  package var cache: String
  /// Caches below it, the uppermost first.
  package var lower: [String]

  package init(cache: String, lower: [String] = []) {
    self.cache = cache
    self.lower = lower
  }

  /// Where the body is or would be.
  package func path(of digest: ContentDigest) -> String {
    let name = "objects/sha256/\(ObjectFolder.name(of: digest.prefix))/\(digest.hexadecimal)"
    let own = "\(cache)/\(name)"
    guard !lower.isEmpty, unsafe access(own, F_OK) != 0 else { return own }
    return lower.lazy.map { "\($0)/\(name)" }.first { unsafe access($0, F_OK) == 0 } ?? own
  }
}
