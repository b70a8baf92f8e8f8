@unsafe @preconcurrency import Glibc
import PrefetchSystem

/// Reads and writes folders for tests.
enum FileTree {
  /// Facts of a file that must not change where nothing may be written.
  struct Facts: Hashable {
    var mode: UInt32
    var size: Int
    var inode: UInt
    var modified: Int
  }

  /// Everything at and below a path, itself included; links are not followed.
  static func listing(_ root: String) -> [String: Facts] {
    var listing: [String: Facts] = [:]
    var pending = [root]
    while let path = pending.popLast() {
      guard let status = status(path) else { continue }
      listing[path] = Facts(
        mode: status.st_mode,
        size: Int(status.st_size),
        inode: status.st_ino,
        modified: status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
      )
      if status.st_mode & S_IFMT == S_IFDIR {
        pending += names(path).map { "\(path)/\($0)" }
      }
    }
    return listing
  }

  /// The bodies of a cache by their digest.
  static func objects(_ cache: String) -> [String: Facts] {
    var objects: [String: Facts] = [:]
    for (path, facts) in listing("\(cache)/objects") where facts.mode & S_IFMT == S_IFREG {
      objects[String(path.split(separator: "/").last ?? "")] = facts
    }
    return objects
  }

  static func names(_ folder: String) -> [String] {
    FolderListing.names(folder).sorted()
  }

  static func status(_ path: String) -> stat? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status : nil
  }

  static func exists(_ path: String) -> Bool {
    status(path) != nil
  }

  static func makeFolder(_ path: String) {
    unsafe mkdir(path, 0o755)
  }

  static func remove(_ path: String) {
    unsafe unlink(path)
  }

  static func read(_ path: String) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe Glibc.read(file, &buffer, buffer.count)
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
    }
  }

  /// Replaces the file atomically, as a publisher does.
  static func write(_ bytes: [UInt8], to path: String) {
    let draft = "\(path).draft"
    let file = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { return }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
      guard count > 0 else { break }
      rest = rest.dropFirst(count)
    }
    close(file)
    unsafe rename(draft, path)
  }
}

extension FileTree {
  /// Returns the text of a symbolic link; nil for any other file.
  static func target(_ path: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe readlink(path, &buffer, buffer.count)
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }
}
