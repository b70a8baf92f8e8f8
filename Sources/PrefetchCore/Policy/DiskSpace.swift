/// Space of a file system in bytes; `free` is the part for unprivileged users.
package struct DiskSpace: Hashable, Sendable {
  package var free: Int64
  package var size: Int64

  package init(free: Int64, size: Int64) {
    self.free = free
    self.size = size
  }

  /// Returns why something of that size, nil for unknown, has to wait.
  package static func objection(to bytes: Int64?, free: Int64, keeping minimum: Int64) -> String {
    let sizes = SizeText.format(together: [max(0, free), minimum] + (bytes.map { [$0] } ?? []))
    let need = bytes == nil ? "its size is not known" : "it needs \(sizes[2])"
    return "`cache.min_free`: \(sizes[0]) are free, \(sizes[1]) must stay free, and \(need)"
  }
}
