internal import PrefetchCore
internal import PrefetchDocuments

/// Reads pylock.toml, the standard lock file of Python packages (PEP 751).
enum PythonLock {
  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    let root = try LockDocument.read(bytes, syntax: .toml)
    try check(root)
    var reader = PythonLockReader(platforms: try PlatformFilter(source.rules))
    reader.choice.add(groups: root.words("dependency-groups"))
    reader.choice.add(extras: root.words("extras"))
    for package in try LockDocument.packages("packages", of: root) { reader.read(package) }
    reader.draft.report(reader.choice)
    return try reader.draft.finished()
  }

  private static func check(_ root: Node) throws(Failure) {
    guard let node = root["lock-version"] else {
      throw root.invalid("`lock-version` is missing; a pylock.toml says `lock-version = \"1.0\"`")
    }
    let version = node.text ?? node.kindName
    guard version == "1" || version.hasPrefix("1.") else {
      throw node.invalid("`lock-version` is \(version); this program reads version 1")
    }
  }
}

private struct PythonLockReader {
  let platforms: PlatformFilter
  var draft = ManifestDraft()
  var choice = LockChoice()

  mutating func read(_ package: Node) {
    let name = package.member("name")?.text ?? ""
    guard package.mapping != nil, !name.isEmpty else {
      return draft.reject(
        name,
        package.invalid("a package is a table with a `name`")
      )
    }
    guard isWanted(package) else {
      choice.unmet += 1
      return
    }
    let file = package.member("archive") ?? package.member("sdist")
    let wheels = package.member("wheels")?.sequence ?? []
    guard !wheels.isEmpty || file != nil else {
      return draft.leaveOut(name, .unpublished("from version control or local folders"))
    }
    var files: [PythonFile] = []
    for (number, node) in ((file.map { [$0] } ?? []) + wheels).enumerated() {
      do throws(Failure) {
        guard var file = try self.file(node) else { continue }
        file.isArchive = number == 0 && package.member("archive") != nil
        files.append(file)
      } catch {
        draft.reject(node.member("url")?.text ?? name, id: name, error)
      }
    }
    draft.add(files, of: package, named: name, for: platforms)
  }

  private func isWanted(_ package: Node) -> Bool {
    if let marker = package.member("marker")?.text, !Marker.mayHold(marker, on: platforms) {
      return false
    }
    guard let demand = package.member("requires-python")?.text, !platforms.pythons.isEmpty else {
      return true
    }
    return platforms.pythons.contains { PythonVersions.satisfies(demand, minor: $0) != false }
  }

  private mutating func file(_ node: Node) throws(Failure) -> PythonFile? {
    guard let address = node.member("url"), let text = address.text else {
      guard let path = node.member("path") else {
        throw node.invalid("a file has a `url` or a `path`")
      }
      draft.leaveOut(path.text ?? "", .alongsideLock)
      return nil
    }
    let declared = try DeclaredURL.item(text)
    guard let name = node.member("name")?.text ?? FileName.last(of: declared.url) else {
      throw node.invalid("the file has no `name`, and its URL ends in none")
    }
    guard let digests = ManifestDraft.digests(node["hashes"]) else {
      throw NativeManifest.invalid(
        "`hashes` holds a digest that is none of its function",
        at: node["hashes"]?.location
      )
    }
    var file = PythonFile(
      name: name,
      url: declared.url,
      digests: try EntryCollector.digests(digests, with: declared)
    )
    try file.readFacts(node)
    return file
  }
}
