internal import CLinux
internal import Glibc
internal import PrefetchCore
internal import PrefetchCrypto

/// Makes files of a tree from stored bodies: as hard links, clones or copies.
final class TreeSource {
  enum Form {
    case object(Folder, name: String)
    case unnamed(OpenFile)
    /// A file with a temporary name, where the file system has no unnamed files.
    case named(OpenFile, Folder, name: String)
    /// A symbolic link with this text.
    case alias(String)

    var file: OpenFile? {
      switch self {
      case .object, .alias: nil
      case .unnamed(let file), .named(let file, _, _): file
      }
    }

    var birth: Int64 {
      switch self {
      case .object(let home, let name): home.birth(of: name)
      case .unnamed(let file), .named(let file, _, _): file.birth
      case .alias: 0
      }
    }

    /// Gives the file an unused name; returns 0 or the negative error number.
    func link(as leaf: String, in folder: Folder) -> Int32 {
      switch self {
      case .object(let home, let name):
        return home.link(name, to: leaf, in: folder)
      case .unnamed(let file):
        return folder.link(file, as: leaf)
      case .alias(let target):
        return folder.makeLink(leaf, to: target)
      case .named(_, let home, let name):
        let result = home.link(name, to: leaf, in: folder)
        _ = try? home.remove(name)
        return result
      }
    }

    func install(as leaf: String, in folder: Folder) throws(Failure) {
      if case .named(_, let home, let name) = self {
        return try home.rename(name, to: leaf, in: folder)
      }
      var result = link(as: leaf, in: folder)
      if result == -EEXIST {
        let temporary = RandomName.make(TreeName.temporaryPrefix)
        result = link(as: temporary, in: folder)
        if result == 0 {
          defer { _ = try? folder.remove(temporary) }
          return try folder.rename(temporary, to: leaf, in: folder)
        }
      }
      guard result == 0 else { throw .system(-result, "create", folder.path(of: leaf)) }
    }

    func discard() {
      guard case .named(_, let folder, let name) = self else { return }
      _ = try? folder.remove(name)
    }
  }

  private let objects: ObjectLayers
  private let rules: PublishingRules
  private let isSpoilt: (ContentDigest) throws(Failure) -> Bool
  /// Whether files get a mode by the process's umask, not that of a public tree.
  private let heedsMask: Bool
  private let isCancelled: () -> Bool
  private var folders: [UInt8: Folder] = [:]
  private var isCloneless = false
  private var isLinkless = false
  let mirrorLinks: MirrorLinks?
  /// Whether a body was copied only because the tree is on another file system.
  private(set) var hasCopiedAcross = false

  init(
    objects: ObjectLayers,
    rules: PublishingRules,
    heedsMask: Bool = false,
    isCancelled: @escaping () -> Bool,
    isSpoilt: @escaping (ContentDigest) throws(Failure) -> Bool = { _ in false }
  ) {
    self.objects = objects
    self.rules = rules
    self.heedsMask = heedsMask
    mirrorLinks = rules.mirror == nil || rules.hub != nil ? nil : MirrorLinks()
    self.isCancelled = isCancelled
    self.isSpoilt = isSpoilt
  }

  /// Text of the way of making files; published files are remade when it changes.
  static func linkMethod(_ rules: PublishingRules) -> String {
    let avoidsLinks =
      rules.link == .auto && (rules.layout.isWrittenByTools || rules.needsOwnFiles)
    return avoidsLinks ? "\(rules.link.rawValue), no links" : rules.link.rawValue
  }

  func digest(of content: TreeFile.Content) -> ContentDigest? {
    switch content {
    case .body(let digest, _): digest
    case .bytes(let bytes): SHA256.digest(of: bytes)
    case .link(let target): SHA256.digest(of: Array(target.utf8))
    case .list, .foreseen, .absent: nil
    }
  }

  func isSpoilt(_ content: TreeFile.Content) throws(Failure) -> Bool {
    guard case .body(let digest, _) = content else { return false }
    return try isSpoilt(digest)
  }

  /// Makes a file without its final name; `modified` is its time in ns since 1970.
  func make(
    _ content: TreeFile.Content,
    in folder: Folder,
    modified: Int64? = nil
  ) throws(Failure) -> Form {
    let form = try untimed(content, in: folder, modified)
    if let modified { form.file?.setModified(modified) }
    return form
  }

  /// Makes the file; a linked body has its time already.
  private func untimed(
    _ content: TreeFile.Content,
    in folder: Folder,
    _ modified: Int64?
  ) throws(Failure) -> Form {
    if case .link(let target) = content { return .alias(target) }
    guard case .body(let digest, _) = content else {
      guard case .bytes(let bytes) = content else { throw Failure(.internal, "no body to publish") }
      return try filled(folder) { (file) throws(Failure) in
        try file.write(unsafe bytes.span.bytes)
      }
    }
    let name = digest.hexadecimal
    let (home, isOwn) = try findHome(of: digest)
    switch rules.link {
    case .hardlink where isOwn: return .object(home, name: name)
    // A hard link would expose the lower cache's file to changes.
    case .hardlink: return try copied(name, in: home, to: folder)
    case .copy: return try copied(name, in: home, to: folder)
    case .reflink:
      if let clone = try cloned(name, in: home, to: folder) { return clone }
      throw Failure(
        .unsupported,
        "`link: reflink` is not possible between `\(home.path)` and `\(folder.path)`; use `link: auto`"
      )
    case .auto:
      // Files of a hub's cache are read-only, so that links of the bodies can serve.
      if rules.hub == nil, let clone = try cloned(name, in: home, to: folder) { return clone }
      if isOwn, !rules.layout.isWrittenByTools, !rules.needsOwnFiles, !isLinkless,
        try isSameDevice(home, folder),
        try mirrorLinks?.makeReady(name, in: home, modified: modified) ?? true
      {
        return .object(home, name: name)
      }
      if isOwn, try !isSameDevice(home, folder) { hasCopiedAcross = true }
      return try copied(name, in: home, to: folder)
    }
  }

