internal import CSQLite

package enum SQLiteVersion {
  package static var text: String {
    unsafe String(cString: sqlite3_libversion())
  }
}
