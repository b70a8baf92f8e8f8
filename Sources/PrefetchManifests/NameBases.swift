internal import PrefetchCore

/// Base URLs of the relative names in checksum and URL lists.
///
/// Forges redirect release files to signed addresses on another host, so names are resolved against
/// the requested URL, and the redirect target becomes an alternate source.
struct NameBases {
  let base: WebURL?
  /// Folders of the requested and of the final address; nil unless a redirect led to another host.
  private let folders: (requested: String, reached: String)?

  init(_ source: ManifestSource) {
    guard let reached = source.base, let requested = source.requestedURL,
      requested.host != reached.host
    else {
      base = source.base
      folders = nil
      return
    }
    // A server that redirects to https would redirect the items, too.
    let upgraded =
      requested.scheme == .http && reached.scheme == .https && requested.port == 80
      ? try? WebURL("https" + requested.string.dropFirst(4)) : nil
    let names = upgraded ?? requested
    base = names
    folders = Self.folder(of: names).flatMap { requested in
      Self.folder(of: reached).map { (requested, $0) }
    }
  }

  init(only base: WebURL?) {
    self.base = base
    folders = nil
  }

  var hasAlternates: Bool {
    folders != nil
  }

  /// Returns an item's second source, without a query; nil for items outside the list's folder.
  func alternate(of url: WebURL) -> WebURL? {
    guard let folders, url.string.hasPrefix(folders.requested) else { return nil }
    let name = url.string.dropFirst(folders.requested.count).prefix { $0 != "?" }
    return try? WebURL(folders.reached + name)
  }

  private static func folder(of url: WebURL) -> String? {
    (try? url.resolving("./"))?.string
  }
}
