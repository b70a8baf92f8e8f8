import PrefetchCore
import PrefetchStore

/// Entries of the history about published trees, each by the path of its folder.
extension HistoryEntry {
  /// Returns nil for a tree that is as it was.
  static func tree(
    _ tree: TreeOutcome,
    of segment: String,
    at time: Instant,
    run: String
  ) -> HistoryEntry? {
    guard let change = change(of: tree) else { return nil }
    let isNew = tree.generation == 1 && tree.restored == 0 && tree.created > 0
    return HistoryEntry(
      url: tree.folder,
      at: time,
      run: run,
      action: isNew ? .fetch : .update,
      outcome: isNew ? .added : .updated,
      reason: "the tree of segment `\(segment)`: \(change)"
    )
  }

  /// Returns text such as `2 missing files published again, 1 removed`.
  private static func change(of tree: TreeOutcome) -> String? {
    var parts: [String] = []
    if tree.isSwitched, let generation = tree.generation {
      let back = tree.isHeld ? " back" : ""
      parts.append("switched\(back) to generation \(generation)")
    }
    if tree.restored > 0 {
      parts.append("\(Amounts.count(Int64(tree.restored), "missing file")) published again")
    }
    let made = tree.created - tree.restored
    if made > 0 { parts.append("\(Amounts.count(Int64(made), "file")) made") }
    if tree.removed > 0 { parts.append("\(tree.removed) removed") }
    let mended = tree.troubles.count { $0.isMended }
    if mended > 0 { parts.append("\(Amounts.count(Int64(mended), "changed file")) put right") }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}
