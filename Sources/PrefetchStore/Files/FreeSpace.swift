internal import PrefetchCore
internal import Synchronization

/// Disk space that must stay free, checked while bodies are written.
///
/// A body that ends for lack of space counts as freed at once, so that others need not end too.
final class FreeSpace: Sendable {
  private let kept = Atomic<Int64>(0)
  /// Bytes that may still be written before the next reading of the disk.
  private let allowance = Atomic<Int64>(0)
  /// Bytes of ending bodies whose files still exist.
  private let freedBytes = Mutex<Int64>(0)

  private static let largestAllowance: Int64 = 256 << 10

  func keep(_ bytes: Int64) {
    kept.store(bytes, ordering: .relaxed)
  }

  /// Returns the failure of a body that would take reserved space; ``end(_:_:)`` must follow.
  func shortage(
    writing bytes: Int,
    behind written: Int64,
    of size: Int64?,
    in folder: Folder
  ) -> Failure? {
    let kept = kept.load(ordering: .relaxed)
    guard kept > 0,
      allowance.subtract(Int64(bytes), ordering: .relaxed).newValue <= 0
    else { return nil }
    return freedBytes.withLock { freedBytes in
      guard let disk = try? DiskSpace(of: folder) else { return nil }
      let spare = disk.free + freedBytes - Int64(bytes) - kept
      guard spare < 0 else {
        // Near the limit the disk is read more often, since `kept` may be smaller than an allowance.
        allowance.store(min(Self.largestAllowance, spare / 2), ordering: .relaxed)
        return nil
      }
      // Makes the next write of any body read the disk again.
      allowance.store(0, ordering: .relaxed)
      freedBytes += written
      return Failure(
        .cacheFull,
        DiskSpace.objection(to: size, free: disk.free, keeping: kept)
      )
    }
  }

  func hasRoom(for bytes: Int64, in folder: Folder) -> Bool {
    let kept = kept.load(ordering: .relaxed)
    return freedBytes.withLock { freedBytes in
      guard let disk = try? DiskSpace(of: folder) else { return true }
      return disk.free + freedBytes - bytes >= kept
    }
  }

  func end(_ written: Int64, _ remove: () -> Void = {}) {
    freedBytes.withLock { freedBytes in
      remove()
      freedBytes -= written
    }
  }
}
