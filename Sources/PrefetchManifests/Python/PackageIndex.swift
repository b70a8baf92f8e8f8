internal import PrefetchCore
internal import PrefetchDocuments

/// Reads a project's page of a package index: JSON (PEP 691) or HTML (PEP 503).
enum PackageIndex {
  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    let platforms = try PlatformFilter(source.rules)
    let content = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    let isJSON = content.first { !" \t\r\n\u{FEFF}".utf8.contains($0) } == UInt8(ascii: "{")
    let listing =
      isJSON
      ? try PackageListing(json: content, source: source)
      : try PackageListing(html: content, source: source)
    var draft = ManifestDraft()
    for (text, failure) in listing.rejected { draft.reject(text, failure) }
    var lacksFiles = false
    if case .packageIndex(let requirement) = source.documentRole {
      let listed = Set(listing.files.flatMap(\.digests))
      lacksFiles = !requirement.digests.allSatisfy {
        !$0.algorithm.isTrustworthy || listed.contains($0)
      }
      let chosen = try choose(listing.files, for: requirement, platforms, draft: &draft)
      try add(chosen, to: &draft)
    } else {
      try add(PythonFile.chosen(listing.files, for: platforms), to: &draft)
    }
    var manifest = try draft.finished(asFurtherDocument: true)
    manifest.lacksFiles = lacksFiles
    return manifest
  }

  private static func choose(
    _ files: [PythonFile],
    for requirement: PackageRequirement,
    _ platforms: PlatformFilter,
    draft: inout ManifestDraft
  ) throws(Failure) -> [PythonFile] {
    let wanted = Set(requirement.digests)
    let admitted = files.compactMap { file -> PythonFile? in
      let shared = file.digests.filter { wanted.contains($0) }
      // pip finds a file by its name, which must therefore belong to this project.
      guard !shared.isEmpty, WheelName(file.name).map({ $0.project == requirement.project }) ?? true
      else { return nil }
      var file = file
      file.digests = shared
      return file
    }
    let chosen = PythonFile.chosen(admitted, for: platforms)
    guard chosen.isEmpty else { return chosen }
    let subject = "\(requirement.project)==\(requirement.version)"
    let message =
      admitted.isEmpty
      ? "none of the \(CountedNoun("file").text(files.count)) of `\(requirement.project)` in the index has a declared digest"
      : "none of the \(admitted.count) files in the index with a declared digest is for a "
        + "wanted platform"
    draft.reject(subject, id: subject, Failure(.notFound, message))
    return []
  }

  private static func add(_ files: [PythonFile], to draft: inout ManifestDraft) throws(Failure) {
    for file in files {
      do throws(Failure) {
        draft.add(try file.entry(), named: file.name)
      } catch {
        draft.reject(file.url.string, id: file.name, error)
      }
    }
  }
}

struct PackageListing {
  private(set) var files: [PythonFile] = []
  private(set) var rejected: [(url: String, failure: Failure)] = []

  // MARK: JSON

  init(json content: [UInt8], source: ManifestSource) throws(Failure) {
    let root = try NativeManifest.parse(content)
    try Self.check(root["meta"]?["api-version"], in: root)
    guard let nodes = root["files"]?.sequence else {
      throw root.invalid("`files` must be a list of files")
    }
    for node in nodes {
      do throws(Failure) {
        files.append(try Self.file(node, source: source))
      } catch {
        rejected.append((node.member("url")?.text ?? "", error))
      }
    }
  }

  private static func check(_ node: Node?, in root: Node) throws(Failure) {
    guard let node, let version = node.text else {
      throw root.invalid("`meta.api-version` is missing; an index says `1.0` or later there")
    }
    try check(version, at: node.location)
  }

  private static func check(_ version: String, at location: SourceLocation?) throws(Failure) {
    guard version == "1" || version.hasPrefix("1.") else {
      throw NativeManifest.invalid(
        "the index speaks version \(version) of its format; this program reads version 1",
        at: location
      )
    }
  }

  private static func file(_ node: Node, source: ManifestSource) throws(Failure) -> PythonFile {
    guard let text = node.member("url")?.text else {
      throw node.invalid("a file has a `url`")
    }
    let declared = try source.url(text)
    guard let digests = ManifestDraft.digests(node["hashes"]) else {
      throw NativeManifest.invalid(
        "`hashes` holds a digest that is none of its function",
        at: node["hashes"]?.location
      )
    }
    guard let name = node.member("filename")?.text ?? FileName.last(of: declared.url) else {
      throw node.invalid("a file has a `filename`")
    }
    var file = PythonFile(
      name: name,
      url: declared.url,
      digests: try EntryCollector.digests(digests, with: declared)
    )
    file.size = node.member("size")?.integer.flatMap { $0 >= 0 ? $0 : nil }
    file.published = node.member("upload-time")?.text.flatMap { Timestamp.parse($0) }
    return file
  }

  // MARK: HTML

  init(html content: [UInt8], source: ManifestSource) throws(Failure) {
    var base = source.base
    var anchor: [String: String]?
    for token in HTMLTokens(content) {
      switch token {
      case .tag("base", let attributes):
        if let reference = attributes["href"] {
          base = (try? source.base?.resolving(reference)) ?? (try? WebURL(reference)) ?? base
        }
      case .tag("meta", let attributes) where attributes["name"] == "pypi:repository-version":
        try Self.check(attributes["content"] ?? "", at: nil)
      case .tag("a", let attributes): anchor = attributes
      case .text(let text):
        guard let attributes = anchor else { continue }
        anchor = nil
        let surplus = ManifestBounds.surplus(items: files.count + rejected.count + 1, bytes: 0)
        if let surplus { throw Failure(.manifestInvalid, surplus) }
        add(attributes, text: text, base: base)
      case .tag: continue
      }
    }
  }

  private mutating func add(_ attributes: [String: String], text: String, base: WebURL?) {
    guard let reference = attributes["href"] else { return }
    guard let url = try? base?.resolving(reference) ?? WebURL(reference) else {
      rejected.append(
        (reference, Failure(.badURL, "the index names it, but it is not a URL to fetch"))
      )
      return
    }
    let written = String(Requirement.trimmed(text[...]))
    // The tag's text should be the file name, but not all indexes comply.
    let name = written.contains(" ") || written.isEmpty ? FileName.last(of: url) : written
    guard let name, let digests = Requirement.fragmentDigests(reference) else { return }
    files.append(PythonFile(name: name, url: url, digests: digests))
  }
}
