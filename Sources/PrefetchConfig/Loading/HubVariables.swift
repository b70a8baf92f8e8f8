package import PrefetchCore

/// Variables of the hub's own tools, which segments of a hub obey unless the configuration decides.
extension LoadedConfiguration {
  mutating func applyHubVariables(_ environment: ConfigurationEnvironment) {
    applyHubFolder(environment)
    let isTemplated = configuration.manifests?.hasPrefix("\(ShortAddress.Service.hf.rawValue):")
    let isUsed = isTemplated == true || configuration.segments.contains(where: \.isOfHub)
    guard isUsed else { return }
    let endpoint = endpoint(environment)
    let field = credentials(environment)
    if isTemplated == true { configuration.defaults.applyHub(endpoint, field) }
    for index in configuration.segments.indices where configuration.segments[index].isOfHub {
      let isRuled = hasCredentials(for: configuration.segments[index])
      configuration.segments[index].applyHub(endpoint, isRuled ? nil : field)
    }
  }

  /// Returns a segment with a list that no segment declares.
  package mutating func segment(
    of address: ShortAddress,
    in environment: ConfigurationEnvironment
  ) -> Segment {
    var segment = configuration.defaults
    segment.manifest = .short(address)
    guard segment.isOfHub else { return segment }
    let (endpoint, field) = (endpoint(environment), credentials(environment))
    segment.applyHub(endpoint, hasCredentials(for: segment) ? nil : field)
    return segment
  }

  private mutating func credentials(_ environment: ConfigurationEnvironment) -> HeaderField? {
    let token = environment.variable("HF_TOKEN").map { Blanks.trimmed($0) } ?? ""
    guard !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    secrets.append(token)
    return HeaderField("Authorization", "Bearer \(token)")
  }

  /// Gives trees of layout `hf` without a folder the one that the hub's tools read.
  private mutating func applyHubFolder(_ environment: ConfigurationEnvironment) {
    let folder = Self.hubFolder(environment)
    for index in configuration.segments.indices {
      configuration.segments[index].declaration.publishing?.applyHub(folder)
    }
    configuration.defaults.declaration.publishing?.applyHub(folder)
  }

  private static func hubFolder(_ environment: ConfigurationEnvironment) -> String? {
    func value(_ name: String) -> String? {
      environment.variable(name).flatMap { $0.isEmpty ? nil : $0 }
    }
    let home = environment.homeDirectory
    let caches = value("XDG_CACHE_HOME") ?? home.map { "\($0)/.cache" }
    let standard =
      value("HF_HUB_CACHE") ?? value("HUGGINGFACE_HUB_CACHE")
      ?? (value("HF_HOME") ?? caches.map { "\($0)/huggingface" }).map { "\($0)/hub" }
    return standard.flatMap { path in
      let isOfHome = path == "~" || path.hasPrefix("~/")
      let whole = isOfHome ? home.map { "\($0)\(path.dropFirst())" } : path
      return whole.map { PathResolver.join(environment.currentDirectory, $0) }
    }
  }

  /// Whether a transport rule has the credentials for a segment's hub.
  private func hasCredentials(for segment: Segment) -> Bool {
    let connections = configuration.policy.connections
    let rule = segment.manifestURL.flatMap { connections.rule(for: $0, method: .get) }
    let fields = rule.map { connections.rules[$0].headers(for: .manifest, isFirstOrigin: true) }
    return fields?.contains { !RequestHeader.isHarmless($0.name) } ?? false
  }

  private mutating func endpoint(_ environment: ConfigurationEnvironment) -> WebURL? {
    guard let text = environment.variable("HF_ENDPOINT"), !text.isEmpty else { return nil }
    do throws(WebURL.Fault) {
      return try WebURL(text)
    } catch {
      diagnostics.append(
        Diagnostic(
          "config.bad-url",
          "the variable `HF_ENDPOINT`: `\(WebURL.redacted(text))` \(error)"
        )
      )
      return nil
    }
  }
}

extension PublishingRules {
  fileprivate mutating func applyHub(_ standard: String?) {
    if layout == .hf, folder.isEmpty { folder = standard ?? "" }
  }
}

extension Segment {
  fileprivate var isOfHub: Bool {
    if case .short(let address)? = manifest { address.service == .hf } else { false }
  }

  fileprivate mutating func applyHub(_ endpoint: WebURL?, _ credentials: HeaderField?) {
    hubEndpoint = hubEndpoint ?? endpoint
    guard let credentials,
      !declaration.headers.contains(where: {
        ASCII.equalsIgnoringCase($0.name, credentials.name)
      })
    else { return }
    declaration.headers.append(credentials)
  }
}
