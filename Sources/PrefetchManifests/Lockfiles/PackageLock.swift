internal import PrefetchCore
internal import PrefetchDocuments

/// Reads npm's package-lock.json and npm-shrinkwrap.json in all three versions of the format.
enum PackageLock {
  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    let root = try NativeManifest.parse(unsafe bytes.withUnsafeBytes { unsafe Array($0) })
    // A declared `format` skips the detection that tells Bun's lock file from npm's.
    guard root["workspaces"]?.mapping == nil else { throw ManifestReader.notRead(.bunLock) }
    var reader = PackageLockReader(
      rules: source.rules,
      platforms: try PlatformFilter(source.rules)
    )
    switch root["lockfileVersion"]?.integer {
    case 1: try reader.readTree(root)
    case 2, 3: try reader.readPackages(root)
    case nil:
      throw root.invalid("`lockfileVersion` is missing; a package-lock has 1, 2 or 3 there")
    case .some(let version):
      throw NativeManifest.invalid(
        "`lockfileVersion` is \(version); 1, 2 and 3 are read",
        at: root["lockfileVersion"]?.location
      )
    }
    return try reader.draft.finished()
  }

  /// Returns the published file name with the scope, since packages of two scopes share names.
  static func fileName(_ url: WebURL, of name: String) -> String? {
    guard let file = FileName.last(of: url) else { return nil }
    guard name.hasPrefix("@"), let slash = name.firstIndex(of: "/") else { return file }
    let full = "\(name[name.index(after: name.startIndex)..<slash])-\(file)"
    return FileName.isSafe(full) ? full : file
  }
}

private struct PackageLockReader {
  let registry: PackageRegistry
  let platforms: PlatformFilter
  private let asksDates: Bool
  var draft = ManifestDraft()
  private var omitted: Set<String>

  init(rules: ManifestRules, platforms: PlatformFilter) {
    registry = PackageRegistry(rules, standsFor: ["registry.npmjs.org"])
    self.platforms = platforms
    asksDates = rules.asksDates
    omitted = Set(rules.omitted.map { $0.lowercased() })
  }

  // MARK: Versions 2 and 3

  mutating func readPackages(_ root: Node) throws(Failure) {
    guard let packages = root["packages"]?.mapping else {
      throw NativeManifest.invalid(
        "`packages` must be a mapping of folders to packages",
        at: root["packages"]?.location ?? root.location
      )
    }
    for entry in packages where !entry.key.isEmpty {
      guard entry.value.mapping != nil else {
        throw entry.value.invalid("`\(entry.key)` must be a mapping, not \(entry.value.kindName)")
      }
      // Workspace folders without `resolved` are not downloaded packages.
      guard let name = entry.key.range(ofLast: "node_modules/") else {
        if entry.value["resolved"] == nil { continue }
        read(entry.value, name: entry.key)
        continue
      }
      read(entry.value, name: String(entry.key[name...]))
    }
  }

  // MARK: Version 1

  /// Reads nested dependencies; the document's own limit bounds the recursion.
  mutating func readTree(_ node: Node) throws(Failure) {
    guard let dependencies = node.member("dependencies") else { return }
    guard let entries = dependencies.mapping else {
      throw dependencies.invalid("`dependencies` must be a mapping of names to packages")
    }
    for entry in entries {
      guard entry.value.mapping != nil else {
        throw entry.value.invalid("`\(entry.key)` must be a mapping, not \(entry.value.kindName)")
      }
      read(entry.value, name: entry.key)
      try readTree(entry.value)
    }
  }

  // MARK: Packages

  private mutating func read(_ node: Node, name: String) {
    if node.flag("link") || node.flag("inBundle") || node.flag("bundled") {
      return draft.leaveOut(
        name,
        LeftOut(
          CountedNoun("link or bundled package", "links and bundled packages"),
          "without a file of its own",
          isMissed: false
        )
      )
    }
    guard !isOmitted(node), platforms.admits(node) else { return }
    let version = node.member("version")?.text
    // In old files, `version` holds the address of a package from outside a registry.
    let isAddress = version?.contains(":") == true
    let address = node.member("resolved") ?? (isAddress ? node.member("version") : nil)
    guard let address, let text = address.text else {
      return draft.leaveOut(
        name,
        LeftOut(
          CountedNoun("package"),
          "without `resolved`",
          cure:
            "turn `omit-lockfile-registry-resolved` off, and run `npm install --package-lock-only`"
        )
      )
    }
    guard text.lowercased().hasPrefix("http:") || text.lowercased().hasPrefix("https:") else {
      return draft.leaveOut(name, .unpublished("from git or local files"))
    }
    let name = node.member("name")?.text ?? name
    let id = isAddress || version == nil ? nil : "\(name)@\(version ?? "")"
    do throws(Failure) {
      let entry = try entry(node, name: name, text)
      draft.add(entry, named: id)
      if asksDates, !isAddress { draft.addDate(of: name, version, file: entry.url) }
    } catch {
      draft.reject(text, id: id, error)
    }
  }

  private func entry(
    _ node: Node,
    name: String,
    _ text: String
  ) throws(Failure) -> ManifestEntry {
    let declared = try registry.resolve(text)
    var entry = ManifestEntry(url: declared.url)
    entry.lifetime = .immutable
    entry.path = PackageLock.fileName(entry.url, of: name)
    let digests = try ManifestDraft.digests(integrity: node.member("integrity"))
    entry.digests = try EntryCollector.digests(digests, with: declared)
    return entry
  }

  /// Returns whether npm would omit the package; `devOptional` needs both kinds to be omitted.
  private func isOmitted(_ node: Node) -> Bool {
    for kind in ["dev", "optional", "peer"] where omitted.contains(kind) && node.flag(kind) {
      return true
    }
    return node.flag("devOptional") && omitted.isSuperset(of: ["dev", "optional"])
  }
}

extension String {
  fileprivate func range(ofLast word: String) -> String.Index? {
    var found: String.Index?
    var position = startIndex
    while position < endIndex {
      if self[position...].hasPrefix(word) { found = index(position, offsetBy: word.count) }
      formIndex(after: &position)
    }
    return found
  }
}
