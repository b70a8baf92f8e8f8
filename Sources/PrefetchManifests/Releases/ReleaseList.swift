internal import PrefetchCore
internal import PrefetchDocuments

/// Reads releases as the APIs of GitHub, GitLab, Forgejo and Gitea give them: a list, or one.
///
/// Of a list counts the newest release that is no prerelease, with `select` each that is none.
/// A release by itself was asked for by its tag, so that it may be a prerelease.
enum ReleaseList {
  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    let root = try NativeManifest.parse(unsafe bytes.withUnsafeBytes { unsafe Array($0) })
    guard let nodes = root.sequence else {
      let release = try Release(root)
      return try manifest(of: release.isUnpublished ? [] : [release], leftOut: 1, nil, source)
    }
    if let surplus = ManifestBounds.surplus(items: nodes.count, bytes: 0) {
      throw root.invalid(surplus)
    }
    var releases: [Release] = []
    for node in nodes {
      let release = try Release(node)
      if !release.isUnpublished, !release.isPrerelease { releases.append(release) }
    }
    let leftOut = nodes.count - releases.count
    let isNewestOnly = source.rules.versions == nil
    if isNewestOnly, let newest = newest(of: releases) { releases = [newest] }
    let next =
      isNewestOnly && !releases.isEmpty ? nil : try nextPage(after: nodes.count, source)
    return try manifest(of: releases, leftOut: leftOut, next, source)
  }

  private static func newest(of releases: [Release]) -> Release? {
    // Forges list the newest first, so that the first of equal or unknown dates is the newest.
    let never = Instant(seconds: 0)
    return releases.reversed().max { ($0.published ?? never) < ($1.published ?? never) }
  }

  private static func nextPage(
    after count: Int,
    _ source: ManifestSource
  ) throws(Failure) -> FurtherDocument? {
    guard let page = source.page else { return nil }
    return try page.next(after: count, from: source.address ?? page.url).map {
      FurtherDocument(url: $0, kind: .page)
    }
  }

  private static func manifest(
    of releases: [Release],
    leftOut: Int,
    _ next: FurtherDocument?,
    _ source: ManifestSource
  ) throws(Failure) -> Manifest {
    var draft = ManifestDraft()
    var entries = EntryTable()
    var assets: [String: [ReleaseAsset]] = [:]
    for release in releases {
      for node in release.assets {
        do throws(Failure) {
          guard let asset = try ReleaseAsset(node, of: release, source) else { continue }
          draft.add(asset.entry)
          entries.append(asset.entry)
          assets[release.tag, default: []].append(asset)
        } catch {
          draft.reject(release.name(of: node), error)
        }
      }
    }
    // Lists of checksums are asked for only where an asset that is taken lacks its digest.
    let taken = ManifestSelection(source.rules).apply(to: entries)
    let lacking = Set(taken.filter { $0.digests.isEmpty }.compactMap(\.path))
    for release in releases {
      let assets = assets[release.tag] ?? []
      for document in ChecksumAssets.documents(among: assets, of: release.tag, for: lacking) {
        draft.add(document)
      }
    }
    if let next { draft.add(next) }
    if releases.isEmpty, leftOut > 0, next == nil {
      let count = CountedNoun("release").text(leftOut)
      draft.warn(
        "its \(count) \(leftOut == 1 ? "is a draft or a prerelease" : "are drafts or prereleases"); "
          + "`@TAG` after a short address takes one"
      )
    }
    return try draft.finished(asFurtherDocument: source.documentRole != nil)
  }
}

/// Release as its API describes it, with assets not yet read.
struct Release {
  let tag: String
  let isUnpublished: Bool
  let isPrerelease: Bool
  let published: Instant?
  let assets: [Node]

  init(_ node: Node) throws(Failure) {
    guard node.mapping != nil else {
      throw node.invalid("a release must be an object, not \(node.kindName)")
    }
    guard let tag = node.member("tag_name")?.text, !tag.isEmpty else {
      throw node.invalid("a release has a `tag_name`; this is none")
    }
    self.tag = tag
    isUnpublished = node.flag("draft") || node.flag("upcoming_release")
    isPrerelease = node.flag("prerelease")
    published =
      ["published_at", "released_at", "created_at"].lazy
      .compactMap { node.member($0)?.text.flatMap { Timestamp.parse($0) } }.first
    let member = node.member("assets")
    // GitLab's assets are an object with the archives of the source beside the links.
    assets = member?.sequence ?? member?.member("links")?.sequence ?? []
  }

  /// Returns the name of a rejected asset for reports.
  func name(of node: Node) -> String {
    let url = ["browser_download_url", "direct_asset_url", "url"].lazy
      .compactMap { node.member($0)?.text }.first
    return url ?? "\(tag)/\(node.member("name")?.text ?? "")"
  }
}
