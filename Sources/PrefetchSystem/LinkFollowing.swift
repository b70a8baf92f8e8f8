internal import Glibc

/// Rule for symbolic links that the user names for output: the kernel's `fs.protected_symlinks`.
///
/// The rule also holds where the kernel's is off, since a link chooses the overwritten file.
enum LinkFollowing {
  static func isPermittedLink(_ path: String) throws(SystemFault) -> Bool {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return false }
    var folder = stat()
    guard unsafe stat(self.folder(of: path), &folder) == 0 else { throw .last }
    let isShared = folder.st_mode & S_ISVTX != 0 && folder.st_mode & S_IWOTH != 0
    let isOwn = status.st_uid == geteuid() || status.st_uid == folder.st_uid
    guard !isShared || isOwn else { throw SystemFault(number: EACCES, isForeignLink: true) }
    return true
  }

  /// Returns `O_NOFOLLOW` for a path that is no link, against a link planted before the opening.
  static func flag(for path: String) throws(SystemFault) -> Int32 {
    try isPermittedLink(path) ? 0 : O_NOFOLLOW
  }

  static func target(of path: String) throws(SystemFault) -> String {
    try isPermittedLink(path) ? FileReading.realPath(path) ?? path : path
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
