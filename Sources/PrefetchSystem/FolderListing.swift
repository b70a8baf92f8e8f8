internal import Glibc

/// Lists a folder's names in no order; none when the folder cannot be read.
package enum FolderListing {
  package static func names(_ path: String) -> [String] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
          unsafe String(cString: $0)
        }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  package static func remove(_ name: String, in folder: String) {
    _ = unsafe unlink("\(folder)/\(name)")
  }
}
