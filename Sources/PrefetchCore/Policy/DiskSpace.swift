/// What a file system has for such as us.
package struct DiskSpace: Hashable, Sendable {
  package var free: Int64
  package var size: Int64

  package init(free: Int64, size: Int64) {
    self.free = free
    self.size = size
  }

  /// Why something that needs so many bytes, nil for unknown, has to wait.
  package static func objection(to bytes: Int64?, free: Int64, keeping minimum: Int64) -> String {
    let need = bytes.map { "it needs \($0) bytes" } ?? "its size is not known"
    return
      "`cache.min_free`: \(max(0, free)) bytes are free, \(minimum) must stay free, and \(need)"
  }
}
