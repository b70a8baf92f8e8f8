@unsafe @preconcurrency import Glibc

/// A file system in memory whose size can change, where this process may mount one.
final class SmallDisk {
  let path: String

  init?(bytes: Int, at path: String) {
    self.path = path
    FileTree.makeFolder(path)
    guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=\(bytes)") == 0 else { return nil }
  }

  deinit {
    unsafe umount2(path, CInt(MNT_DETACH))
  }

  static let isAvailable: Bool = {
    guard let home = try? Home() else { return false }
    return SmallDisk(bytes: 65_536, at: home.path("disk")) != nil
  }()

  /// How much is in use, in bytes.
  var usage: Int {
    var facts = statvfs()
    guard unsafe statvfs(path, &facts) == 0 else { return 0 }
    return Int(facts.f_blocks - facts.f_bfree) * Int(facts.f_frsize)
  }

  /// Number of files and folders.
  var fileCount: Int {
    var facts = statvfs()
    guard unsafe statvfs(path, &facts) == 0 else { return 0 }
    return Int(facts.f_files - facts.f_ffree)
  }

  /// False where more is in use already.
  func resize(bytes: Int, files: Int = 100_000) -> Bool {
    unsafe mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT), "size=\(bytes),nr_inodes=\(files)") == 0
  }
}
