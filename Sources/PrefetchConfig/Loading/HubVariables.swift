import PrefetchCore

/// Variables of the hub's own tools, which segments of a hub obey unless the configuration decides.
extension LoadedConfiguration {
  mutating func applyHubVariables(_ environment: ConfigurationEnvironment) {
    let isTemplated = configuration.manifests?.hasPrefix("\(ShortAddress.Service.hf.rawValue):")
    let isUsed = isTemplated == true || configuration.segments.contains(where: \.isOfHub)
    guard isUsed else { return }
    let endpoint = endpoint(environment)
    let token = environment.variable("HF_TOKEN").map { Blanks.trimmed($0) } ?? ""
    let hasToken = !token.isEmpty && token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    if hasToken { secrets.append(token) }
    let field = hasToken ? HeaderField("Authorization", "Bearer \(token)") : nil
    if isTemplated == true { configuration.defaults.applyHub(endpoint, field) }
    for index in configuration.segments.indices where configuration.segments[index].isOfHub {
      let isRuled = hasCredentials(for: configuration.segments[index])
      configuration.segments[index].applyHub(endpoint, isRuled ? nil : field)
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
