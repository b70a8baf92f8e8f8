internal import Glibc
package import PrefetchCore

/// A file in a folder that an export is filling, locked as long as its process lives.
///
/// It is the first file there and goes last, so that a folder which holds one that nobody locks holds
/// an unfinished export and nothing else of use.
package final class ExportMark {
  private let folder: Folder
  private let lock: KernelLock

  private init(_ folder: Folder, _ lock: KernelLock) {
    self.folder = folder
    self.lock = lock
  }

  /// Nil where the folder holds anything but what a killed export left.
  static func make(in folder: Folder) throws(Failure) -> ExportMark? {
    let names = try folder.names()
    guard names.isEmpty || names.contains(name) else { return nil }
    guard let lock = try KernelLock.take(.exclusive, on: folder.openLock(name)) else { return nil }
    for left in names where CacheLayout.isOfCache(left) { try folder.removeAll(left) }
    guard try folder.names() == [name] else {
      if names.isEmpty { try folder.remove(name) }
      return nil
    }
    return ExportMark(folder, lock)
  }

  /// The export is whole.
  package func finish() throws(Failure) {
    defer { withExtendedLifetime(lock) {} }
    try folder.remove(Self.name)
  }

  static let name = "export.unfinished"
}
