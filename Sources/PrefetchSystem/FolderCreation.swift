internal import Glibc
package import PrefetchCore

/// Makes folders where they are missing.
package enum FolderCreation {
  /// The folder and every one above it; one that exists is left as it is.
  ///
  /// Those that are `isOwn` are for their user alone, whatever this process lets others do.
  package static func make(_ path: String, isOwn: Bool = false) throws(Failure) {
    guard !path.isEmpty, !FileReading.isFolder(path) else { return }
    if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      try make(String(path[..<slash]), isOwn: isOwn)
    }
    guard unsafe mkdir(path, isOwn ? 0o700 : 0o777) != 0, errno != EEXIST else { return }
    throw fault(path)
  }

  /// A folder that its owner alone may look into, in one that is there; one that exists is left as it
  /// is.
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
