internal import PrefetchCore
internal import PrefetchDocuments

/// pnpm-lock.yaml, of versions 5 to 9.
enum PnpmLock {
  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    var reader: PnpmLockReader?
    for document in try documents(of: bytes) {
      let root = try NativeManifest.parse(document, syntax: .yaml)
      let version = try version(of: root)
      if reader == nil {
        reader = PnpmLockReader(
          version: version,
          rules: source.rules,
          platforms: try PlatformFilter(source.rules)
        )
      }
      reader?.begin(version: version, snapshots: root["snapshots"])
      // One without dependencies has none, or says so.
      guard let packages = root["packages"], !packages.isNothing else { continue }
      guard let entries = packages.mapping else {
        throw packages.invalid(
          "`packages` must be a mapping of names to packages, not \(packages.kindName)"
        )
      }
      for entry in entries { reader?.read(entry) }
    }
    guard let reader else { throw Failure(.manifestInvalid, "it is empty") }
    return try reader.finished()
  }

  private static func version(of root: Node) throws(Failure) -> Int {
    guard let node = root["lockfileVersion"], let text = node.text else {
      throw (root["lockfileVersion"] ?? root).invalid(
        "`lockfileVersion` is missing; a pnpm-lock.yaml has 5 to 9 there"
      )
    }
    guard let version = Int(text.prefix { $0 != "." }), (5...9).contains(version) else {
      throw node.invalid("`lockfileVersion` is \(text.prefix(80)); versions 5 to 9 are read")
    }
    return version
  }

  /// The documents of the file, each with empty lines in place of what stands before it, so that lines
  /// count as in the file.
  ///
  /// Since version 11 pnpm may put what it needs for itself into a document before the project's.
  private static func documents(of bytes: RawSpan) throws(Failure) -> [[UInt8]] {
    let all = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    var documents: [[UInt8]] = []
    var start = 0
    var (startLine, line) = (0, 0)
    func add(upTo end: Int) {
      let text = all[start..<end]
      // What stands before the first mark is most often nothing.
      guard !text.allSatisfy({ [0x20, 0x0A, 0x0D].contains($0) }) else { return }
      documents.append([UInt8](repeating: 0x0A, count: startLine) + text)
    }
    for range in all.split(separator: 0x0A, omittingEmptySubsequences: false).map(\.indices) {
      line += 1
      let text = all[range].last == 0x0D ? all[range].dropLast() : all[range]
      guard text.elementsEqual("---".utf8) else { continue }
      add(upTo: range.lowerBound)
      (start, startLine) = (min(range.upperBound + 1, all.count), line)
    }
    add(upTo: all.count)
    guard documents.count <= maximumDocuments else {
      throw Failure(.manifestInvalid, "it has more than \(maximumDocuments) YAML documents")
    }
    return documents
  }

  /// More than pnpm writes, and few enough for the empty lines before each.
  private static let maximumDocuments = 8
}

private struct PnpmLockReader {
  /// Name and version, as far as the key of a package says them.
  private struct Title {
    var name: Substring
    var version: Substring
    /// Whether they are those of a package in the registry.
    var isOfRegistry: Bool
  }

  /// The format of the document that is read.
  private var version: Int
  private let registry: PackageRegistry
  private let platforms: PlatformFilter
  private let omitted: Set<String>
  /// Which packages are needed only as options, in the versions that say so elsewhere.
  private var optional: [Substring: Bool] = [:]
  private var draft = ManifestDraft()

  init(version: Int, rules: ManifestRules, platforms: PlatformFilter) {
    self.version = version
    registry = PackageRegistry(rules, standsFor: ["registry.npmjs.org"])
    self.platforms = platforms
    omitted = Set(rules.omitted.map { $0.lowercased() })
  }

  /// Begins one of the documents of a file.
  mutating func begin(version: Int, snapshots: Node?) {
    self.version = version
    optional = [:]
    for snapshot in snapshots?.mapping ?? [] {
      let key = snapshot.key.prefix { $0 != "(" }
      optional[key] = snapshot.value.flag("optional") && optional[key] ?? true
    }
  }

  consuming func finished() throws(Failure) -> Manifest {
    if version > 6, omitted.contains("dev") {
      draft.warn(
        "a pnpm-lock.yaml of version \(version) does not say what is for development: "
          + "`omit: [dev]` leaves nothing"
      )
    }
    return try draft.finished()
  }

