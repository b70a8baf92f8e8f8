internal import Glibc
package import PrefetchCore

/// A file in a folder that an export is filling, locked as long as its process lives.
///
/// It is the first file there and goes last. Where it says so itself and nobody locks it, an export was
/// killed.
package final class ExportMark {
  private let folder: Folder
  private let lock: KernelLock

  private init(_ folder: Folder, _ lock: KernelLock) {
    self.folder = folder
    self.lock = lock
  }

  /// Nil where the folder holds anything but what a killed export left; that is then left as it is.
  static func make(in folder: Folder) throws(Failure) -> ExportMark? {
    let others = try folder.names().filter { $0 != name }
    guard try isOurs(folder, others) else { return nil }
    guard let lock = try KernelLock.take(.exclusive, on: folder.openLock(name)) else { return nil }
    // Another one may have finished in between, with its mark.
    guard try isOurs(folder, others) else {
      try folder.remove(name)
      return nil
    }
    for left in others { try folder.removeAll(left) }
    try folder.open(name, O_WRONLY | O_TRUNC).write(unsafe Array(text.utf8).span.bytes)
    return ExportMark(folder, lock)
  }

  private static func isOurs(_ folder: Folder, _ others: [String]) throws(Failure) -> Bool {
    guard others.allSatisfy(CacheLayout.isOfCache) else { return false }
    guard let mark = try folder.status(of: name) else { return others.isEmpty }
    guard mark.kind == .file else { return false }
    // A kill may have come before the first word.
    if mark.size == 0 { return others.isEmpty }
    var start = [UInt8](repeating: 0, count: text.utf8.count + 1)
    let count = try folder.open(name, O_RDONLY).read(into: &start, at: 0)
    return start.prefix(count).elementsEqual(text.utf8)
  }

  /// The export is whole.
  package func finish() throws(Failure) {
    defer { withExtendedLifetime(lock) {} }
    try folder.remove(Self.name)
  }

  private static let name = "export.unfinished"
  private static let text = "prefetch is filling this folder, or was killed while it did\n"
}
