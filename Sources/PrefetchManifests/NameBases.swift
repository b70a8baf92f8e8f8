internal import PrefetchCore

/// Where bare names of a list lead: lists of checksums and of URLs.
///
/// Forges redirect a release's files to signed addresses of another host. There the names are those beside
/// the address that was asked, and the address that was reached is a second source of each.
struct NameBases {
  let base: WebURL?
  /// Folders below which a name is, at `base` and where redirects led.
  private let folders: (asked: String, reached: String)?

  init(_ source: ManifestSource) {
    guard let reached = source.base, let asked = source.asked, asked.host != reached.host else {
      base = source.base
      folders = nil
      return
    }
    // A server that moves on to https would have done so for the names.
    let upgraded =
      asked.scheme == .http && reached.scheme == .https && asked.port == 80
      ? try? WebURL("https" + asked.string.dropFirst(4)) : nil
    let names = upgraded ?? asked
    base = names
    folders = Self.folder(of: names).flatMap { asked in
      Self.folder(of: reached).map { (asked, $0) }
    }
  }

  /// Where the base alone decides.
  init(only base: WebURL?) {
    self.base = base
    folders = nil
  }

  /// Whether names have a second source.
  var hasAlternates: Bool {
    folders != nil
  }

  /// The second source of an item, without a query; nil for what is not below the list's folder.
  func alternate(of url: WebURL) -> WebURL? {
    guard let folders, url.string.hasPrefix(folders.asked) else { return nil }
    let name = url.string.dropFirst(folders.asked.count).prefix { $0 != "?" }
    return try? WebURL(folders.reached + name)
  }

  private static func folder(of url: WebURL) -> String? {
    (try? url.resolving("./"))?.string
  }
}
