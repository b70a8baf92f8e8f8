internal import PrefetchCore
internal import PrefetchCrypto
internal import PrefetchDocuments

/// Reads `source.json` of a Bazel registry: a module's archive and the files added to it.
enum ModuleSource {
  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    let content = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    if case .moduleSource(let digest) = source.documentRole {
      let found = SHA256.digest(of: content)
      guard found == digest else {
        throw Failure(
          .digestMismatch,
          "its sha256 is \(found.hexadecimal), but \(digest.hexadecimal) is declared"
        )
      }
    }
    let root = try NativeManifest.parse(content)
    var draft = ManifestDraft()
    guard ["archive", nil].contains(root.member("type")?.text) else {
      draft.leaveOut(
        Self.name(of: source.base) ?? source.base?.redacted ?? "",
        LeftOut(
          CountedNoun("module"),
          "from git or a local folder",
          cure: "give it an `archive_override` in MODULE.bazel"
        )
      )
      return try draft.finished(asFurtherDocument: true)
    }
    let name = Self.name(of: source.base)
    let text = root.member("url")?.text ?? ""
    do throws(Failure) {
      draft.add(try archive(root, at: text, source), named: name)
    } catch {
      draft.reject(text.isEmpty ? name ?? "" : text, id: name, error)
    }
    for (key, folder) in [("patches", "patches"), ("overlay", "overlay")] {
      for file in root.member(key)?.mapping ?? [] {
        do throws(Failure) {
          draft.add(try addition(file, in: folder, source))
        } catch {
          draft.reject(file.key, error)
        }
      }
    }
    return try draft.finished(asFurtherDocument: true)
  }

  /// Returns `NAME@VERSION` of a URL `…/modules/NAME/VERSION/source.json`.
  private static func name(of url: WebURL?) -> String? {
    let parts = url?.path.split(separator: "/").suffix(4) ?? []
    guard parts.count == 4, let module = parts.dropFirst().first,
      let version = parts.dropLast().last,
      parts.first == "modules"
    else { return nil }
    return "\(module)@\(version)"
  }

  private static func archive(
    _ root: Node,
    at text: String,
    _ source: ManifestSource
  ) throws(Failure) -> ManifestEntry {
    guard !text.isEmpty else {
      throw root.invalid("an archive has a `url`")
    }
    let declared = try source.url(text)
    var entry = ManifestEntry(url: declared.url)
    entry.digests = try EntryCollector.digests(
      try digests(root["integrity"], of: root),
      with: declared
    )
    entry.lifetime = .immutable
    let mirrors = root.words("mirror_urls").prefix(EntryCollector.maximumAlternates)
    entry.alternates = mirrors.compactMap { try? WebURL($0) }
    return entry
  }

  private static func addition(
    _ file: Node.Entry,
    in folder: String,
    _ source: ManifestSource
  ) throws(Failure) -> ManifestEntry {
    guard PublishedName.isSafe(file.key) else { throw PublishedName.objection(to: file.key) }
    let path = file.key.split(separator: "/").map { Hexadecimal.encodePercent(String($0)) }
    var entry = ManifestEntry(
      url: try source.url("\(folder)/\(path.joined(separator: "/"))").url
    )
    entry.digests = try digests(file.value, of: file.value)
    entry.lifetime = .immutable
    return entry
  }

  private static func digests(_ node: Node?, of owner: Node) throws(Failure) -> [ExpectedDigest] {
    do throws(Integrity.Fault) {
      return try Integrity.expectedDigests(in: node?.text ?? "")
    } catch {
      throw (node ?? owner).invalid("`integrity` \(error)")
    }
  }
}
