internal import PrefetchCore
internal import PrefetchDocuments

/// Reads MODULE.bazel.lock: registry files, which name the archives of the modules.
enum BazelLock {
  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    try read(NativeManifest.parse(unsafe bytes.withUnsafeBytes { unsafe Array($0) }))
  }

  static func read(_ root: Node) throws(Failure) -> Manifest {
    guard let node = root["registryFileHashes"] else {
      throw root.invalid("`registryFileHashes` is missing; Bazel 7.2 and later write it")
    }
    guard let hashes = node.mapping else {
      throw node.invalid(
        "`registryFileHashes` must be a mapping of URLs to digests, not \(node.kindName)"
      )
    }
    var draft = ManifestDraft()
    for entry in hashes { read(entry, into: &draft) }
    return try draft.finished()
  }

  private static func read(_ pair: Node.Entry, into draft: inout ManifestDraft) {
    let lower = pair.key.lowercased()
    guard lower.hasPrefix("http:") || lower.hasPrefix("https:") else {
      return draft.leaveOut(
        pair.key,
        LeftOut(CountedNoun("file"), "of a registry in a local folder", isMissed: false)
      )
    }
    // A null means that the registry had no such file when the lock file was made.
    guard pair.value.scalar?.kind != .null else {
      return draft.leaveOut(
        (try? WebURL(pair.key))?.redacted ?? pair.key,
        LeftOut(CountedNoun("file"), "that the registry did not have", isMissed: false)
      )
    }
    do throws(Failure) {
      let declared = try DeclaredURL.item(pair.key)
      guard let text = pair.value.text, let digest = DigestText.decode(text, algorithm: .sha256),
        let content = ContentDigest(bytes: digest.bytes)
      else {
        throw pair.value.invalid(
          "a URL has a SHA-256 or null beside it, not \(pair.value.kindName)"
        )
      }
      var entry = ManifestEntry(url: declared.url)
      entry.digests = try EntryCollector.digests([digest], with: declared)
      entry.lifetime = .immutable
      draft.add(entry)
      guard declared.url.path.hasSuffix("/source.json") else { return }
      draft.add(FurtherDocument(url: declared.url, kind: .moduleSource(content)))
    } catch {
      draft.reject(pair.key, error)
    }
  }
}
