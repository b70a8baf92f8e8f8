internal import Glibc
internal import PrefetchCore

extension DatabaseFile {
  /// Renews the last good copy; the old one stays until the new one is whole.
  ///
  /// Callers exclude each other.
  func backUp(_ database: Database, isDurable: Bool) throws(Failure) {
    guard let backupName else { return }
    try removeLeftovers(of: backupName)
    let temporary = Self.temporaryName(backupName)
    do throws(Failure) {
      try copy(database, to: temporary)
      // A page-by-page copy is as damaged as its source. A run that needs a copy looks at it
      // first, so all that a look can save now is the good one that would go.
      if try folder.status(of: backupName) != nil {
        try connect(.immutable, to: temporary).checkPages(upTo: .max)
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
        database.noteDamage()
      }
      throw error
    }
  }

  private func copy(_ database: Database, to name: String) throws(Failure) {
    let copy = try connect(.creating, to: name)
    // No reader sees it before it is whole, so nothing has to be undone.
    try copy.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF")
    try database.copyPages(to: copy)
    copy.close()
  }
}
