package import PrefetchCore

/// State kept across runs outside the cache: subscriptions, past runs, uses.
///
/// Losing the state loses no content, so a writing process replaces a damaged file and says so.
package final class StateStore {
  package private(set) var diagnostics: [Diagnostic] = []
  /// Whether the clock agrees with server dates; called before anything expires.
  package var believesClock: () -> Bool = { true }

  private let file: DatabaseFile
  private let connection: Connection

  private enum Connection {
    case reading(DatabaseReading)
    case writing(Database)
  }

  package static func openForWriting(state path: String) throws(Failure) -> StateStore {
    let folder = try Folder.making(path, mode: 0o700)
    let file = DatabaseFile(folder: folder, name: name, schema: .state)
    // A separate lock file, since a lock on the folder would wait for readers.
    let lockFile = try file.folder.openLock("state.lock", mode: 0o600)
    let lock = try KernelLock.wait(.exclusive, on: lockFile, for: file.path)
    defer { withExtendedLifetime(lock) {} }
    var reports: [Diagnostic] = []
    let database = try file.openForWriting(&reports)
    try file.removeLeftovers(of: name)
    // The state has a registered license; SQLite gives its log the same mode.
    try file.setMode()
    let store = StateStore(file, .writing(database))
    store.diagnostics = reports
    return store
  }

  /// Returns why only a newer version of the program can use the state; nil otherwise.
  package static func objectionToNewer(state path: String) -> Failure? {
    let folder = (try? Folder(at: path)) ?? nil
    return folder.flatMap { DatabaseFile(folder: $0, name: name, schema: .state).objectionToNewer }
  }

  /// Opens the state read-only; returns nil when it is missing, or damaged with a report.
  package static func openForReading(
    state path: String,
    reports: inout [Diagnostic]
  ) throws(Failure) -> StateStore? {
    guard let folder = try Folder(at: path) else { return nil }
    let file = DatabaseFile(folder: folder, name: name, schema: .state)
    guard try file.status() != nil else { return nil }
    do throws(Failure) {
      return StateStore(file, .reading(try file.openForReading(&reports)))
    } catch {
      guard error.code == .storeDamaged, file.objectionToNewer == nil else { throw error }
      reports.append(
        Diagnostic(
          "state.damaged",
          error.message,
          severity: .warning,
          hint: "the next \(MirrorRules.runCommand(over: file.path)) begins a new one",
          file: file.path
        )
      )
      return nil
    }
  }

  private init(_ file: DatabaseFile, _ connection: Connection) {
    self.file = file
    self.connection = connection
  }

  package func close(timeout: Duration = .milliseconds(200)) throws(Failure) {
    guard case .writing(let database) = connection else { return }
    try file.close(database, timeout: timeout)
  }

  var folderPath: String { file.folder.path }

  /// Hash of inode and birth, which tells the state's file from a copy.
  var fileMark: Int64 {
    get throws(Failure) {
      guard let status = try file.status() else { return 0 }
      var hash = StableHash()
      hash.combine(Int64(bitPattern: status.inode))
      hash.combine(file.folder.birth(of: Self.name))
      return Int64(bitPattern: hash.value)
    }
  }

  var database: Database {
    switch connection {
    case .reading(let reading): reading.database
    case .writing(let database): database
    }
  }

  private static let name = "state.sqlite"
}
