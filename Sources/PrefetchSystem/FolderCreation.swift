internal import Glibc
package import PrefetchCore

package enum FolderCreation {
  /// Creates a folder and its missing parents; `isOwn` makes them private whatever the umask is.
  package static func make(_ path: String, isOwn: Bool = false) throws(Failure) {
    guard !path.isEmpty, !FileReading.isFolder(path) else { return }
    if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      try make(String(path[..<slash]), isOwn: isOwn)
    }
    guard unsafe mkdir(path, isOwn ? 0o700 : 0o777) != 0 else { return }
    // Another process may have made it meanwhile.
    guard errno == EEXIST else { throw fault(path) }
    guard !FileReading.isFolder(path) else { return }
    throw Failure(.permission, "`\(path)` is not a folder; remove it, or name another place")
  }

  package static func makePrivate(_ path: String) throws(Failure) {
    guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { return }
    throw fault(path)
  }

  private static func fault(_ path: String) -> Failure {
    Failure(
      .permission,
      "the folder `\(path)` cannot be made: \(StandardOutput.reason(errno: errno))"
    )
  }
}
