internal import CLinux
package import PrefetchCore

/// Detection of network file systems, on which several machines may hold one lock.
package enum NetworkFileSystem {
  private static let names: [UInt32: String] = [
    0x6969: "nfs", 0x517B: "smb", 0xFF53_4D42: "cifs", 0xFE53_4D42: "smb2", 0x5346_414F: "afs",
    0x00C3_6400: "ceph", 0x0BD0_0BD0: "lustre", 0x4750_4653: "gpfs", 0x0102_1997: "9p",
    0x7375_7245: "coda",
  ]

  package static func objection(to cache: String) throws(Failure) -> Failure? {
    let folder = try Folder.making(cache, mode: 0o700)
    guard let name = names[prefetch_file_system_kind(folder.number)] else { return nil }
    return Failure(
      .disk,
      "`\(cache)` is on a network file system (\(name)), where locks may be granted to several machines at once; keep the cache on a disk of this machine, or promise with `cache.network_filesystem: single` that one process at a time uses it"
    )
  }
}
