internal import PrefetchCore
internal import PrefetchDocuments

/// Asset of a release.
struct ReleaseAsset {
  let name: String
  let entry: ManifestEntry

  /// Returns nil for an asset whose upload has not ended.
  init?(_ node: Node, of release: Release, _ source: ManifestSource) throws(Failure) {
    guard let name = node.member("name")?.text, !name.isEmpty else {
      throw node.invalid("an asset has a `name`")
    }
    guard node.member("state").map({ $0.text == "uploaded" }) ?? true else { return nil }
    let path = "\(release.tag)/\(name)"
    guard PublishedName.isSafe(path) else { throw PublishedName.objection(to: path) }
    let place = try Self.place(of: node, source)
    var entry = ManifestEntry(url: place.url)
    if let accept = place.accept { entry.headers = [HeaderField("Accept", accept)] }
    entry.path = path
    entry.size = node.member("size")?.integer.flatMap { $0 >= 0 ? $0 : nil }
    entry.digests = try Self.digests(of: node)
    let changed = ["updated_at", "created_at"].lazy.compactMap { node.member($0)?.text }.first
    entry.published = changed.flatMap { Timestamp.parse($0) } ?? release.published
    if entry.digests.isEmpty, let revision = Self.revision(of: node, changed) {
      entry.revision = revision
      entry.lifetime = .immutable
    }
    self.name = name
    self.entry = entry
  }

  private struct Place {
    var url: WebURL
    var accept: String?
  }

  /// Returns the address to ask: the API's where credentials are sent, since only it accepts them.
  private static func place(of node: Node, _ source: ManifestSource) throws(Failure) -> Place {
    let base = source.address ?? source.base
    let browser = node.member("browser_download_url")?.text
    if source.rules.hasCredentials, browser != nil, let text = node.member("url")?.text,
      let url = try? DeclaredURL.item(text, base: base).url, url.origin == base?.origin
    {
      return Place(url: url, accept: "application/octet-stream")
    }
    guard let text = browser ?? node.member("direct_asset_url")?.text ?? node.member("url")?.text
    else { throw node.invalid("an asset has an address, such as `browser_download_url`") }
    return Place(url: try DeclaredURL.item(text, base: base).url)
  }

  /// Parses `sha256:HEX`; other functions are ignored.
  private static func digests(of node: Node) throws(Failure) -> [ExpectedDigest] {
    guard let member = node.member("digest"), let text = member.text, !text.isEmpty else {
      return []
    }
    let parts = text.split(separator: ":", maxSplits: 1)
    guard parts.count == 2, let algorithm = DigestText.algorithm(parts[0]),
      algorithm.isTrustworthy
    else { return [] }
    guard let digest = DigestText.decode(String(parts[1]), algorithm: algorithm) else {
      throw member.invalid("`digest` holds no \(parts[0]) in hexadecimal digits")
    }
    return [digest]
  }

  /// Returns a name of the present content; nil for a link, whose content the forge does not know.
  private static func revision(of node: Node, _ changed: String?) -> String? {
    guard changed != nil || node.member("uuid") != nil else { return nil }
    let facts = [node.member("uuid")?.text ?? node.member("id")?.text, changed]
    return (facts + [node.member("size")?.text]).compactMap(\.self).joined(separator: " ")
  }
}