  mutating func read(_ entry: Node.Entry) {
    let node = entry.value
    guard node.mapping != nil else {
      let message = "`\(entry.key.prefix(200))` must be a mapping, not \(node.kindName)"
      return draft.reject(entry.key, node.invalid(message))
    }
    guard !isOmitted(node, key: entry.key), platforms.admits(node) else { return }
    guard let resolution = node["resolution"], resolution.mapping != nil else {
      let message = "`\(entry.key.prefix(200))` has no `resolution`"
      return draft.reject(entry.key, node.invalid(message))
    }
    // Those of other kinds name a repository or a folder.
    let place = resolution["tarball"]?.text
    guard resolution["type"] == nil, place?.hasPrefix("file:") != true else {
      return draft.leaveOut(entry.key, .unpublished("from git or local files"))
    }
    let title = title(of: entry.key)
    do throws(Failure) {
      guard let declared = try self.place(place, title) else {
        return draft.leaveOut(
          entry.key,
          LeftOut(CountedNoun("package"), "without a URL")
        )
      }
      let name = node["name"]?.text ?? title.map { String($0.name) } ?? ""
      let version = node["version"]?.text ?? title.map { String($0.version) } ?? ""
      let item = try self.entry(declared, name: name, resolution)
      draft.add(item, named: name.isEmpty || version.isEmpty ? nil : "\(name)@\(version)")
    } catch {
      draft.reject(place ?? entry.key, id: entry.key, error)
    }
  }

  private func entry(
    _ declared: DeclaredURL,
    name: String,
    _ resolution: Node
  ) throws(Failure) -> ManifestEntry {
    var entry = ManifestEntry(url: declared.url)
    entry.lifetime = .immutable
    entry.path = PackageLock.fileName(declared.url, of: name)
    let digests = try ManifestDraft.digests(integrity: resolution["integrity"])
    entry.digests = try EntryCollector.digests(digests, with: declared)
    return entry
  }

  // MARK: Places

  /// Nil where neither a place nor a name leads to it.
  private func place(_ tarball: String?, _ title: Title?) throws(Failure) -> DeclaredURL? {
    guard let tarball else {
      guard let title, title.isOfRegistry else { return nil }
      return try registry.file(of: String(title.name), String(title.version))
    }
    // What has no scheme is a path of the registry.
    return tarball.contains("://") ? try registry.place(tarball) : try registry.file(tarball)
  }

  /// `/@scope/name/1.0.0_peer@2` in version 5, `/@scope/name@1.0.0(peer@2)` in 6, without the slash later.
  private func title(of key: String) -> Title? {
    let bare = key.prefix { $0 != "(" }
    let isWhole = bare.first != "/"
    let text = isWhole ? bare : bare.dropFirst()
    let name: Substring
    let version: Substring
    if self.version == 5 {
      guard let slash = text.lastIndex(of: "/") else { return nil }
      name = text[..<slash]
      version = text[text.index(after: slash)...].prefix { $0 != "_" }
    } else {
      let scope = text.first == "@" ? 1 : 0
      guard let mark = text.dropFirst(scope).firstIndex(of: "@") else { return nil }
      name = text[..<mark]
      version = text[text.index(after: mark)...]
    }
    // Before version 9 what is in no registry, or in another one, has no slash at its beginning.
    let isElsewhere = self.version < 9 && isWhole
    return Title(
      name: name,
      version: version,
      isOfRegistry: !isElsewhere && Self.isName(name) && Self.isVersion(version)
    )
  }

  /// Both become parts of a URL.
  private static func isName(_ name: Substring) -> Bool {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    let isScoped = name.first == "@"
    guard parts.count == (isScoped ? 2 : 1) else { return false }
    return (isScoped ? [parts[0].dropFirst(), parts[1]] : parts).allSatisfy {
      LockDocument.isPlain($0, with: "-_.~", atMost: 214) && $0.first != "."
    }
  }

  private static func isVersion(_ version: Substring) -> Bool {
    LockDocument.isPlain(version, with: "-.+", atMost: 214)
      && version.utf8.first.map(ASCII.isDigit) == true
  }

  // MARK: Choice

  private func isOmitted(_ node: Node, key: String) -> Bool {
    guard !omitted.isEmpty else { return false }
    if omitted.contains("dev"), node.flag("dev") { return true }
    guard omitted.contains("optional") else { return false }
    return node.flag("optional") || optional[key.prefix { $0 != "(" }] ?? false
  }
}

extension Node {
  /// Of YAML, where nothing is said in several ways.
  fileprivate var isNothing: Bool {
    guard let scalar else { return false }
    return scalar.kind == .null
      || (scalar.kind == .plain && ["", "~", "null"].contains(scalar.text))
  }
}
