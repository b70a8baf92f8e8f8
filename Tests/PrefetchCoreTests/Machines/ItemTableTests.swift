import PrefetchCore
import Testing

@testable import PrefetchCore

/// Items by their numbers, and where the rest of each is.
@Suite("The table of items")
struct ItemTableTests {
  private static func table(_ count: Int) -> ItemTable {
    var table = ItemTable()
    for number in 0..<count {
      let step = PlannedStep(entry: number, row: nil, decision: .fetch, reason: .notStored)
      table.append(ItemWork(step: step, segment: 0, position: UInt32(number)))
    }
    return table
  }

  private static func active(_ name: String) throws -> ActiveItem {
    let url = try WebURL("https://a.example/\(name)")
    let result = ItemResult(
      url: url.string,
      id: "",
      segments: [],
      state: .pending,
      action: .fetch,
      reason: ""
    )
    return ActiveItem(entry: ManifestEntry(url: url), segment: 0, result: result)
  }

  @Test("An item is bare, plain or active, and items do not affect each other")
  func slots() throws {
    var table = Self.table(3)
    #expect(table.indices.allSatisfy(table.isBare))
    table.makeSimple(0)
    table.makeSimple(2)
    table[simple: 0].diskLimit = 7
    #expect(table.isSimple(0) && !table.isActive(0) && table.isSimple(2))
    #expect(table[simple: 2].diskLimit == nil)
    table.activate(1, as: try Self.active("b"))
    #expect(table.active(1).entry.url.string == "https://a.example/b")
    #expect(table.ifActive(0) == nil && table.ifActive(2) == nil)
    let ended = table.endSimple(0)
    #expect(ended.diskLimit == 7 && table.isBare(0))
  }

  @Test("Slots are reused empty")
  func reuse() throws {
    var table = Self.table(4)
    table.makeSimple(0)
    table[simple: 0].isRead = true
    _ = table.endSimple(0)
    table.makeSimple(1)
    #expect(!table[simple: 1].isRead)
    let first = try Self.active("a")
    table.activate(2, as: first)
    first.host = HostID(3)
    table.deactivate(2)
    #expect(table.isBare(2))
    table.activate(3, as: try Self.active("d"))
    #expect(table.active(3).host == nil && table.active(3) !== first)
    // A holder of the old object still sees its outcome, but no longer its exchange.
    #expect(first.exchange == nil && first.host == HostID(3))
    table.deactivate(2)
    #expect(table.isActive(3))
  }

  @Test("Changes of a row stay in that row, and the last row can be removed")
  func rows() {
    var table = Self.table(2)
    table[1].state = .committing
    #expect(table.map(\.state) == [.queued, .committing])
    table.removeLast()
    #expect(table.count == 1 && table.last?.position == 0)
  }
}
