internal import Glibc
package import PrefetchCore

package enum FileReading {
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

  /// Reads a regular file only, so that no pipe blocks.
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

  /// Passes a file's bytes to a function; large files are mapped.
  ///
  /// Small files are copied: that is cheaper, and no other process can truncate a copy.
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
      // A pipe can be opened only once.
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

  /// Returns the absolute path without symbolic links; nil when nothing exists there.
  package static func realPath(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  package static func exists(_ path: String) -> Bool {
    unsafe access(path, F_OK) == 0
  }

  /// Whether a file holds text in PEM; files of authorities have at most a few megabytes.
  package static func isPEM(_ path: String) -> Bool {
    guard let bytes = try? read(path, limit: 64 << 20) else { return true }
    let mark = Array("-----BEGIN ".utf8)
    return bytes.indices.contains { bytes[$0] == mark[0] && bytes[$0...].starts(with: mark) }
  }

  package static func isReadable(_ path: String, asFolder: Bool) -> Bool {
    guard isFolder(path) == asFolder else { return false }
    return unsafe access(path, asFolder ? R_OK | X_OK : R_OK) == 0
  }

  /// Returns a regular file's size, symbolic links followed; nil for anything else.
  package static func size(_ path: String) -> Int64? {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(status.st_size)
  }

  package static func isWritableFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      && access(path, W_OK | X_OK) == 0
  }

  package static func isReadOnly(_ path: String) -> Bool {
    unsafe access(path, W_OK) != 0 && errno == EROFS
  }

  package static func names(in folder: String) -> [String] {
    FolderListing.names(folder)
  }

  package static func isStream(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0
      && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
  }

  package static func isProgram(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      && access(path, X_OK) == 0
  }

  package static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  package static func modified(_ path: String) -> Instant? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return Instant(seconds: Int64(status.st_mtim.tv_sec))
  }

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
