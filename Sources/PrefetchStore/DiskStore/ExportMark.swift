internal import Glibc
package import PrefetchCore

/// File that marks a folder as the target of an export, locked while the exporter lives.
///
/// An unlocked mark with its text was left by a killed export.
package final class ExportMark {
  private let folder: Folder
  private let lock: KernelLock

  private init(_ folder: Folder, _ lock: KernelLock) {
    self.folder = folder
    self.lock = lock
  }

  /// Returns nil, and changes nothing, when the folder holds other files than a killed export's.
  static func make(in folder: Folder) throws(Failure) -> ExportMark? {
    let others = try folder.names().filter { $0 != name }
    guard try mayExport(folder, others) else { return nil }
    guard let lock = try KernelLock.acquire(.exclusive, on: folder.openLock(name)) else {
      return nil
    }
    // Another export may have finished in between, and removed the mark.
    guard try mayExport(folder, others) else {
      try folder.remove(name)
      return nil
    }
    for left in others { try folder.removeAll(left) }
    try folder.open(name, O_WRONLY | O_TRUNC).write(unsafe Array(text.utf8).span.bytes)
    return ExportMark(folder, lock)
  }

  private static func mayExport(_ folder: Folder, _ others: [String]) throws(Failure) -> Bool {
    guard others.allSatisfy(CacheLayout.isOfCache) else { return false }
    guard let mark = try folder.status(of: name) else { return others.isEmpty }
    guard mark.kind == .file else { return false }
    // The process may have been killed before it wrote the text.
    if mark.size == 0 { return others.isEmpty }
    var start = [UInt8](repeating: 0, count: text.utf8.count + 1)
    let count = try folder.open(name, O_RDONLY).read(into: &start, at: 0)
    return start.prefix(count).elementsEqual(text.utf8)
  }

  package func finish() throws(Failure) {
    defer { withExtendedLifetime(lock) {} }
    try folder.remove(Self.name)
  }

  private static let name = "export.unfinished"
  private static let text = "prefetch is filling this folder, or was killed while it did\n"
}
