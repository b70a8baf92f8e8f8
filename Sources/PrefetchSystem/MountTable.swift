/// What is mounted where, as the kernel lists it.
package struct MountTable: Hashable, Sendable {
  package struct Mount: Hashable, Sendable {
    package var point: String
    /// `ext4`, `tmpfs`, `nfs4`.
    package var kind: String
  }

  /// In the order in which they were mounted.
  package var mounts: [Mount]

  /// Of this process; empty where the kernel does not say.
  package static func current() -> Self {
    let bytes = (try? FileReading.read("/proc/self/mountinfo", limit: 16 << 20)) ?? []
    return Self(String(decoding: bytes, as: UTF8.self))
  }

  /// Reads the form of `/proc/self/mountinfo`.
  package init(_ text: String) {
    mounts = text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count > 6, let mark = fields[6...].firstIndex(of: "-"), mark + 1 < fields.count
      else { return nil }
      return Mount(point: Self.unescaped(fields[4]), kind: String(fields[mark + 1]))
    }
  }

  /// Where a path without symbolic links lies; of several on one point the last is seen.
  package func mount(of path: String) -> Mount? {
    let holders = mounts.filter { mount in
      mount.point == "/" || path == mount.point || path.hasPrefix(mount.point + "/")
    }
    let longest = holders.map(\.point.utf8.count).max()
    return holders.last { $0.point.utf8.count == longest }
  }

  /// Blanks and backslashes are written as three octal digits.
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
