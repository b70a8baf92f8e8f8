internal import Glibc
package import PrefetchCore

package enum FolderAccess {
  /// Returns why a folder is refused: other users could put bodies, rows or links there.
  ///
  /// Returns nil for a missing folder, and for the root of a volume, as containers get it.
  package static func objection(to path: String) throws(Failure) -> Failure? {
    // A folder that cannot be opened fails at its first use.
    guard let folder = (try? Folder(at: path)) ?? nil else { return nil }
    let status = try folder.status()
    let user = geteuid()
    let isOpen = status.mode & 0o002 != 0 && status.mode & 0o1000 == 0
    let isOthers = user != 0 && status.owner != user && status.owner != 0
    guard isOpen || isOthers, try !isRootOfVolume(folder, status) else { return nil }
    let advice = "`cache.shared: true` allows it"
    return Failure(
      .permission,
      isOpen
        ? "every user may write into `\(path)`; `chmod o-w \(path)` cures that, \(advice)"
        : "`\(path)` belongs to another user (\(status.owner)); `chown \(user) \(path)` cures that, \(advice)"
    )
  }

  package static func makeShared(_ cache: String) throws(Failure) {
    let folder = try Folder.making(cache)
    let status = try folder.status()
    guard status.owner == geteuid(), status.mode & 0o055 != 0o055 else { return }
    try SystemCall.require("change the mode of", cache) {
      fchmod(folder.number, status.mode | 0o755)
    }
  }

  private static func isRootOfVolume(
    _ folder: Folder,
    _ status: FileStatus
  ) throws(Failure) -> Bool {
    guard let parent = try folder.parentStatus() else { return false }
    return parent.device != status.device || parent.inode == status.inode
  }
}
