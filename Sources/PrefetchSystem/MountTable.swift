/// Mounted file systems, as the kernel lists them.
package struct MountTable: Hashable, Sendable {
  package struct Mount: Hashable, Sendable {
    package var point: String
    /// File system type: `ext4`, `tmpfs`, `nfs4`.
    package var kind: String
  }

  package var mounts: [Mount]

  package static func current() -> Self {
    let bytes = (try? FileReading.read("/proc/self/mountinfo", limit: 16 << 20)) ?? []
    return Self(String(decoding: bytes, as: UTF8.self))
  }

  package init(_ text: String) {
    mounts = text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count > 6, let mark = fields[6...].firstIndex(of: "-"), mark + 1 < fields.count
      else { return nil }
      return Mount(point: Self.unescaped(fields[4]), kind: String(fields[mark + 1]))
    }
  }

  /// Returns the mount of a resolved path; the last of several on one point is visible.
  package func mount(of path: String) -> Mount? {
    let holders = mounts.filter { mount in
      mount.point == "/" || path == mount.point || path.hasPrefix(mount.point + "/")
    }
    let longest = holders.map(\.point.utf8.count).max()
    return holders.last { $0.point.utf8.count == longest }
  }

  /// Blanks and backslashes are escaped as three octal digits.
  private static func unescaped(_ text: Substring) -> String {
    guard text.contains("\\") else { return String(text) }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      guard byte == UInt8(ascii: "\\"), digits.count == 3,
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
      else {
        bytes.append(byte)
        continue
      }
      bytes.append(value)
      rest = rest.dropFirst(3)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
