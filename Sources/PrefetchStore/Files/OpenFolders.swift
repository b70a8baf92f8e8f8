internal import PrefetchCore

/// The 256 folders of objects, held open by the publisher: each is looked up once a run.
final class OpenFolders {
  private let root: Folder
  private let limit: Int
  private var folders: [Folder?]
  private var count = 0

  /// `descriptors` are all that the process has; these take an eighth at most.
  init(in root: Folder, descriptors: Int) {
    self.root = root
    limit = min(256, descriptors / 8)
    folders = Array(repeating: nil, count: 256)
  }

  /// Makes the folder where it is missing; says whether it did.
  func making(_ prefix: UInt8) throws(Failure) -> (Folder, isNew: Bool) {
    if let folder = folders[Int(prefix)] { return (folder, false) }
    let (folder, isNew) = try root.makingFolder(ObjectFolder.name(of: prefix))
    keep(folder, prefix)
    return (folder, isNew)
  }

  /// For a folder that another process removed while it was held.
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
