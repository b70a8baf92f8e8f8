internal import PrefetchCore
internal import PrefetchDocuments

/// Reads uv.lock, uv's lock file of Python packages for all platforms.
enum UVLock {
  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    let root = try LockDocument.read(bytes, syntax: .toml)
    guard let version = root["version"] else {
      throw root.invalid("`version` is missing; a uv.lock says `version = 1`")
    }
    guard version.text == "1" else {
      throw version.invalid(
        "`version` is \(version.text ?? version.kindName); this program reads version 1"
      )
    }
    var reader = UVLockReader(platforms: try PlatformFilter(source.rules))
    let packages = try LockDocument.packages("package", of: root)
    let needs = UVNeeds(packages, manifest: root["manifest"], on: reader.platforms)
    reader.choice.add(groups: root["manifest"]?.keys(of: "dependency-groups") ?? [])
    for (number, package) in packages.enumerated() {
      guard needs.isNeeded[number] else {
        reader.choice.unmet += 1
        continue
      }
      reader.read(package)
    }
    return try reader.finished()
  }
}

private struct UVLockReader {
  let platforms: PlatformFilter
  var draft = ManifestDraft()
  var choice = LockChoice()

  consuming func finished() throws(Failure) -> Manifest {
    draft.report(choice)
    return try draft.finished()
  }

  mutating func read(_ package: Node) {
    let name = package.member("name")?.text ?? ""
    guard package.mapping != nil, !name.isEmpty else {
      return draft.reject(
        name,
        package.invalid("a package is a table with a `name`")
      )
    }
    let source = package.member("source")
    // The project and other members of its workspace are not downloaded.
    guard !UVNeeds.isOwn(package) else {
      choice.add(groups: package.keys(of: "dev-dependencies"))
      return choice.add(extras: package.keys(of: "optional-dependencies"))
    }
    guard source?.member("registry") != nil || source?.member("url") != nil else {
      return draft.leaveOut(name, .unpublished("from version control or local folders"))
    }
    let markers = package.words("resolution-markers")
    guard markers.isEmpty || markers.contains(where: { Marker.mayHold($0, on: platforms) }) else {
      choice.unmet += 1
      return
    }
    guard package.member("sdist") != nil || package.member("wheels")?.sequence?.isEmpty == false
    else {
      return draft.leaveOut(name, LeftOut(CountedNoun("package"), "without files"))
    }
    let files = files(of: package, named: name, from: source?.member("url")?.text)
    draft.add(files, of: package, named: name, for: platforms)
  }

  private mutating func files(
    of package: Node,
    named name: String,
    from address: String?
  ) -> [PythonFile] {
    var files: [PythonFile] = []
    let sources = package.member("sdist").map { [$0] } ?? []
    for node in sources + (package.member("wheels")?.sequence ?? []) {
      // When the package itself is a URL, its source archive has no `url`.
      guard let text = node.member("url")?.text ?? (node.member("path") == nil ? address : nil)
      else {
        draft.leaveOut(node.member("path")?.text ?? name, .alongsideLock)
        continue
      }
      do throws(Failure) {
        files.append(try file(node, at: text))
      } catch {
        draft.reject(text, id: name, error)
      }
    }
    return files
  }

  private func file(_ node: Node, at text: String) throws(Failure) -> PythonFile {
    let declared = try DeclaredURL.item(text)
    guard let name = FileName.last(of: declared.url) else {
      throw node.invalid("its URL ends in no file name")
    }
    var digests: [ExpectedDigest] = []
    if let hash = node.member("hash") {
      guard let digest = hash.text.flatMap(Self.digest) else {
        throw hash.invalid("`hash` must be the name of a function, a colon and its digest")
      }
      digests = [digest]
    }
    var file = PythonFile(
      name: name,
      url: declared.url,
      digests: try EntryCollector.digests(digests, with: declared)
    )
    try file.readFacts(node)
    return file
  }

  private static func digest(_ text: String) -> ExpectedDigest? {
    let parts = text.split(separator: ":", maxSplits: 1)
    guard parts.count == 2, let algorithm = DigestText.algorithm(parts[0]) else { return nil }
    return DigestText.decode(String(parts[1]), algorithm: algorithm)
  }
}
