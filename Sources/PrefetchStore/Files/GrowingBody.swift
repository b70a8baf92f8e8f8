internal import Glibc
internal import PrefetchCore
internal import Synchronization

/// A large body in flight, truncated when the disk is full and a smaller body needs the room.
final class GrowingBody: Sendable {
  private let file: OpenFile
  /// Whether the body was truncated; locked during writes, so that none follows the truncation.
  private let isTruncated = Mutex(false)

  init(_ file: OpenFile) {
    self.file = file
  }

  var wasEvicted: Bool {
    isTruncated.withLock(\.self)
  }

  var size: Int64 {
    (try? file.status().size) ?? 0
  }

  func append(_ bytes: RawSpan, after size: Int64, deed: String) throws(Failure) {
    try isTruncated.withLock { isTruncated throws(Failure) in
      guard !isTruncated else { throw Self.loss }
      try file.append(bytes, after: size, deed: deed)
    }
  }

  func write(_ bytes: RawSpan, at offset: Int64, deed: String) throws(Failure) {
    try isTruncated.withLock { isTruncated throws(Failure) in
      guard !isTruncated else { throw Self.loss }
      try file.write(bytes, at: offset, deed: deed)
    }
  }

  func evict() {
    isTruncated.withLock { isTruncated in
      isTruncated = true
      try? file.cut(to: 0)
    }
  }

  static let loss = Failure(.diskFull, "the disk is full, and its part was evicted for others")
}
