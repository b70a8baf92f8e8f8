internal import PrefetchCore

/// Open object folders of the publisher, so that each is opened once a run.
final class OpenFolders {
  private let root: Folder
  private let limit: Int
  private var folders: [Folder?]
  private var count = 0

  /// `descriptors` is the process's limit; the folders use an eighth at most.
  init(in root: Folder, descriptors: Int) {
    self.root = root
    limit = min(256, descriptors / 8)
    folders = Array(repeating: nil, count: 256)
  }

  func making(_ prefix: UInt8) throws(Failure) -> (Folder, isNew: Bool) {
    if let folder = folders[Int(prefix)] { return (folder, false) }
    let (folder, isNew) = try root.makingFolder(ObjectFolder.name(of: prefix))
    keep(folder, prefix)
    return (folder, isNew)
  }

  func forget(_ prefix: UInt8) {
    guard folders[Int(prefix)] != nil else { return }
    folders[Int(prefix)] = nil
    count -= 1
  }

  private func keep(_ folder: Folder, _ prefix: UInt8) {
    if count >= limit {
      folders = Array(repeating: nil, count: 256)
      count = 0
    }
    guard limit > 0 else { return }
    folders[Int(prefix)] = folder
    count += 1
  }
}
