/// What came of making room.
package struct Room: Hashable, Sendable {
  package enum Standing: Hashable, Sendable {
    case enough
    /// The cache's own limit stands in the way, and nothing more may go.
    case cacheFull
    /// Too little would stay free on the disk, and nothing more may go.
    case diskTooFull
  }

  package var standing = Standing.enough
  /// Whose bodies went for it; items that segments hold keep their records.
  package var removed: [RemovedContent] = []

  package init() {}
}
