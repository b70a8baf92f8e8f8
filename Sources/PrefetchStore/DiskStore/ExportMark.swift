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
    // A power cut must not leave other files with a mark that is empty or has no name.
    let file = try folder.open(name, O_WRONLY)
    if try !hasText(folder) { try file.write(unsafe Array(text.utf8).span.bytes) }
    try file.synchronize()
    try folder.synchronize()
    for left in others { try folder.removeAll(left) }
    return ExportMark(folder, lock)
  }

  private static func mayExport(_ folder: Folder, _ others: [String]) throws(Failure) -> Bool {
    guard others.allSatisfy(CacheLayout.isOfCache) else { return false }
    guard let mark = try folder.status(of: name) else { return others.isEmpty }
    guard mark.kind == .file else { return false }
    if try hasText(folder) { return true }
    // The exporter may have ended before its text was written, and then made no other file.
    guard others.isEmpty else { return false }
    return try hasBegunText(folder)
  }

  private static func hasText(_ folder: Folder) throws(Failure) -> Bool {
    try beginning(in: folder).elementsEqual(text.utf8)
  }

  /// Returns whether the mark may have had its text, but for zeros that a power cut left in it.
  private static func hasBegunText(_ folder: Folder) throws(Failure) -> Bool {
    let start = try beginning(in: folder)
    guard start.count <= text.utf8.count else { return false }
    return zip(start, text.utf8).allSatisfy { $0 == 0 || $0 == $1 }
  }

  /// Returns the first bytes of the mark, with one more than the text has.
  private static func beginning(in folder: Folder) throws(Failure) -> [UInt8] {
    var start = [UInt8](repeating: 0, count: text.utf8.count + 1)
    let count = try folder.open(name, O_RDONLY).read(into: &start, at: 0)
    return Array(start.prefix(count))
  }

  package func finish() throws(Failure) {
    defer { withExtendedLifetime(lock) {} }
    try folder.remove(Self.name)
  }

  private static let name = "export.unfinished"
  private static let text = "prefetch is filling this folder, or was killed while it did\n"
}
