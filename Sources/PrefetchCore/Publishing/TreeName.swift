/// Name of an item in a published tree, independent of the disk and of other items.
package struct TreeName: Sendable {
  private let rules: PublishingRules

  package init(_ rules: PublishingRules) {
    self.rules = rules
  }

  package func make(of entry: ManifestEntry, body: ContentDigest?) throws(Failure) -> String? {
    guard let form = entry.bundleForm else {
      return try checked(try fileName(of: entry, body))
    }
    if form == .ad {
      // The film may have another type than the name's extension.
      return try checked("\(adFolder(of: entry))\(BundleName.stem(of: entry)).mp4")
    }
    // A stream is a folder, with its main playlist inside.
    let folder: String?
    switch rules.layout {
    case .hls: folder = try bundleFolder(of: entry)
    case .url, .basename: folder = try fileName(of: entry, body)
    case .npm, .pip, .go, .bazel, .cargo, .yarn, .hf:
      throw Failure(
        .unsupported,
        "layout `\(rules.layout.rawValue)` has no place for an item of several files"
      )
    }
    return try checked(folder.map { "\($0)/\(BundleName.main(of: entry.url))" })
  }

  func beginnings(of entry: ManifestEntry, in folder: Substring) -> [String] {
    guard entry.bundleForm == .ad else { return ["\(folder)/"] }
    return ["\(adFolder(of: entry))\(BundleName.stem(of: entry))."]
  }

  private func adFolder(of entry: ManifestEntry) -> String {
    if let path = entry.path {
      let folder = PathText.split(path).folder
      return folder.isEmpty ? "" : cut(folder + "/", isBelowHost: false)
    }
    switch rules.layout {
    case .url:
      let path = URLText.readable(path: entry.url.path)
      let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
      return cut(
        namesHosts ? entry.url.authority + folder : String(folder.dropFirst()),
        isBelowHost: namesHosts
      )
    case .hls: return entry.provider.map { "\($0)/" } ?? ""
    case .basename, .npm, .pip, .go, .bazel, .cargo, .yarn, .hf: return ""
    }
  }

  private func bundleFolder(of entry: ManifestEntry) throws(Failure) -> String {
    if let path = entry.path { return path }
    let id = entry.isIdentifierMade ? nil : entry.id
    let name = if let id { id } else { try Self.lastComponent(of: entry.url) }
    return entry.provider.map { "\($0)/\(name)" } ?? name
  }

  private func fileName(
    of entry: ManifestEntry,
    _ body: ContentDigest?
  ) throws(Failure) -> String? {
    let name: String?
    switch rules.layout {
    case .url:
      if let path = entry.path {
        name = cut(path, isBelowHost: false)
      } else {
        name = try relativePath(of: entry.url)
      }
    case .basename, .hls:
      if let path = entry.path {
        name = path
      } else if rules.mirror != nil, rules.layout == .basename {
        name = PathText.split(Self.wgetName(of: entry.url)).leaf
      } else {
        name = try Self.lastComponent(of: entry.url)
      }
    case .pip:
      if let path = entry.path {
        name = PathText.split(path).leaf
      } else {
        name = try Self.lastComponent(of: entry.url)
      }
    case .go:
      if let path = entry.path, GoProxyName.isFile(path) {
        name = path
      } else {
        name = try GoProxyName.make(of: entry.url, proxy: rules.goProxy)
      }
    case .npm: name = try Self.npm(entry)
    case .bazel: name = Self.bazel(entry, body)
    case .cargo: name = try Self.cargo(entry)
    case .yarn: name = try YarnMirrorName.make(of: entry.url)
    case .hf: name = try hub(entry, body)
    }
    return name
  }

  private func checked(_ name: String?) throws(Failure) -> String? {
    guard let name else { return nil }
    if rules.mirror != nil, MirrorRules.isInOwnFolder(name) {
      throw Failure(
        .badName,
        "the name `\(Self.visible(name))` is in `\(MirrorRules.ownFolder)`, where the mirror's own files are"
      )
    }
    if let objection = Self.objection(to: name, below: rules.folder) { throw objection }
    return name
  }

  // MARK: Layouts

  private func relativePath(of url: WebURL) throws(Failure) -> String {
    let path: String
    if rules.mirror != nil {
      path = Self.wgetName(of: url)
    } else {
      let readable = URLText.readable(path: url.path)
      path =
        readable + (readable.hasSuffix("/") ? "index.html" : "")
        + (url.query.map { "?" + URLText.withoutSlashes(query: $0) } ?? "")
    }
    if namesHosts { return cut(url.authority + path, isBelowHost: true) }
    guard !path.hasPrefix("//") else {
      throw Failure(.badName, "the name `\(Self.visible(path))` has an empty part")
    }
    return cut(String(path.dropFirst()), isBelowHost: false)
  }

  private static func wgetName(of url: WebURL) -> String {
    URLText.fileName(url.path) + (url.path.hasSuffix("/") ? "index.html" : "")
      + (url.query.map { "?" + URLText.fileName($0, isQuery: true) } ?? "")
  }

  private var namesHosts: Bool {
    rules.mirror?.namesHosts ?? true
  }

  private func cut(_ name: String, isBelowHost: Bool) -> String {
    guard let count = rules.mirror?.cutFolders, count > 0 else { return name }
    var parts = PathText.components(of: name)[...]
    let host = isBelowHost ? parts.popFirst() : nil
    parts = parts.dropFirst(min(count, max(0, parts.count - 1)))
    return ([host].compactMap(\.self) + parts).joined(separator: "/")
  }

  package static func lastComponent(of url: WebURL) throws(Failure) -> String {
    let component = PathText.split(url.path).leaf
    guard !component.isEmpty else {
      throw Failure(.badName, "its URL ends with no file name; `path` can name it")
    }
    let name = URLText.decoded(component)
    guard !name.utf8.contains(PathText.slash) else {
      throw Failure(.unsafeName, "the name `\(component)` in its URL would leave the folder")
    }
    return name
  }

  /// Returns the name in npm's store, by the strongest digest of the lockfile.
  private static func npm(_ entry: ManifestEntry) throws(Failure) -> String {
    guard let strongest = entry.digests.map(\.algorithm).max(), strongest > .md5 else {
      throw Failure(
        .manifestInvalid,
        "npm finds bodies by their SHA-512, SHA-384, SHA-256 or SHA-1, and none is declared"
      )
    }
    let digests = Set(entry.digests.filter { $0.algorithm == strongest }.map(\.bytes))
    guard digests.count == 1, let digest = digests.first else {
      throw Failure(
        .manifestInvalid,
        "several \(strongest.rawValue) digests are declared, and npm's store has one name for each"
      )
    }
    let digits = Hexadecimal.encode(digest)
    return "_cacache/content-v2/\(strongest.rawValue)/\(digits.prefix(2))/"
      + "\(digits.dropFirst(2).prefix(2))/\(digits.dropFirst(4))"
  }

  /// Returns the name, refused unless cargo reads it as a crate or index file.
  private static func cargo(_ entry: ManifestEntry) throws(Failure) -> String {
    let name = if let path = entry.path { path } else { try lastComponent(of: entry.url) }
    guard !CargoSource.holds(name) else { return name }
    let message =
      "the name `\(visible(name))` is neither that of a crate nor one below `index/`, "
      + "and cargo's home has no place for others"
    throw objection(to: name, below: "") ?? Failure(.badName, message)
  }

  /// Returns the name of the body; the name of the link to it must be possible too.
  private func hub(_ entry: ManifestEntry, _ body: ContentDigest?) throws(Failure) -> String? {
    guard let hub = rules.hub, let path = entry.path,
      let commit = HubLayout.commit(of: entry.url)
    else {
      throw Failure(
        .unsupported,
        "layout `hf` is for the files of a repository of a hub, as `hf:ORG/NAME` lists them"
      )
    }
    if let objection = Self.objection(to: hub.snapshot(of: commit, path), below: rules.folder) {
      throw objection
    }
    return hub.blob(of: entry, body)
  }

  /// Returns the name by SHA-256, the only digest that Bazel's repository cache uses.
  private static func bazel(_ entry: ManifestEntry, _ body: ContentDigest?) -> String? {
    let declared = entry.digests.first { $0.algorithm == .sha256 }
    let digest = declared.flatMap { ContentDigest(bytes: $0.bytes) } ?? body
    return digest.map { "content_addressable/sha256/\($0.hexadecimal)/file" }
  }

  // MARK: Rules

  private static let longestComponent = 255
  /// Maximum depth, since each parent folder is held open while a file is made.
  private static let deepestName = 100
  /// `PATH_MAX` including the final zero.
  private static let longestPath = 4096

  /// Returns why a file may not have the name: unsafe if it leaves the folder, otherwise bad.
  package static func objection(to name: String, below folder: String) -> Failure? {
    guard !PathText.isAbsolute(name) else {
      return Failure(.unsafeName, "the name `\(visible(name))` is absolute")
    }
    let components = PathText.components(of: name)
    guard !components.contains("..") else {
      return Failure(.unsafeName, "the name `\(visible(name))` would leave the folder")
    }
    return fault(of: name, components, below: folder).map { Failure(.badName, $0) }
  }

  private static func fault(
    of name: String,
    _ components: [Substring],
    below folder: String
  ) -> String? {
    // Most names have no fault, and are not shown.
    var shown: String { visible(name) }
    guard !name.isEmpty else { return "its name is empty" }
    if let control = name.utf8.first(where: { $0 < 0x20 || $0 == 0x7F }) {
      let number = String(control, radix: 16, uppercase: true)
      let code = String(repeating: "0", count: 4 - number.utf8.count) + number
      return "the name `\(shown)` has the control character U+\(code)"
    }
    for component in components {
      if component.isEmpty { return "the name `\(shown)` has an empty part" }
      if component == "." { return "the name `\(shown)` has the part `.`, which names no file" }
      if component.utf8.count > longestComponent {
        return "a part of the name `\(shown)` is longer than \(longestComponent) bytes"
      }
      if component.utf8.starts(with: temporaryPrefix.utf8) {
        return "names that begin with `\(temporaryPrefix)` are reserved for unfinished files"
      }
    }
    if name.utf8.count(where: { $0 == PathText.slash }) >= deepestName {
      return "the name `\(shown)` is more than \(deepestName) folders deep"
    }
    // Generations of an atomic tree add a few characters to the path.
    if folder.utf8.count + name.utf8.count + 32 > longestPath {
      return "the name `\(shown)` makes a path longer than \(longestPath) bytes"
    }
    return nil
  }

  package static let temporaryPrefix = ".prefetch-"

  package static func visible(_ name: String) -> String {
    let safe = String(
      String.UnicodeScalarView(
        name.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "\u{FFFD}" : $0 }
      )
    )
    return safe.utf8.count > 200 ? "\(safe.prefix(120))…" : safe
  }
}
