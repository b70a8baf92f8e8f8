/// Object folders that hold all objects which the index expects: a folder with its recorded time is
/// unchanged, since that time moves with every name and cannot be set back.
struct FolderTimes {
  static let absent: Int64 = -1

  private var recorded: [UInt8: Int64]
  private var known: [UInt8: Int64]
  /// Folders that another process changed, or in which an operation failed.
  private(set) var suspects: Set<UInt8> = []

  init(recorded: [UInt8: Int64] = [:]) {
    self.recorded = recorded
    known = recorded
  }

  mutating func isComplete(_ prefix: UInt8, changed: Int64) -> Bool {
    if known[prefix] == changed { return true }
    known[prefix] = nil
    // A missing folder may lack objects but hides none.
    if changed != Self.absent {
      suspects.insert(prefix)
    }
    return false
  }

  func isKnown(_ prefix: UInt8, changed: Int64) -> Bool {
    known[prefix] == changed
  }

  /// Call before a change by this process, and `didChange` after the change.
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

  mutating func didExamine(_ prefix: UInt8, changed: Int64, isComplete: Bool) {
    known[prefix] = isComplete ? changed : nil
  }

  /// Times to be written for the next run; nil deletes a folder's time.
  var changes: [(prefix: UInt8, changed: Int64?)] {
    (UInt8.min...UInt8.max).compactMap { prefix in
      known[prefix] == recorded[prefix] ? nil : (prefix, known[prefix])
    }
  }

  mutating func didRecord() {
    recorded = known
  }
}
