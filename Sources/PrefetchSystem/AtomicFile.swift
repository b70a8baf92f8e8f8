internal import Glibc
package import PrefetchCore

/// A file that appears complete or not at all.
///
/// `+PATH` appends, special files such as FIFOs are written in place, and symbolic links stay.
package struct AtomicFile: ~Copyable {
  private enum CommitMode {
    case rename(from: String, to: String)
    case inPlace
  }

  private let path: String
  private let descriptor: FileDescriptor
  private let commitMode: CommitMode
  private var isCommitted = false

  package static func write(_ contents: [UInt8], to path: String) throws(Failure) {
    var file = try AtomicFile(path: path)
    unsafe try file.write(contents.span.bytes)
    try file.commit()
  }

  /// Creates a file atomically; returns false when the name is taken.
  package static func writeNew(_ contents: [UInt8], to path: String) throws(Failure) -> Bool {
    do throws(SystemFault) {
      var draft = ""
      let file = try openTemporary(path, as: &draft)
      defer { _ = unsafe unlink(draft) }
      unsafe try FileDescriptor.writeAll(contents.span.bytes, to: file.number)
      guard fsync(file.number) == 0 else { throw .last }
      if unsafe link(draft, path) == 0 { return true }
      guard errno == EEXIST else { throw .last }
      return false
    } catch {
      throw Failure(error, doing: "write", at: path)
    }
  }

  package init(path: String) throws(Failure) {
    self.path = path
    do throws(SystemFault) {
      if path.hasPrefix("+") {
        let file = String(path.dropFirst())
        descriptor = try FileDescriptor(
          opening: file,
          O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY | LinkFollowing.flag(for: file),
          mode: 0o666
        )
        commitMode = .inPlace
      } else if Self.isSpecial(path) {
        let flags = O_WRONLY | O_NOCTTY | (try LinkFollowing.flag(for: path))
        descriptor = try FileDescriptor(opening: path, flags)
        commitMode = .inPlace
      } else {
        let target = try LinkFollowing.target(of: path)
        var temporary = ""
        descriptor = try Self.openTemporary(target, as: &temporary)
        commitMode = .rename(from: temporary, to: target)
      }
    } catch {
      throw Failure(error, doing: "write", at: path)
    }
  }

  deinit {
    guard !isCommitted, case .rename(let temporary, _) = commitMode else { return }
    _ = unsafe unlink(temporary)
  }

  package mutating func write(_ bytes: RawSpan) throws(Failure) {
    do throws(SystemFault) {
      try FileDescriptor.writeAll(bytes, to: descriptor.number)
    } catch {
      throw Failure(error, doing: "write", at: path)
    }
  }

  package mutating func write(_ text: String) throws(Failure) {
    unsafe try write(Array(text.utf8).span.bytes)
  }

  /// Makes the file durable and visible; without a commit nothing is left behind.
  package consuming func commit() throws(Failure) {
    guard case .rename(let temporary, let target) = commitMode else { return }
    do throws(SystemFault) {
      guard fsync(descriptor.number) == 0 else { throw .last }
      guard unsafe rename(temporary, target) == 0 else { throw .last }
      isCommitted = true
      let folder = try FileDescriptor(
        opening: LinkFollowing.folder(of: target),
        O_RDONLY | O_DIRECTORY
      )
      // Some file systems cannot sync a folder; the file is complete either way.
      _ = fsync(folder.number)
    } catch {
      throw Failure(error, doing: "write", at: path)
    }
  }

  package static func replaces(_ path: String) -> Bool {
    !path.hasPrefix("+") && !isSpecial(path)
  }

  private static func isSpecial(_ path: String) -> Bool {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return false }
    return status.st_mode & S_IFMT != S_IFREG
  }

  private static func openTemporary(
    _ target: String,
    as temporary: inout String
  ) throws(SystemFault) -> FileDescriptor {
    let prefix = ".\((target.split(separator: "/").last ?? "file").prefix(200))."
    let folder = LinkFollowing.folder(of: target)
    removeLeftovers(prefix, in: folder)
    var attempt = 0
    while true {
      temporary = "\(folder)/\(prefix)\(getpid())-\(attempt)"
      do throws(SystemFault) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        let descriptor = try FileDescriptor(opening: temporary, flags, mode: 0o666)
        if isLost(descriptor), attempt < 100 {
          attempt += 1
          continue
        }
        keepMode(of: target, on: descriptor.number)
        return descriptor
      } catch  where error.number == EEXIST && attempt < 100 {
        attempt += 1
      }
    }
  }

  /// Locks a new file, so that no other process removes it as a leftover, unless one was faster.
  private static func isLost(_ file: borrowing FileDescriptor) -> Bool {
    if flock(file.number, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { return true }
    var status = stat()
    return unsafe fstat(file.number, &status) == 0 && status.st_nlink == 0
  }

  /// Removes files of killed processes; a living one holds its file's lock.
  private static func removeLeftovers(_ prefix: String, in folder: String) {
    for name in FolderListing.names(folder) where name.hasPrefix(prefix) {
      let parts = name.dropFirst(prefix.count).split(separator: "-", maxSplits: 1)
      guard parts.count == 2, pid_t(parts[0]) != nil, Int(parts[1]) != nil else { continue }
      let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
      var status = stat()
      guard let file = try? FileDescriptor(opening: "\(folder)/\(name)", flags),
        unsafe fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        status.st_uid == geteuid(),
        flock(file.number, LOCK_EX | LOCK_NB) == 0
      else { continue }
      FolderListing.remove(name, in: folder)
    }
  }

  private static func keepMode(of target: String, on descriptor: Int32) {
    var status = stat()
    guard unsafe stat(target, &status) == 0 else { return }
    fchmod(descriptor, status.st_mode & 0o777)
  }
}
