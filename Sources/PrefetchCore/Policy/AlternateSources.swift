package enum AlternateSources {
  /// Returns the URLs declared for the item, then one per server, in order and without repetition.
  ///
  /// A server replaces the base of an item below it, else scheme and host; its own path goes first.
  package static func urls(
    of item: WebURL,
    named: [WebURL] = [],
    base: WebURL?,
    servers: [WebURL]
  ) -> [WebURL] {
    var seen: Set<WebURL> = [item]
    let own = named.filter { seen.insert($0).inserted }
    return own
      + servers.compactMap { server in
        let rest = base.flatMap { remainder(of: item, below: $0) } ?? wholePath(of: item)
        let prefix = server.string.prefix { $0 != "?" }
        let joined = (prefix.hasSuffix("/") ? prefix.dropLast() : prefix) + "/" + rest
        guard let url = try? WebURL(String(joined)), seen.insert(url).inserted else { return nil }
        return url
      }
  }

  private static func remainder(of item: WebURL, below base: WebURL) -> Substring? {
    guard item.origin == base.origin else { return nil }
    let folder = base.path.prefix(through: base.path.lastIndex(of: "/") ?? base.path.startIndex)
    guard item.path.hasPrefix(folder) else { return nil }
    return withQuery(item, item.path.dropFirst(folder.count))
  }

  private static func wholePath(of item: WebURL) -> Substring {
    withQuery(item, item.path.drop { $0 == "/" })
  }

  private static func withQuery(_ item: WebURL, _ path: Substring) -> Substring {
    item.query.map { path + "?" + $0 } ?? path
  }
}
