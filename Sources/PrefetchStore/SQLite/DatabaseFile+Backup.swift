internal import Glibc
internal import PrefetchCore

extension DatabaseFile {
  /// Renews the backup, keeping the old one until then; the caller excludes other processes.
  func backUp(_ database: Database, isDurable: Bool) throws(Failure) {
    guard let backupName else { return }
    try removeLeftovers(of: backupName)
    let temporary = Self.temporaryName(backupName)
    do throws(Failure) {
      try copy(database, to: temporary)
      // A copy is as damaged as its source: check the copy before it replaces a good backup.
      if try folder.status(of: backupName) != nil {
        let draft = try connect(.immutable, to: temporary)
        try draft.checkPages(upTo: .max, rowsUpTo: Self.rowsInGoodTime)
        try schema.checkTables(of: draft)
        try schema.checkRows?(draft)
      }
      let file = try folder.open(temporary, O_RDONLY)
      if let status = try status() {
        try SystemCall.require("change the mode of", file.path) { fchmod(file.number, status.mode) }
      }
      if isDurable { try file.synchronize() }
      try folder.rename(temporary, to: backupName, in: folder)
      if isDurable {
        try folder.synchronize()
      }
    } catch {
      _ = try? folder.remove(temporary)
      if error.code == .storeDamaged {
        database.markDamaged()
      }
      throw error
    }
  }

  /// Pages whose rows are checked in less than a second; larger ones are checked before use.
  private static let rowsInGoodTime: Int64 = 16_384

  private func copy(_ database: Database, to name: String) throws(Failure) {
    let copy = try connect(.creating, to: name)
    // No reader sees an incomplete copy, so no journal is needed.
    try copy.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF")
    try database.copyPages(to: copy)
    copy.close()
  }
}
