internal import CLinux
internal import Glibc
internal import PrefetchCore

/// An open directory, independent of later changes of its path; names are never followed as links.
final class Folder: Sendable {
  let path: String
  private let file: OpenFile

  private init(file: OpenFile) {
    self.file = file
    path = file.path
  }

  /// Opens an existing directory, following links in its path; returns nil when it is missing.
  convenience init?(at path: String) throws(Failure) {
    let number = SystemCall.number { unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard number != -ENOENT else { return nil }
    guard number != -ENOTDIR else {
      throw Failure(.disk, "`\(path)` is not a directory")
    }
    guard number >= 0 else { throw .system(-number, "open", path) }
    self.init(file: OpenFile(owning: number, path: path))
  }

  /// Opens a directory and makes it where it is missing, with its parents; `mode` is for the last.
  static func making(_ path: String, mode: mode_t = 0o755) throws(Failure) -> Folder {
    if let folder = try Folder(at: path) { return folder }
    var partial = path.hasPrefix("/") ? "" : "."
    let components = PathText.components(of: path).filter { !$0.isEmpty }
    for (number, component) in components.enumerated() {
      partial += "/" + component
      let isLast = number == components.count - 1
      let result = SystemCall.number { unsafe mkdir(partial, isLast ? mode : 0o755) }
      // An existing parent is fine, whatever error `mkdir` reports.
      guard result < 0, result != -EEXIST, try Folder(at: partial) == nil else { continue }
      throw .system(-result, "create", partial)
    }
    guard let folder = try Folder(at: path) else { throw .system(ENOENT, "create", path) }
    return folder
  }

  var realPath: String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let link = "/proc/self/fd/\(number)"
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return 0 }
      return unsafe readlink(link, start, bytes.count)
    }
    guard count > 0 else { return path }
    return String(decoding: buffer[..<count], as: UTF8.self)
  }

  var number: Int32 {
    file.number
  }

  func path(of name: String) -> String {
    path + "/" + name
  }

  func open(_ name: String, _ flags: Int32, mode: mode_t = 0) throws(Failure) -> OpenFile {
    let number = openNumber(name, flags, mode: mode)
    guard number >= 0 else {
      throw .system(-number, flags & O_CREAT == 0 ? "open" : "create", path(of: name))
    }
    return OpenFile(owning: number, path: path(of: name))
  }

  func openExisting(_ name: String, _ flags: Int32) throws(Failure) -> OpenFile? {
    let number = openNumber(name, flags)
    guard number != -ENOENT else { return nil }
    guard number >= 0 else { throw .system(-number, "open", path(of: name)) }
    return OpenFile(owning: number, path: path(of: name))
  }

  func openLock(_ name: String, mode: mode_t = 0o644) throws(Failure) -> OpenFile {
    try open(name, O_RDWR | O_CREAT, mode: mode)
  }

  func openNumber(_ name: String, _ flags: Int32, mode: mode_t = 0) -> Int32 {
    unsafe name.withCString { name in
      SystemCall.number { unsafe openat(number, name, flags | O_NOFOLLOW | O_CLOEXEC, mode) }
    }
  }

  func folder(_ name: String) throws(Failure) -> Folder? {
    let number = openNumber(name, O_RDONLY | O_DIRECTORY)
    guard number != -ENOENT else { return nil }
    guard number != -ENOTDIR, number != -ELOOP else {
      throw Failure(.disk, "`\(path(of: name))` is not a directory")
    }
    guard number >= 0 else { throw .system(-number, "open", path(of: name)) }
    return Folder(file: OpenFile(owning: number, path: path(of: name)))
  }

  func makingFolder(_ name: String, mode: mode_t = 0o755) throws(Failure) -> (Folder, isNew: Bool) {
    if let folder = try folder(name) { return (folder, false) }
    let result = SystemCall.number { unsafe mkdirat(number, name, mode) }
    guard result == 0 || result == -EEXIST else {
      throw .system(-result, "create", path(of: name))
    }
    guard let folder = try folder(name) else { throw .system(ENOENT, "open", path(of: name)) }
    return (folder, result == 0)
  }

  /// Whether this process may make files in the folder.
  var isWritable: Bool {
    unsafe faccessat(number, ".", W_OK | X_OK, AT_EACCESS) == 0
  }

  func status() throws(Failure) -> FileStatus {
    try file.status()
  }

  func parentStatus() throws(Failure) -> FileStatus? {
    try status(of: "..")
  }

  func status(of name: String) throws(Failure) -> FileStatus? {
    var status = stat()
    let result = SystemCall.number { unsafe fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) }
    guard result != -ENOENT else { return nil }
    guard result == 0 else { throw .system(-result, "examine", path(of: name)) }
    return FileStatus(status)
  }

  /// Returns the birth time, which tells a file from a later one with the same inode; 0 if unknown.
  func birth(of name: String) -> Int64 {
    unsafe prefetch_birth(number, name)
  }

  /// Changes the mode of a file; a file that replaces it meanwhile is not affected.
  func setMode(_ mode: mode_t, of name: String) throws(Failure) {
    // `O_PATH` works for a file that no user may read.
    let file = try open(name, Self.pathOnly)
    guard try file.status().kind == .file else { return }
    try SystemCall.require("change", path(of: name)) {
      unsafe chmod("/proc/self/fd/\(file.number)", mode)
    }
  }

  /// `O_PATH`, which the headers declare for `_GNU_SOURCE` only.
  private static let pathOnly: Int32 = 0o10_000_000

  @discardableResult
  func remove(_ name: String) throws(Failure) -> Bool {
    let result = SystemCall.number { unsafe unlinkat(number, name, 0) }
    guard result != -ENOENT else { return false }
    guard result == 0 else { throw .system(-result, "remove", path(of: name)) }
    return true
  }

  func removeFolder(_ name: String) throws(Failure) {
    try SystemCall.require("remove", path(of: name)) {
      unsafe unlinkat(number, name, Int32(AT_REMOVEDIR))
    }
  }

  func removeAll(_ name: String) throws(Failure) {
    guard try status(of: name)?.kind == .folder, let folder = try folder(name) else {
      try remove(name)
      return
    }
    for inner in try folder.names() { try folder.removeAll(inner) }
    try removeFolder(name)
  }

  func rename(_ name: String, to newName: String, in other: Folder) throws(Failure) {
    try SystemCall.require("rename", path(of: name)) {
      unsafe renameat(number, name, other.number, newName)
    }
  }

  /// Hard-links a file; returns 0 or the negative error number.
  func link(_ name: String, to newName: String, in other: Folder) -> Int32 {
    SystemCall.number { unsafe linkat(number, name, other.number, newName, 0) }
  }

  /// Makes a symbolic link; returns 0 or the negative error number.
  func makeLink(_ name: String, to target: String) -> Int32 {
    SystemCall.number { unsafe symlinkat(target, number, name) }
  }

  /// Returns the text of a symbolic link; nil for any other file.
  func target(of name: String) throws(Failure) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = SystemCall.count {
      unsafe buffer.withUnsafeMutableBytes { bytes in
        guard let start = bytes.baseAddress else { return 0 }
        return unsafe readlinkat(number, name, start, bytes.count)
      }
    }
    if count < 0, ![-Int(EINVAL), -Int(ENOENT)].contains(count) {
      throw .system(Int32(-count), "read the link", path(of: name))
    }
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }

  /// Gives an unnamed file its first name; returns 0 or the negative error number.
  func link(_ unnamed: OpenFile, as name: String) -> Int32 {
    let result = SystemCall.number {
      unsafe linkat(unnamed.number, "", number, name, Self.emptyPath)
    }
    // Not every process may link by descriptor; the detour through `/proc` costs more.
    guard result != 0, result != -EEXIST else { return result }
    return SystemCall.number {
      unsafe linkat(
        AT_FDCWD,
        "/proc/self/fd/\(unnamed.number)",
        number,
        name,
        Int32(AT_SYMLINK_FOLLOW)
      )
    }
  }

  /// `AT_EMPTY_PATH`, which the headers declare for `_GNU_SOURCE` only.
  private static let emptyPath: Int32 = 0x1000

  func copy(
    _ name: String,
    to newName: String,
    in other: Folder,
    mode: mode_t = 0o600
  ) throws(Failure) {
    let source = try open(name, O_RDONLY)
    let target = try other.open(newName, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
    try source.copy(to: target)
    try target.close()
  }

  func names() throws(Failure) -> [String] {
    // `fdopendir` takes over its descriptor, so the stream needs one of its own.
    let number = openNumber(".", O_RDONLY | O_DIRECTORY)
    guard number >= 0 else { throw .system(-number, "open", path) }
    guard let stream = unsafe fdopendir(number) else {
      let error = errno
      Glibc.close(number)
      throw .system(error, "list", path)
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    errno = 0
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
          unsafe String(cString: $0)
        }
      }
      if name != ".", name != ".." {
        names.append(name)
      }
      errno = 0
    }
    guard errno == 0 else { throw .system(errno, "list", path) }
    return names
  }

  func synchronize() throws(Failure) {
    try file.synchronize()
  }

  func synchronizeFileSystem() throws(Failure) {
    try SystemCall.require("write to disk", path) { prefetch_syncfs(number) }
  }
}
