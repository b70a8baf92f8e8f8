@unsafe @preconcurrency import Glibc
import PrefetchTestSupport

/// A mounted file system in which files can share blocks, where this process may mount one.
final class CloningDisk {
  let path: String
  /// Home that contains the mount point and the image file.
  private let home: Home

  init?() {
    guard let home = try? Home() else { return nil }
    self.home = home
    path = home.path("clones")
    let image = home.path("clones.image")
    FileTree.makeFolder(path)
    // The user who uses the disk may not be the one who made the home.
    unsafe chmod(home.folder.path, 0o755)
    unsafe chmod(home.work, 0o755)
    for command in [
      ["truncate", "-s", "256M", image], ["mkfs.btrfs", "-q", image],
      ["mount", "-o", "loop", image, path],
    ] {
      guard Tool(command[0]) != nil,
        (try? home.tool(command[0], Array(command.dropFirst())))?.status == 0
      else { return nil }
    }
  }

  deinit {
    unsafe umount2(path, CInt(MNT_DETACH))
  }

  static let isAvailable = CloningDisk() != nil
}
