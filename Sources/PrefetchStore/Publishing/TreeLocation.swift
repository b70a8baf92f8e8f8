internal import Glibc
internal import PrefetchCore

/// Location of a tree: a name in a parent folder; links in the parent's path are followed.
struct TreeLocation {
  let parent: Folder
  let name: String
  private let path: String

  private static func split(_ path: String) throws(Failure) -> (parent: String, name: String) {
    let components = PathText.components(of: path).filter { !$0.isEmpty }
    guard let last = components.last, PathText.isAbsolute(path) else {
      throw Failure(.disk, "`\(path)` cannot be the folder of a published tree")
    }
    return ("/" + components.dropLast().joined(separator: "/"), String(last))
  }

  static func making(_ path: String) throws(Failure) -> TreeLocation {
    let (parent, name) = try split(path)
    return TreeLocation(parent: try Folder.making(parent), name: name, path: path)
  }

  static func existing(_ path: String) throws(Failure) -> TreeLocation? {
    let (parentPath, name) = try split(path)
    guard let parent = try Folder(at: parentPath) else { return nil }
    return TreeLocation(parent: parent, name: name, path: path)
  }

  private init(parent: Folder, name: String, path: String) {
    self.parent = parent
    self.name = name
    self.path = path
  }

  func makingRoot() throws(Failure) -> (Folder, isNew: Bool) {
    try checkRoot()
    return try parent.makingFolder(name)
  }

  /// Throws where the name of the folder is taken by a link, which is never followed.
  func checkRoot() throws(Failure) {
    if try parent.status(of: name)?.kind == .link {
      if let generation = try linkedGeneration {
        throw Failure(
          .disk,
          "`\(path)` is the link of an atomic tree to its generation \(generation); "
            + "delete it to have a folder there, and `\(path).generations` after it"
        )
      }
      throw Failure(
        .disk,
        "`\(path)` is a symbolic link, which is not followed; name the folder itself"
      )
    }
  }

  /// Returns the folder of a generation; generation zero is a tree that is not atomic.
  func root(of generation: Int) throws(Failure) -> Folder? {
    guard generation > 0 else { return try parent.folder(name) }
    return try existingGenerations()?.folder(String(generation))
  }

  // MARK: Generations

  private var generationsName: String { name + ".generations" }

  func existingGenerations() throws(Failure) -> Folder? {
    try parent.folder(generationsName)
  }

  func makingGenerations() throws(Failure) -> Folder {
    try parent.makingFolder(generationsName).0
  }

  /// Generation that the link points to; nil for anything else at that name.
  var linkedGeneration: Int? {
    get throws(Failure) {
      guard let target = try parent.target(of: name), target.hasPrefix(generationsName + "/")
      else { return nil }
      return Int(target.dropFirst(generationsName.count + 1))
    }
  }

  /// Throws where the name of an atomic tree is taken by something that a switch would not replace.
  func checkSwitch() throws(Failure) {
    guard let status = try parent.status(of: name) else { return }
    if status.kind == .folder {
      guard try parent.folder(name)?.names().isEmpty ?? true else {
        throw foreign(Self.filledFolder)
      }
    } else if try linkedGeneration == nil {
      throw foreign("not prefetch's")
    }
  }

  func stand(_ generation: Int, _ generations: Folder) throws(Failure) {
    if let status = try parent.status(of: name) {
      if status.kind == .folder {
        guard (try? parent.removeFolder(name)) != nil else {
          throw foreign(Self.filledFolder)
        }
      } else if try linkedGeneration == nil {
        throw foreign("not prefetch's")
      }
    }
    let draft = TreeName.temporaryPrefix + "switch"
    try generations.remove(draft)
    try SystemCall.require("create", generations.path(of: draft)) {
      unsafe symlinkat("\(generationsName)/\(generation)", generations.number, draft)
    }
    try generations.rename(draft, to: name, in: parent)
  }

  private static let filledFolder = "a folder that is not empty"

  private func foreign(_ what: String) -> Failure {
    Failure(
      .failed,
      "`\(path)` is \(what), and an atomic tree needs the name for a link; move it away"
    )
  }
}
