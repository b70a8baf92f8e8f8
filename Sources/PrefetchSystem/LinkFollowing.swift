internal import Glibc

/// The rule by which a symbolic link that the user names for output is followed.
///
/// It is the kernel's `fs.protected_symlinks`, also where that is switched off and for calls that it does
/// not cover: in a sticky folder that others may write, such as `/tmp`, a link of another user leads
/// nowhere, since whoever planted it would choose what is overwritten.
enum LinkFollowing {
  /// Whether the path is a link that may be followed; false for what is no link, which is then opened
  /// with `O_NOFOLLOW`.
  static func isLink(_ path: String) throws(SystemFault) -> Bool {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return false }
    var folder = stat()
    guard unsafe stat(self.folder(of: path), &folder) == 0 else { throw .last }
    let isShared = folder.st_mode & S_ISVTX != 0 && folder.st_mode & S_IWOTH != 0
    let isOwn = status.st_uid == geteuid() || status.st_uid == folder.st_uid
    guard !isShared || isOwn else { throw SystemFault(number: EACCES, isForeignLink: true) }
    return true
  }

  /// The flag that keeps a link from being followed which is planted between the look and the opening.
  static func flag(for path: String) throws(SystemFault) -> Int32 {
    try isLink(path) ? 0 : O_NOFOLLOW
  }

  /// Where a file has to be put so that it appears at a path: behind a link that may be followed.
  static func target(of path: String) throws(SystemFault) -> String {
    try isLink(path) ? FileReading.realPath(path) ?? path : path
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
