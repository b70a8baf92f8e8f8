internal import PrefetchCore

/// Where the packages of JavaScript are fetched from.
struct PackageRegistry {
  private let configured: WebURL?
  /// Hosts of the public registry, which a configured one stands for.
  private let hosts: Set<String>

  init(_ rules: ManifestRules, standsFor hosts: Set<String>) {
    configured = rules.npmRegistry
    self.hosts = hosts
  }

  /// The file that a lock file names, in the configured registry where it is one of the public one.
  func place(_ text: some StringProtocol) throws(Failure) -> DeclaredURL {
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

  /// What lies at a path of the registry.
  func file(_ path: String) throws(Failure) -> DeclaredURL {
    let registry = try WebURL.known(configured, orElse: "https://registry.npmjs.org")
    do {
      return DeclaredURL(try registry.resolving("\(Self.folder(of: registry))/\(path)"))
    } catch {
      throw Failure(.badURL, "it \(error)")
    }
  }

  /// Where registries have a package's file: `@SCOPE/NAME/-/NAME-VERSION.tgz`.
  func file(of name: String, _ version: String) throws(Failure) -> DeclaredURL {
    let leaf = name.split(separator: "/").last ?? ""
    return try file("\(name)/-/\(leaf)-\(Hexadecimal.encodePercent(version)).tgz")
  }

  private static func folder(of registry: WebURL) -> Substring {
    registry.path.hasSuffix("/") ? registry.path.dropLast() : registry.path[...]
  }
}
