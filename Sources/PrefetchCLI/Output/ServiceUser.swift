@unsafe @preconcurrency import Glibc
import PrefetchCore

struct ServiceUser {
  let name: String

  init(_ name: String) {
    self.name = name
  }

  /// Whether `useradd` accepts the name, and a crontab cannot misread it.
  static func isName(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard let first = bytes.first, bytes.count <= 32 else { return false }
    let isStart = (0x61...0x7A).contains(first) || first == UInt8(ascii: "_")
    return isStart
      && bytes.allSatisfy { byte in
        (0x61...0x7A).contains(byte) || ASCII.isDigit(byte) || "-_".utf8.contains(byte)
      }
  }

  private var isHere: Bool { unsafe getpwnam(name) != nil }

  /// Returns commands that create a missing user and its folders; `isPrivate` selects mode 0700.
  func commands(making folders: [String], isPrivate: (String) -> Bool) -> [String] {
    let making = "useradd --system --user-group --shell /usr/sbin/nologin \(name)"
    return (isHere ? [] : [making])
      + folders.map { folder in
        let mode = isPrivate(folder) ? "0700" : "0755"
        return "install -d -m \(mode) -o \(name) \(ServiceUnit.shellQuoted(folder))"
      }
  }
}
