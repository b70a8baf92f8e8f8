internal import Glibc
package import PrefetchCore

/// Files read whole, and what a path leads to.
package enum FileReading {
  /// Why a file could not be read.
  package enum Fault: Error, Hashable, Sendable {
    case missing
    case folder
    case forbidden
    case tooLarge(limit: Int)
    case unreadable(reason: String)
  }

  package static func read(_ path: String, limit: Int) throws(Fault) -> [UInt8] {
    try read(path, limit: limit, O_RDONLY | O_NOCTTY) { kind throws(SystemFault) in
      guard kind != S_IFDIR else { throw SystemFault(number: EISDIR) }
    }
  }

  /// The same of nothing but a regular file: no pipe is waited for.
  package static func readRegular(_ path: String, limit: Int) throws(Fault) -> [UInt8] {
    try read(path, limit: limit, O_RDONLY | O_NOCTTY | O_NONBLOCK) { kind throws(SystemFault) in
      guard kind == S_IFREG else { throw SystemFault(number: EINVAL) }
    }
  }

  private static func read(
    _ path: String,
    limit: Int,
    _ flags: Int32,
    check: (mode_t) throws(SystemFault) -> Void
  ) throws(Fault) -> [UInt8] {
    do throws(SystemFault) {
      let descriptor = try FileDescriptor(opening: path, flags)
      let status = try descriptor.status()
      try check(status.st_mode & S_IFMT)
      let size = Int(status.st_size)
      if let contents = try FileDescriptor.readAll(
        from: descriptor.number,
        limit: limit,
        expected: size
      ) {
        return contents
      }
    } catch {
      throw Fault(error)
    }
    throw .tooLarge(limit: limit)
  }

  /// The bytes of a file for the length of a call; a large one is mapped and not copied.
  ///
  /// Small files are copied: that costs less than a mapping, and no process can cut them then.
  package static func withBytes<Value>(
    of path: String,
    limit: Int,
    _ body: (RawSpan) -> Value
  ) throws(Fault) -> Value {
    let bytes: [UInt8]?
    do throws(SystemFault) {
      let descriptor = try FileDescriptor(opening: path, O_RDONLY | O_NOCTTY)
      let status = try descriptor.status()
      let size = Int(status.st_size)
      if status.st_mode & S_IFMT == S_IFREG, size > largestCopy, size <= limit {
        return try FileMapping(descriptor, size: size).withBytes(body)
      }
      // A pipe can be opened once.
      bytes = try FileDescriptor.readAll(from: descriptor.number, limit: limit, expected: size)
    } catch {
      throw Fault(error)
    }
    guard let bytes else { throw .tooLarge(limit: limit) }
    return unsafe body(bytes.span.bytes)
  }

  private static let largestCopy = 16 << 20

  package static func readStandardInput(limit: Int) throws(Fault) -> [UInt8] {
    do throws(SystemFault) {
      if let contents = try FileDescriptor.readAll(from: 0, limit: limit, expected: 0) {
        return contents
      }
    } catch {
      throw Fault(error)
    }
    throw .tooLarge(limit: limit)
  }

  /// The absolute path without symbolic links; nil when nothing is there.
  package static func realPath(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  /// Whether something is there, symbolic links followed.
  package static func exists(_ path: String) -> Bool {
    unsafe access(path, F_OK) == 0
  }

  /// Whether this user may read it, symbolic links followed.
  package static func isReadable(_ path: String, asFolder: Bool) -> Bool {
    guard isFolder(path) == asFolder else { return false }
    return unsafe access(path, asFolder ? R_OK | X_OK : R_OK) == 0
  }

  /// Of a file, symbolic links followed; nil for anything else.
  package static func size(_ path: String) -> Int64? {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(status.st_size)
  }

  /// Whether it is a folder in which this user may make files.
  package static func isWritableFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      && access(path, W_OK | X_OK) == 0
  }

  /// Whether it lies on a file system that takes no writes.
  package static func isReadOnly(_ path: String) -> Bool {
    unsafe access(path, W_OK) != 0 && errno == EROFS
  }

  /// The names in a folder, in no order; none where it cannot be read.
  package static func names(in folder: String) -> [String] {
    FolderListing.names(folder)
  }

  /// Whether its bytes can be read but once, as those of a pipe.
  package static func isStream(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0
      && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
  }

  /// Whether it is a file that this user may run.
  package static func isProgram(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      && access(path, X_OK) == 0
  }

  package static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// When its contents were last changed; nil when nothing is there.
  package static func modified(_ path: String) -> Instant? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return Instant(seconds: Int64(status.st_mtim.tv_sec))
  }

  /// The twelve permission bits; nil when nothing is there.
  package static func permissionBits(_ path: String) -> UInt16? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return UInt16(status.st_mode & 0o7777)
  }
}

extension FileReading.Fault {
  fileprivate init(_ fault: SystemFault) {
    switch fault.number {
    case ENOENT, ENOTDIR: self = .missing
    case EISDIR: self = .folder
    case EACCES, EPERM: self = .forbidden
    default: self = .unreadable(reason: fault.reason)
    }
  }

  /// Follows the name of the file: `does not exist`.
  package var reason: String {
    switch self {
    case .missing: "does not exist"
    case .folder: "is a folder"
    case .forbidden: "may not be read by this user"
    case .tooLarge(let limit): "is larger than \(limit) bytes"
    case .unreadable(let reason): "cannot be read: \(reason)"
    }
  }
}
