internal import CSQLite
internal import PrefetchCore

extension Failure {
  static func sqlite(_ result: Int32, _ message: String, in name: String) -> Failure {
    switch result & 0xff {
    case SQLITE_FULL:
      Failure(.diskFull, "no room left to write `\(name)`")
    case SQLITE_READONLY, SQLITE_PERM, SQLITE_CANTOPEN, SQLITE_AUTH:
      Failure(.permission, "cannot open or write `\(name)`: \(message)")
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT:
      Failure(.storeDamaged, "`\(name)` is damaged: \(message)")
    case SQLITE_BUSY, SQLITE_LOCKED:
      Failure(.locked, "another process has used `\(name)` for too long")
    case SQLITE_IOERR:
      Failure(.disk, "cannot read or write `\(name)`: \(message)")
    case SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_MISUSE, SQLITE_RANGE:
      Failure(.internal, "`\(name)` refused a row: \(message)")
    default:
      Failure(.disk, "`\(name)`: \(message)")
    }
  }
}
