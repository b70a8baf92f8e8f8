/// Which of the 256 object folders are known to hold everything that the index expects of them.
///
/// A folder's time moves whenever a name in it comes or goes, and nobody can set it back. As long as
/// it is the one that was noted when the folder was last known to be complete, there is no need to
/// look inside.
struct FolderTimes {
  /// The time of a folder that does not exist.
  static let absent: Int64 = -1

  private var recorded: [UInt8: Int64]
  private var known: [UInt8: Int64]
  /// Folders that another process changed, or in which something of ours went wrong.
  private(set) var suspects: Set<UInt8> = []

  init(recorded: [UInt8: Int64] = [:]) {
    self.recorded = recorded
    known = recorded
  }

  /// Whether the folder is as it was when it was known to be complete; notes it if not.
  mutating func isComplete(_ prefix: UInt8, changed: Int64) -> Bool {
    if known[prefix] == changed { return true }
    known[prefix] = nil
    // A folder that is not there may lack objects, but hides none.
    if changed != Self.absent {
      suspects.insert(prefix)
    }
    return false
  }

  /// The same, without noting it.
  func isKnown(_ prefix: UInt8, changed: Int64) -> Bool {
    known[prefix] == changed
  }

  /// To be called around every change of our own.
  mutating func willChange(_ prefix: UInt8, changed: Int64) {
    _ = isComplete(prefix, changed: changed)
  }

  mutating func didChange(_ prefix: UInt8, changed: Int64) {
    guard known[prefix] != nil else { return }
    known[prefix] = changed
  }

  mutating func didFail(_ prefix: UInt8) {
    known[prefix] = nil
    suspects.insert(prefix)
  }

  /// The store looked inside.
  mutating func didExamine(_ prefix: UInt8, changed: Int64, isComplete: Bool) {
    known[prefix] = isComplete ? changed : nil
  }

  /// What has to be written so that the next run knows it; nil = forget the folder.
  var changes: [(prefix: UInt8, changed: Int64?)] {
    (UInt8.min...UInt8.max).compactMap { prefix in
      known[prefix] == recorded[prefix] ? nil : (prefix, known[prefix])
    }
  }

  mutating func didRecord() {
    recorded = known
  }
}
