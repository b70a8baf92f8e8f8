internal import PrefetchCore
internal import PrefetchDocuments

/// Reads pnpm-lock.yaml of versions 5 to 9.
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
      // A document without dependencies has no `packages`, or null.
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

  /// Splits the file into documents, padded with empty lines so that line numbers stay right.
  private static func documents(of bytes: RawSpan) throws(Failure) -> [[UInt8]] {
    let all = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    var documents: [[UInt8]] = []
    var start = 0
    var (startLine, line) = (0, 0)
    func add(upTo end: Int) {
      let text = all[start..<end]
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

  /// Largest number of documents: more than pnpm writes, and few enough to repeat the empty lines.
  private static let maximumDocuments = 8
}

private struct PnpmLockReader {
  private struct Title {
    var name: Substring
    var version: Substring
    var isOfRegistry: Bool
  }

  private var version: Int
  private let registry: PackageRegistry
  private let asksDates: Bool
  private let platforms: PlatformFilter
  private let omitted: Set<String>
  /// Whether a package is needed only optionally, as `snapshots` says since version 9.
  private var optional: [Substring: Bool] = [:]
  private var draft = ManifestDraft()

  init(version: Int, rules: ManifestRules, platforms: PlatformFilter) {
    self.version = version
    asksDates = rules.asksDates
    registry = PackageRegistry(rules, standsFor: ["registry.npmjs.org"])
    self.platforms = platforms
    omitted = Set(rules.omitted.map { $0.lowercased() })
  }

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
    // Resolutions with a `type` name a repository or a folder.
    let tarball = resolution["tarball"]?.text
    guard resolution["type"] == nil, tarball?.hasPrefix("file:") != true else {
      return draft.leaveOut(entry.key, .unpublished("from git or local files"))
    }
    let title = title(of: entry.key)
    do throws(Failure) {
      guard let declared = try self.declaredURL(tarball, title) else {
        return draft.leaveOut(
          entry.key,
          LeftOut(CountedNoun("package"), "without a URL")
        )
      }
      let name = node["name"]?.text ?? title.map { String($0.name) } ?? ""
      let version = node["version"]?.text ?? title.map { String($0.version) } ?? ""
      let item = try self.entry(declared, name: name, resolution)
      draft.add(item, named: name.isEmpty || version.isEmpty ? nil : "\(name)@\(version)")
      if asksDates, !name.isEmpty { draft.addDate(of: name, version, file: item.url) }
    } catch {
      draft.reject(tarball ?? entry.key, id: entry.key, error)
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

  // MARK: URLs

  /// Returns the URL of a package's file; nil when neither `tarball` nor the key names it.
  private func declaredURL(_ tarball: String?, _ title: Title?) throws(Failure) -> DeclaredURL? {
    guard let tarball else {
      guard let title, title.isOfRegistry else { return nil }
      return try registry.file(of: String(title.name), String(title.version))
    }
    // An address without a scheme is a path of the registry.
    return tarball.contains("://") ? try registry.resolve(tarball) : try registry.file(tarball)
  }

  /// Parses a key: `/@scope/name/1.0.0_peer@2` in version 5, `/@scope/name@1.0.0(peer@2)` in 6.
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
    // Before version 9, keys of packages from elsewhere have no leading slash.
    let isElsewhere = self.version < 9 && isWhole
    return Title(
      name: name,
      version: version,
      isOfRegistry: !isElsewhere && Self.isName(name) && Self.isVersion(version)
    )
  }

  private static func isName(_ name: Substring) -> Bool {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    let isScoped = name.first == "@"
    guard parts.count == (isScoped ? 2 : 1) else { return false }
    return (isScoped ? [parts[0].dropFirst(), parts[1]] : parts).allSatisfy {
      LockDocument.isAlphanumeric($0, with: "-_.~", atMost: 214) && $0.first != "."
    }
  }

  private static func isVersion(_ version: Substring) -> Bool {
    LockDocument.isAlphanumeric(version, with: "-.+", atMost: 214)
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
  fileprivate var isNothing: Bool {
    guard let scalar else { return false }
    return scalar.kind == .null
      || (scalar.kind == .unquoted && ["", "~", "null"].contains(scalar.text))
  }
}