  func isLink(_ status: FileStatus, to content: TreeFile.Content) -> Bool {
    guard case .body(let digest, _) = content,
      let object = (try? home(of: digest).status(of: digest.hexadecimal)) ?? nil
    else { return false }
    return object.isSameFile(as: status)
  }

  /// Returns whether the stored body has the right bytes; throws when it cannot be read.
  func isIntact(_ digest: ContentDigest, _ isCancelled: () -> Bool) throws(Failure) -> Bool {
    do throws(Failure) {
      guard let file = try objects.open(digest) else { return false }
      return try ObjectFolder.digest(of: file, isCancelled: isCancelled) == digest
    } catch {
      guard error.code == .storeDamaged else { throw error }
      return false
    }
  }

  /// Restores the mode: all users may read, none may write a stored body; errors are ignored.
  func restoreMode(_ spot: TreeSpot, of content: TreeFile.Content) {
    guard spot.status.kind == .file else { return }
    if let mode = rules.mode.map({ mode_t($0) }) {
      if spot.status.mode != mode, spot.status.linkCount == 1 {
        try? spot.folder.setMode(mode, of: spot.leaf)
      }
      return
    }
    let isLink =
      mirrorLinks == nil && spot.status.linkCount > 1 && isLink(spot.status, to: content)
    let isFine = spot.status.mode == 0o444 || !isLink && spot.status.mode == 0o644
    if !isFine { try? spot.folder.setMode(isLink ? 0o444 : 0o644, of: spot.leaf) }
  }

  /// Returns a copy after a link failed, if a copy can succeed.
  func instead(
    of digest: ContentDigest,
    in folder: Folder,
    modified: Int64?,
    error: Int32
  ) throws(Failure) -> Form? {
    guard rules.link == .auto, [EXDEV, EMLINK, EPERM, EOPNOTSUPP].contains(error) else {
      return nil
    }
    if error != EMLINK { isLinkless = true }
    let form = try copied(digest.hexadecimal, in: try home(of: digest), to: folder)
    if let modified { form.file?.setModified(modified) }
    return form
  }

  private func home(of digest: ContentDigest) throws(Failure) -> Folder {
    try findHome(of: digest).home
  }

  private func findHome(
    of digest: ContentDigest
  ) throws(Failure) -> (home: Folder, isOwn: Bool) {
    if objects.lower.isEmpty, let known = folders[digest.prefix] { return (known, true) }
    guard let (folder, isOwn) = try objects.home(of: digest) else {
      throw Failure(.storeDamaged, "the stored body `\(digest)` is missing")
    }
    if folders.count >= 32 { folders = [:] }
    folders[digest.prefix] = folder
    return (folder, isOwn)
  }

  private func isSameDevice(_ a: Folder, _ b: Folder) throws(Failure) -> Bool {
    try a.status().device == b.status().device
  }

  private func cloned(_ name: String, in home: Folder, to folder: Folder) throws(Failure) -> Form? {
    guard !isCloneless else { return nil }
    let source = try body(name, in: home)
    var isCloned = false
    let form = try filled(folder) { (file) throws(Failure) in
      isCloned = SystemCall.number { prefetch_clone_file(file.number, source.number) } == 0
    }
    if isCloned { return form }
    form.discard()
    isCloneless = true
    return nil
  }

  private func copied(_ name: String, in home: Folder, to folder: Folder) throws(Failure) -> Form {
    let source = try body(name, in: home)
    return try filled(folder) { (file) throws(Failure) in
      try source.copy(to: file, isCancelled: isCancelled)
    }
  }

  private func body(_ name: String, in home: Folder) throws(Failure) -> OpenFile {
    guard let file = try ObjectFolder.open(name, in: home) else {
      throw Failure(.storeDamaged, "the stored body `sha256:\(name)` is missing")
    }
    return file
  }

  private func filled(
    _ folder: Folder,
    _ fill: (OpenFile) throws(Failure) -> Void
  ) throws(Failure) -> Form {
    let mode: mode_t = heedsMask ? 0o666 : 0o644
    let number = folder.openNumber(".", Self.unnamed | O_WRONLY, mode: mode)
    if number >= 0 {
      let file = OpenFile(owning: number, path: folder.path)
      try fill(file)
      try makeReadable(file)
      return .unnamed(file)
    }
    let name = RandomName.make(TreeName.temporaryPrefix)
    let file = try folder.open(name, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
    do throws(Failure) {
      try fill(file)
      try makeReadable(file)
    } catch {
      _ = try? folder.remove(name)
      throw error
    }
    return .named(file, folder, name: name)
  }

  private func makeReadable(_ file: OpenFile) throws(Failure) {
    guard !heedsMask else { return }
    let mode = rules.mode.map { mode_t($0) } ?? Folder.writableMode
    try SystemCall.require("change", file.path) { fchmod(file.number, mode) }
  }

  /// `O_TMPFILE`, which the headers declare for `_GNU_SOURCE` only.
  private static let unnamed: Int32 = 0o20_000_000 | O_DIRECTORY
}
