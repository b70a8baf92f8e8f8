internal import CSQLite

/// The linked SQLite library.
package enum SQLiteVersion {
  package static var text: String {
    unsafe String(cString: sqlite3_libversion())
  }
}
