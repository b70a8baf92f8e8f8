internal import Glibc
internal import PrefetchCore
internal import Synchronization

/// A large body in flight, truncated when the disk is full and a smaller body needs the room.
final class GrowingBody: Sendable {
  private let file: OpenFile
  /// Whether the body was truncated; locked during writes, so that none follows the truncation.
  private let hasGone = Mutex(false)

  init(_ file: OpenFile) {
    self.file = file
  }

  var hasGivenWay: Bool {
    hasGone.withLock(\.self)
  }

  var size: Int64 {
    (try? file.status().size) ?? 0
  }

  func append(_ bytes: RawSpan, after size: Int64, deed: String) throws(Failure) {
    try hasGone.withLock { hasGone throws(Failure) in
      guard !hasGone else { throw Self.loss }
      try file.append(bytes, after: size, deed: deed)
    }
  }

  func giveWay() {
    hasGone.withLock { hasGone in
      hasGone = true
      try? file.cut(to: 0)
    }
  }

  static let loss = Failure(.diskFull, "the disk is full, and its part was evicted for others")
}
