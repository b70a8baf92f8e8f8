package import PrefetchCore

/// What is remembered from run to run besides the cache: subscriptions, past runs, uses.
///
/// Losing it loses no content. So a damaged file is set aside and made anew by a process that
/// writes, and reported in ``diagnostics``.
package final class StateStore {
  package private(set) var diagnostics: [Diagnostic] = []
  /// Whether the clock agrees with what servers have told; asked only before something goes by time.
  package var believesClock: () -> Bool = { true }

  private let file: DatabaseFile
  private let connection: Connection

  private enum Connection {
    case reading(DatabaseReading)
    case writing(Database)
  }

  /// Opens the state for short changes and makes its folder and file where they are missing.
  package static func openForWriting(state path: String) throws(Failure) -> StateStore {
    let folder = try Folder.making(path, mode: 0o700)
    let file = DatabaseFile(folder: folder, name: name, schema: .state)
    // A lock of its own, since one on the folder would wait for readers.
    let lockFile = try file.folder.openLock("state.lock", mode: 0o600)
    let lock = try KernelLock.wait(.exclusive, on: lockFile, for: file.path)
    defer { withExtendedLifetime(lock) {} }
    var reports: [Diagnostic] = []
    let database = try file.openForWriting(&reports)
    try file.removeLeftovers(of: name)
    // A registered license is in it; SQLite gives its log the same mode.
    try file.setMode()
    let store = StateStore(file, .writing(database))
    store.diagnostics = reports
    return store
  }

  /// Why only a newer version of the program can use the state; nil where that is not so.
  package static func objectionToNewer(state path: String) -> Failure? {
    let folder = (try? Folder(at: path)) ?? nil
    return folder.flatMap { DatabaseFile(folder: $0, name: name, schema: .state).objectionToNewer }
  }

  /// Opens the state without creating or changing a file; nil when there is none, or when it is
  /// damaged, which the diagnostic says: for a reader that is the same as none.
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

  /// Ends the use; nothing may be asked afterwards.
  package func close(patience: Duration = .milliseconds(200)) throws(Failure) {
    guard case .writing(let database) = connection else { return }
    try file.close(database, patience: patience)
  }

  /// The folder of the state, as it was opened.
  var folderPath: String { file.folder.path }

  /// Number that tells the file of the state from a copy of it, by inode and birth.
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
