import PrefetchCore

@testable import PrefetchStore

/// Protection of an item from removal and eviction, as the index holds it.
struct ItemLock {
  /// Nil = no time limit.
  var until: Instant?
  /// Holds no longer than this process runs; nil = any.
  var process: Int32?
}

extension DiskStore {
  /// Locks items, or unlocks them with nil: no command does so yet, but whoever removes must look.
  func setLock(_ lock: ItemLock?, urls: [String]) throws {
    let database = try database()
    try database.transaction { () throws(Failure) in
      let update = try database.prepare(
        "UPDATE items SET locked=?2, locked_until=?3, locked_process=?4 WHERE url=?1"
      )
      for url in urls {
        try update.bind(1, url)
        try update.bind(2, lock != nil)
        try update.bind(3, lock?.until)
        try update.bind(4, lock?.process.map(Int.init))
        try update.run()
      }
    }
  }
}
