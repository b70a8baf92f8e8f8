internal import Glibc
package import PrefetchCore

/// Makes folders where they are missing.
package enum FolderCreation {
  /// The folder and every one above it; one that exists is left as it is.
  package static func make(_ path: String) throws(Failure) {
    guard !path.isEmpty, !FileReading.isFolder(path) else { return }
    if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      try make(String(path[..<slash]))
    }
    guard unsafe mkdir(path, 0o777) != 0, errno != EEXIST else { return }
    throw Failure(
      .permission,
      "the folder `\(path)` cannot be made: \(StandardOutput.reason(errno: errno))"
    )
  }
}
