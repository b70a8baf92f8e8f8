internal import PrefetchCore
internal import Synchronization

/// Disk space that must stay free, watched while bodies are written.
///
/// A body that ends for want of space counts as freed before its file is gone, so that no more bodies end
/// than have to.
final class FreeSpace: Sendable {
  /// Bytes that must stay free; zero without a rule.
  private let kept = Atomic<Int64>(0)
  /// Bytes written since the last reading of the disk.
  private let unseen = Atomic<Int64>(FreeSpace.unseenLimit)
  /// Bytes of bodies that end for want of space and whose files still exist.
  private let ending = Mutex<Int64>(0)

  /// Bytes of all bodies between two readings of the disk.
  private static let unseenLimit: Int64 = 256 << 10

  func keep(_ bytes: Int64) {
    kept.store(bytes, ordering: .relaxed)
  }

  /// Returns the failure of a body whose next write would take space that must stay free.
  ///
  /// The body has to end then, and ``end(_:_:)`` has to follow with its `written` bytes.
  func shortage(
    writing bytes: Int,
    behind written: Int64,
    of size: Int64?,
    in folder: Folder
  ) -> Failure? {
    let kept = kept.load(ordering: .relaxed)
    guard kept > 0,
      unseen.add(Int64(bytes), ordering: .relaxed).newValue >= Self.unseenLimit
    else { return nil }
    return ending.withLock { ending in
      guard let disk = try? DiskSpace(of: folder) else { return nil }
      guard disk.free + ending - Int64(bytes) < kept else {
        unseen.store(0, ordering: .relaxed)
        return nil
      }
      // The next write of any body reads the disk again.
      unseen.store(Self.unseenLimit, ordering: .relaxed)
      ending += written
      return Failure(
        .cacheFull,
        DiskSpace.objection(to: size, free: disk.free, keeping: kept)
      )
    }
  }

  /// Removes the file of a body that ends for want of space, or goes on after all.
  func end(_ written: Int64, _ remove: () -> Void = {}) {
    ending.withLock { ending in
      remove()
      ending -= written
    }
  }
}
