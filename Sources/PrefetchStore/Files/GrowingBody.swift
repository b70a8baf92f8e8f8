internal import Glibc
internal import PrefetchCore
internal import Synchronization

/// A large body under way, which gives its room back where the disk is full and a smaller one comes.
final class GrowingBody: Sendable {
  private let file: OpenFile
  private let isGivenUp = Atomic(false)

  init(_ file: OpenFile) {
    self.file = file
  }

  /// Whether its bytes are gone; whoever writes it learns so here.
  var hasGivenWay: Bool {
    isGivenUp.load(ordering: .acquiring)
  }

  var size: Int64 {
    (try? file.status().size) ?? 0
  }

  func giveWay() {
    isGivenUp.store(true, ordering: .releasing)
    try? file.cut(to: 0)
  }

  static let loss = Failure(.diskFull, "the disk is full, and what came of it gave way to others")
}
