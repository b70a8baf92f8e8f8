internal import Glibc
internal import PrefetchCore

/// A private folder, removed at the end of the scope; open files in it live on.
struct TemporaryFolder: ~Copyable {
  let folder: Folder
  private let parent: Folder
  private let name: String

  init() throws(Failure) {
    var fault = Failure(.disk, "no place for temporary files")
    for path in ["/dev/shm", "/tmp", "/var/tmp"] {
      do throws(Failure) {
        guard let parent = try Folder(at: path) else { continue }
        let name = RandomName.make("prefetch-")
        let (folder, isNew) = try parent.makingFolder(name, mode: 0o700)
        guard isNew else { continue }
        self.folder = folder
        self.parent = parent
        self.name = name
        return
      } catch {
        fault = error
      }
    }
    throw fault
  }

  deinit {
    for file in (try? folder.names()) ?? [] {
      _ = try? folder.remove(file)
    }
    try? parent.removeFolder(name)
  }
}
