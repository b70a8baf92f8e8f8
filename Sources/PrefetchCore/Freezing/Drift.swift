/// Difference between the lock file and what a dry run sees.
package struct Drift: Hashable, Sendable {
  package enum Change: String, Hashable, Sendable, CaseIterable {
    /// The list names an item that the lock does not.
    case added
    /// The list or the server says that the body is another one.
    case changed
    /// The list no longer names the item, or the server no longer has it.
    case gone
  }

  package var change: Change
  package var url: String

  package init(_ change: Change, _ url: String) {
    self.change = change
    self.url = url
  }
}

extension EntryTable {
  /// Returns the differences that the list shows, in its order, then the items that it lost.
  func drift(from segment: LockedSegment, isOwn: (_ url: String) -> Bool) -> [Drift] {
    guard let marks = lockMarks else { return [] }
    var drift = indices.compactMap { position -> Drift? in
      if marks.faults[position] == .drifted { return Drift(.changed, url(at: position)) }
      let isAd = type(at: position) == BundleForm.ad.rawValue
      guard !isAd, segment.items.position(of: key(at: position)) == nil else { return nil }
      return Drift(.added, url(at: position))
    }
    for place in segment.items.indices where position(of: segment.items.key(at: place)) == nil {
      let url = segment.items.url(at: place)
      if isOwn(url) { drift.append(Drift(.gone, url)) }
    }
    return drift
  }
}
