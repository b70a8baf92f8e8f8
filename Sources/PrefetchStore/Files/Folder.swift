internal import CLinux
internal import Glibc
internal import PrefetchCore

/// A directory held open: what is done below it hits this directory, whatever its path means later.
///
/// No name given here is followed if it is a symbolic link.
final class Folder: Sendable {
  let path: String
  private let file: OpenFile

  private init(file: OpenFile) {
    self.file = file
    path = file.path
  }

  /// Opens an existing directory of the user's choice, links in its path included; nil when missing.
  convenience init?(at path: String) throws(Failure) {
    let number = SystemCall.number { unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard number != -ENOENT else { return nil }
    guard number != -ENOTDIR else {
      throw Failure(.disk, "`\(path)` is not a directory")
    }
    guard number >= 0 else { throw .system(-number, "open", path) }
    self.init(file: OpenFile(owning: number, path: path))
  }

  /// Opens a directory of the user's choice and makes it, with its parents, where it is missing; the
  /// mode is that of the directory itself.
  static func making(_ path: String, mode: mode_t = 0o755) throws(Failure) -> Folder {
    if let folder = try Folder(at: path) { return folder }
    var partial = path.hasPrefix("/") ? "" : "."
    let components = PathText.parts(of: path).filter { !$0.isEmpty }
    for (number, component) in components.enumerated() {
      partial += "/" + component
      let isLast = number == components.count - 1
      let result = SystemCall.number { unsafe mkdir(partial, isLast ? mode : 0o755) }
      // A parent that may not be written but exists is fine, whatever the error says.
      guard result < 0, result != -EEXIST, try Folder(at: partial) == nil else { continue }
      throw .system(-result, "create", partial)
    }
    guard let folder = try Folder(at: path) else { throw .system(ENOENT, "create", path) }
    return folder
  }

  /// Where the directory really is now, for libraries that take paths only.
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
    guard number >= 0 else { throw .system(-number, "open", path(of: name)) }
    return OpenFile(owning: number, path: path(of: name))
  }

  /// Nil when there is none.
  func openExisting(_ name: String, _ flags: Int32) throws(Failure) -> OpenFile? {
    let number = openNumber(name, flags)
    guard number != -ENOENT else { return nil }
    guard number >= 0 else { throw .system(-number, "open", path(of: name)) }
    return OpenFile(owning: number, path: path(of: name))
  }

  /// A file whose only use is to be locked.
  func openLock(_ name: String, mode: mode_t = 0o644) throws(Failure) -> OpenFile {
    try open(name, O_RDWR | O_CREAT, mode: mode)
  }

  /// The descriptor or the negative error number, where some errors are expected.
  func openNumber(_ name: String, _ flags: Int32, mode: mode_t = 0) -> Int32 {
    unsafe name.withCString { name in
      SystemCall.number { unsafe openat(number, name, flags | O_NOFOLLOW | O_CLOEXEC, mode) }
    }
  }

  /// Nil when there is none.
  func folder(_ name: String) throws(Failure) -> Folder? {
    let number = openNumber(name, O_RDONLY | O_DIRECTORY)
    guard number != -ENOENT else { return nil }
    guard number != -ENOTDIR, number != -ELOOP else {
      throw Failure(.disk, "`\(path(of: name))` is not a directory")
    }
    guard number >= 0 else { throw .system(-number, "open", path(of: name)) }
    return Folder(file: OpenFile(owning: number, path: path(of: name)))
  }

  /// Makes it where it is missing; says whether it did.
  func makingFolder(_ name: String, mode: mode_t = 0o755) throws(Failure) -> (Folder, isNew: Bool) {
    if let folder = try folder(name) { return (folder, false) }
    let result = SystemCall.number { unsafe mkdirat(number, name, mode) }
    guard result == 0 || result == -EEXIST else {
      throw .system(-result, "create", path(of: name))
    }
    guard let folder = try folder(name) else { throw .system(ENOENT, "open", path(of: name)) }
    return (folder, result == 0)
  }

  func status() throws(Failure) -> FileStatus {
    try file.status()
  }

  /// The status of the directory that this one is in.
  func parentStatus() throws(Failure) -> FileStatus? {
    try status(of: "..")
  }

  /// Nil when there is no such name.
  func status(of name: String) throws(Failure) -> FileStatus? {
    var status = stat()
    let result = SystemCall.number { unsafe fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) }
    guard result != -ENOENT else { return nil }
    guard result == 0 else { throw .system(-result, "examine", path(of: name)) }
    return FileStatus(status)
  }

  /// Which tells a file from another that came to have its number; zero where that is not known.
  func birth(of name: String) -> Int64 {
    unsafe prefetch_birth(number, name)
  }

  /// Whatever is put in place of the file meanwhile does not get them.
  func setMode(_ mode: mode_t, of name: String) throws(Failure) {
    // Also a file that no user may read has such a descriptor.
    let file = try open(name, Self.pathOnly)
    guard try file.status().kind == .file else { return }
    try SystemCall.require("change", path(of: name)) {
      unsafe chmod("/proc/self/fd/\(file.number)", mode)
    }
  }

  /// `O_PATH`, which only GNU programs are told of.
  private static let pathOnly: Int32 = 0o10_000_000

  /// Says whether there was something to remove.
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

  /// Removes a file, or a folder with all that is in it; links are not followed.
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

  /// A second name for a file; 0 or the negative error number.
  func link(_ name: String, to newName: String, in other: Folder) -> Int32 {
    SystemCall.number { unsafe linkat(number, name, other.number, newName, 0) }
  }

  /// The first name for a file that has none; 0 or the negative error number.
  func link(_ unnamed: OpenFile, as name: String) -> Int32 {
    let result = SystemCall.number {
      unsafe linkat(unnamed.number, "", number, name, Self.emptyPath)
    }
    // Not every process may name a file by its descriptor; the way through /proc is longer.
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

  /// `AT_EMPTY_PATH`, which only GNU programs are told of.
  private static let emptyPath: Int32 = 0x1000

  /// Copies a file into a new one.
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
    // The stream takes its descriptor over, so it gets one of its own.
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

  /// Everything on its file system at once.
  func synchronizeFileSystem() throws(Failure) {
    try SystemCall.require("write to disk", path) { prefetch_syncfs(number) }
  }
}
