/// Releases of a project as the API of each forge writes them.
package enum ForgeText: String, CaseIterable, Sendable {
  case github
  case gitlab
  case forgejo

  package struct Release: Sendable {
    package var tag: String
    package var isDraft = false
    package var isPrerelease = false
    package var published: String
    package var assets: [Asset]

    package init(_ tag: String, on published: String = "2026-03-02", _ assets: [Asset]) {
      self.tag = tag
      self.published = published
      self.assets = assets
    }
  }

  package struct Asset: Sendable {
    package var name: String
    package var number: Int
    package var size: Int
    /// SHA-256 in hexadecimal digits; only GitHub states it.
    package var digest: String?
    package var changed = "2026-03-01T10:00:00Z"

    package init(_ name: String, number: Int = 1, size: Int = 3, digest: String? = nil) {
      self.name = name
      self.number = number
      self.size = size
      self.digest = digest
    }
  }

  /// Returns the list of the releases; `site` is the server with the files.
  package func list(_ releases: [Release], api: String, site: String) -> String {
    "[" + releases.map { release($0, api: api, site: site) }.joined(separator: ",\n") + "]\n"
  }

  package func release(_ release: Release, api: String, site: String) -> String {
    let assets = release.assets.map { asset($0, of: release, api: api, site: site) }
    let list = assets.joined(separator: ",\n")
    let time = "\(release.published)T00:00:00Z"
    switch self {
    case .github, .forgejo:
      return """
        {"url": "\(api)/releases/1", "id": 1, "tag_name": "\(release.tag)", "name": "a \\"name\\"",
        "draft": \(release.isDraft), "prerelease": \(release.isPrerelease),
        "published_at": "\(time)", "tarball_url": "\(api)/tarball", "assets": [\(list)]}
        """
    case .gitlab:
      return """
        {"name": "a name", "tag_name": "\(release.tag)", "released_at": "\(time)",
        "upcoming_release": \(release.isDraft), "assets": {"count": 5, "sources":
        [{"format": "zip", "url": "\(site)/source.zip"}], "links": [\(list)]}}
        """
    }
  }

  private func asset(_ asset: Asset, of release: Release, api: String, site: String) -> String {
    let address = "\(site)/\(release.tag)/\(asset.name)"
    let head = "\"id\": \(asset.number), \"name\": \"\(asset.name)\""
    switch self {
    case .github:
      let digest = asset.digest.map { "\"sha256:\($0)\"" } ?? "null"
      return """
        {"url": "\(api)/assets/\(asset.number)", \(head), "state": "uploaded",
        "size": \(asset.size), "digest": \(digest), "updated_at": "\(asset.changed)",
        "browser_download_url": "\(address)"}
        """
    case .gitlab:
      return """
        {\(head), "url": "https://elsewhere.example/\(asset.name)", "direct_asset_url": "\(address)",
        "link_type": "package"}
        """
    case .forgejo:
      return """
        {\(head), "size": \(asset.size), "uuid": "u-\(asset.number)",
        "created_at": "\(asset.changed)", "browser_download_url": "\(address)", "type": "attachment"}
        """
    }
  }
}
