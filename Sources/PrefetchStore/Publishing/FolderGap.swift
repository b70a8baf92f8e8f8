internal import PrefetchCore

/// Folder where the path of a tree breaks off: missing, or empty as a mount point without its disk.
package struct FolderGap: Hashable, Sendable {
  package enum Problem: Hashable, Sendable {
    case missing
    case empty
    /// The folder of the tree has other entries.
    case filled
  }

  package let path: String
  package let problem: Problem
  /// Lowest folder of the path that exists.
  package let existing: String?

  init(above folder: String) {
    var missing: String?
    var path = folder
    while !path.isEmpty {
      if let found = (try? Folder(at: path)) ?? nil {
        let isEmpty = (try? found.names().isEmpty) ?? false
        if isEmpty {
          (self.path, problem, existing) = (path, .empty, path)
          return
        }
        break
      }
      missing = path
      path = String(PathText.split(path).folder)
    }
    existing = path.isEmpty ? nil : path
    self.path = missing ?? folder
    problem = missing == nil ? .filled : .missing
  }

  /// Returns text such as `is empty`, which follows the path.
  package var text: String {
    switch problem {
    case .missing: "is missing"
    case .empty: "is empty"
    case .filled: "has other contents"
    }
  }
}
