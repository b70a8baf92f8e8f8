internal import Glibc
internal import PrefetchCore
internal import Synchronization

/// A large body under way, which gives its room back where the disk is full and a smaller one comes.
final class GrowingBody: Sendable {
  private let file: OpenFile
  /// Held while it grows, so that nothing is written behind what was given back.
  private let hasGone = Mutex(false)

  init(_ file: OpenFile) {
    self.file = file
  }

  /// Whether its bytes are gone; the worker that writes it learns so here.
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
