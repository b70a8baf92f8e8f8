@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchSystem

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

  /// Returns the first folder or file on the way to a file that this user may not use.
  func obstacle(to file: String) -> String? {
    guard let path = FileReading.realPath(file) else { return nil }
    let membership = membership
    let folders = ["/"] + PathText.folders(of: path).filter { !$0.isEmpty }
    return folders.first { !Self.may(Self.search, $0, membership) }
      ?? (Self.may(Self.read, path, membership) ? nil : path)
  }

  private static let read: mode_t = 0o4
  private static let search: mode_t = 0o1

  /// User and groups on this machine; nil for a user that does not exist yet.
  private var membership: (user: uid_t, groups: Set<gid_t>)? {
    guard let entry = unsafe getpwnam(name) else { return nil }
    let (user, group) = unsafe (entry.pointee.pw_uid, entry.pointee.pw_gid)
    var groups = [gid_t](repeating: group, count: 256)
    var count = Int32(groups.count)
    _ = unsafe getgrouplist(name, group, &groups, &count)
    return (user, Set(groups.prefix(Int(max(0, count)))))
  }

  private static func may(
    _ right: mode_t,
    _ path: String,
    _ membership: (user: uid_t, groups: Set<gid_t>)?
  ) -> Bool {
    var status = stat()
    guard unsafe stat(path, &status) == 0, membership?.user != 0 else { return true }
    if membership?.user == status.st_uid { return status.st_mode >> 6 & right != 0 }
    let isOfGroup = membership?.groups.contains(status.st_gid) ?? false
    return status.st_mode >> (isOfGroup ? 3 : 0) & right != 0
  }

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
