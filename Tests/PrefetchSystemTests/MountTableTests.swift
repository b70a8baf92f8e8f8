import PrefetchSystem
import Testing

@Suite("The table of mounts")
struct MountTableTests {
  private let table = MountTable(
    #"""
    22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
    23 22 0:5 / /dev rw,nosuid - devtmpfs udev rw
    30 22 0:40 / /srv/a\040b rw shared:2 master:3 - nfs4 host:/x rw
    31 22 0:41 / /srv rw - tmpfs tmpfs rw
    32 22 0:42 / /srv rw - xfs /dev/sdb rw
    nonsense
    """#
  )

  @Test(
    "The longest mount point counts, and the last of several at one point",
    arguments: [
      ("/var/cache", "ext4"), ("/", "ext4"), ("/srv/a b/x", "nfs4"), ("/srv/a bc", "xfs"),
      ("/srv", "xfs"), ("/device", "ext4"), ("/dev/null", "devtmpfs"),
    ]
  )
  func found(path: String, kind: String) {
    #expect(table.mount(of: path)?.kind == kind)
  }

  @Test("This machine has a root file system")
  func here() {
    #expect(MountTable.current().mount(of: "/")?.point == "/")
  }
}
