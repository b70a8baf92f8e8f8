import PrefetchCore
import Testing

@testable import PrefetchCore

@Suite struct RankTests {
  /// Ranks in order: each comes before all that follow.
  static let order: [(name: String, rank: Rank)] = [
    ("the manifest of the first segment of priority 1", Rank(documentOf: 4, priority: 1)),
    ("that of the second", Rank(documentOf: 7, priority: 1)),
    ("its item that has begun", Rank(itemOf: 4, priority: 1, own: 1, hasBegun: true)),
    ("its item of priority 1", Rank(itemOf: 4, priority: 1, own: 1)),
    ("its item of priority 100", Rank(itemOf: 4, priority: 1, own: 100)),
    ("its item of none, begun", Rank(itemOf: 4, priority: 1, hasBegun: true)),
    ("its item of none", Rank(itemOf: 4, priority: 1)),
    ("an item of the second", Rank(itemOf: 7, priority: 1, own: 1)),
    ("the manifest of the first in the list", Rank(documentOf: 0, priority: 50)),
    ("the first in the list", Rank(itemOf: 0, priority: 50)),
    ("the manifest of a segment of priority 100", Rank(documentOf: 1, priority: 100)),
    ("its item", Rank(itemOf: 1, priority: 100)),
    ("the manifest of one that states none", Rank(documentOf: 2, priority: nil)),
    ("its item", Rank(itemOf: 2, priority: nil, own: 3)),
    ("one at a very late place", Rank(itemOf: 5_000_000, priority: nil, own: 1)),
  ]

  @Test("A rank compares segment, then kind, then position and then own priority")
  func total() {
    for (index, lower) in Self.order.enumerated() {
      for higher in Self.order[..<index] {
        #expect(higher.rank < lower.rank, "\(higher.name), \(lower.name)")
        #expect(!(lower.rank < higher.rank), "\(higher.name), \(lower.name)")
      }
    }
  }

  @Test("The last rank of a priority is after all of it and before the next")
  func last() {
    let last = Rank.last(ofPriority: 50)
    #expect(Rank(itemOf: .max, priority: 50) <= last)
    #expect(last < Rank(documentOf: 0, priority: 51))
    #expect(Rank(itemOf: .max, priority: nil) <= .last(ofPriority: Rank.lowestPriority))
  }

  @Test("A started item keeps its position")
  func ignoringBegun() {
    let (begun, new) = (
      Rank(itemOf: 1, priority: 2, own: 3, hasBegun: true), Rank(itemOf: 1, priority: 2, own: 3)
    )
    #expect(begun < new)
    #expect(begun.ignoringBegun == new.ignoringBegun)
    #expect(new.begun(true) == begun)
    #expect(begun.begun(false) == new)
    #expect(new.ignoringBegun != Rank(itemOf: 1, priority: 2, own: 4).ignoringBegun)
  }
}
