internal import PrefetchCore

struct PackageRegistry {
  private let configured: WebURL?
  /// Hosts of the public registry, which a configured registry replaces.
  private let hosts: Set<String>

  init(_ rules: ManifestRules, standsFor hosts: Set<String>) {
    configured = rules.npmRegistry
    self.hosts = hosts
  }

  /// Returns a lock file's URL, moved to the configured registry when it names the public one.
  func resolve(_ text: some StringProtocol) throws(Failure) -> DeclaredURL {
    do {
      var declared = try DeclaredURL(text)
      let url = declared.url
      guard hosts.contains(url.host), let configured else { return declared }
      let query = url.query.map { "?\($0)" } ?? ""
      declared.url = try configured.resolving(Self.folder(of: configured) + url.path + query)
      return declared
    } catch {
      throw Failure(.badURL, "it \(error)")
    }
  }

  func file(_ path: String) throws(Failure) -> DeclaredURL {
    let registry = try WebURL.known(configured, orElse: "https://registry.npmjs.org")
    do {
      return DeclaredURL(try registry.resolving("\(Self.folder(of: registry))/\(path)"))
    } catch {
      throw Failure(.badURL, "it \(error)")
    }
  }

  /// Returns a package's usual address, `@SCOPE/NAME/-/NAME-VERSION.tgz`.
  func file(of name: String, _ version: String) throws(Failure) -> DeclaredURL {
    let leaf = name.split(separator: "/").last ?? ""
    return try file("\(name)/-/\(leaf)-\(Hexadecimal.encodePercent(version)).tgz")
  }

  /// Returns the registry's document of the package that a file belongs to; nil for other places.
  static func document(of name: String, file url: WebURL) -> WebURL? {
    guard let place = url.path.firstRange(of: "/\(name)/-/") else { return nil }
    let leaf = name.split(separator: "/").joined(separator: "%2f")
    return try? url.resolving("\(url.path[..<place.lowerBound])/\(leaf)")
  }

  private static func folder(of registry: WebURL) -> Substring {
    registry.path.hasSuffix("/") ? registry.path.dropLast() : registry.path[...]
  }
}
