internal import Glibc
package import PrefetchCore

/// Files in a folder by names that somebody else gave them: whatever is planted there, nothing is
/// written outside.
///
/// The folder itself is the user's word and may be a link. Below it links are not followed: one
/// that stands for a folder is refused, one that stands for the file is replaced.
package enum FileBelow {
  /// Writes a file whole, over what is there; the folders on its way are made.
  package static func write(
    _ bytes: RawSpan,
    to path: String,
    in folder: String
  ) throws(Failure) {
    let parts = PathText.parts(of: path).map(String.init)
    let isSafe = parts.allSatisfy { !["", ".", ".."].contains($0) && !$0.utf8.contains(0) }
    guard isSafe, let name = parts.last else {
      throw Failure(.unsafeName, "the name `\(path)` would leave `\(folder)`")
    }
    try FolderCreation.make(folder)
    do throws(SystemFault) {
      var place = try FileDescriptor(opening: folder, O_RDONLY | O_DIRECTORY)
      for part in parts.dropLast() {
        place = try self.folder(part, in: place)
      }
      try write(bytes, named: name, in: place)
    } catch  where error.number == ELOOP || error.number == ENOTDIR {
      throw Failure(
        .unsafeName,
        "`\(folder)/\(path)` would be written through what is a link or no folder"
      )
    } catch {
      throw Failure(error, doing: "write", at: "\(folder)/\(path)")
    }
  }

  private static func folder(
    _ name: String,
    in place: borrowing FileDescriptor
  ) throws(SystemFault) -> FileDescriptor {
    if unsafe mkdirat(place.number, name, 0o777) != 0, errno != EEXIST { throw .last }
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    let number = unsafe openat(place.number, name, flags)
    guard number >= 0 else { throw .last }
    return FileDescriptor(number: number)
  }

  private static func write(
    _ bytes: RawSpan,
    named name: String,
    in place: borrowing FileDescriptor
  ) throws(SystemFault) {
    var temporary = ""
    let file = try temporaryFile(in: place, as: &temporary)
    do throws(SystemFault) {
      try FileDescriptor.writeAll(bytes, to: file.number)
      guard fsync(file.number) == 0 else { throw .last }
      guard unsafe renameat(place.number, temporary, place.number, name) == 0 else { throw .last }
    } catch {
      unsafe unlinkat(place.number, temporary, 0)
      throw error
    }
    // Some file systems cannot sync a folder; the file itself is whole either way.
    _ = fsync(place.number)
  }

  private static func temporaryFile(
    in place: borrowing FileDescriptor,
    as name: inout String
  ) throws(SystemFault) -> FileDescriptor {
    var attempt = 0
    while true {
      name = ".prefetch.\(getpid())-\(attempt)"
      let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
      let number = unsafe openat(place.number, name, flags, 0o666)
      if number >= 0 { return FileDescriptor(number: number) }
      guard errno == EEXIST, attempt < 100 else { throw .last }
      attempt += 1
    }
  }
}
