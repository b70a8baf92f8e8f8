import PrefetchConfig
import PrefetchCore
import PrefetchManifests
import PrefetchSystem

/// Builds the engine's values from configuration and command line.
struct RequestBuilder {
  let configuration: Configuration
  let identity: String
  let engine: EngineOptions
  let environment: [String: String]
  var netrc: Netrc?
  /// Hosts of typed URLs, trusted like those of the configuration.
  var typedHosts: Set<String> = []
  var publisher: PublisherPolicy?
  var lockfile: LockfileTerms?
  var clientFields: [HeaderField] = []

  func request(
    mode: RunRequest.Mode,
    segments: [Segment],
    forgotten: [SegmentKey],
    probesItems: Bool = true
  ) -> RunRequest {
    var policy = policy
    policy.probesItems = probesItems
    var request = RunRequest(
      mode: mode,
      identity: identity,
      segments: segments.map(declaration),
      policy: policy
    )
    request.bundleID = configuration.bundleID
    request.lockfile = lockfile
    request.forgotten = forgotten
    return request
  }

  var policy: RunPolicy {
    var policy = configuration.policy
    policy.transportSecurity = configuration.transportSecurity.effective
    policy.connections = connections
    policy.agent = configuration.network.userAgent ?? ToolVersions.name
    policy.concurrency = engine.jobs ?? policy.concurrency
    policy.perHost = engine.jobsPerHost ?? policy.perHost
    policy.lookAhead = 64 * policy.connectionsPerHost
    policy.maximumFileSize = narrowed(policy.maximumFileSize)
    policy.allowsMassRemoval = engine.allowed.contains(.massRemoval)
    policy.allowsListChange = engine.allowed.contains(.listChange)
    policy.allowsYoung = engine.allowed.contains(.age)
    policy.allowsRollback = engine.allowed.contains(.rollback)
    policy.revalidatesAll = engine.revalidatesAll
    policy.refetchesAll = engine.refetchesAll
    policy.isOffline = engine.isOffline
    policy.deadline = engine.deadline ?? policy.deadline
    policy.clientFields = clientFields
    return policy
  }

  private func narrowed(_ limit: Int64?) -> Int64? {
    [limit, publisher?.maximumFileSize].compactMap(\.self).min()
  }

  // MARK: Segments

  func declaration(_ segment: Segment) -> SegmentDeclaration {
    var declaration = segment.declaration
    declaration.source = source(of: segment)
    declaration.manifestHeaders = declaration.headers.filter(holdsLicense)
    declaration.headers.removeAll(where: holdsLicense)
    // An unlimited value falls back to the common limit.
    if declaration.maximumFileSize == .max { declaration.maximumFileSize = nil }
    if let own = declaration.maximumFileSize { declaration.maximumFileSize = narrowed(own) }
    declaration.manifestKeys = segment.manifestKeys ?? configuration.manifestKeys
    declaration.isStored = declaration.isStored && !declaration.requestsHeadOnly
    declaration.bundleRules.mediaTypes = declaration.expectation.types
    if declaration.publishing?.folder.isEmpty ?? false { declaration.publishing = nil }
    declaration.publishing?.goProxy = declaration.manifestRules.goProxy
    finish(&declaration.manifestRules, of: segment)
    if case .remote(let url) = declaration.source {
      if declaration.publishing?.layout == .hf {
        declaration.publishing?.hub = HubRepository(api: url).map(HubLayout.init)
      }
      declaration.manifestRules.hasCredentials = hasCredentials(for: url, declaration)
    }
    declaration.network = segment.network.map { network($0, of: segment.name) }
    declaration.rate =
      [declaration.rate, segment.network?.rate].compactMap(\.self).filter { $0 < .max }.min()
    return declaration
  }

  private func source(of segment: Segment) -> SegmentDeclaration.Source {
    switch segment.manifest {
    case .short(let address): return .remote(segment.url(of: address))
    case .remote(let url):
      guard let format = segment.declaration.manifestRules.format,
        BundleForm(rawValue: format.rawValue) != nil
      else { return .remote(url) }
      // A playlist or an ad tag is an item itself.
      var entry = ManifestEntry(url: url)
      entry.type = format.rawValue
      entry.id = segment.adSpace
      if format == .vast { entry.zone = segment.adSpace }
      if format == .vast, segment.declaration.lifetime == nil {
        entry.lifetime = BundleForm.adLifetime
      }
      return .inline([entry])
    case .local(let path): return .file(path, isStream: SystemFiles.isStream(path))
    case nil: return .inline(Shared(entries(of: segment)))
    }
  }

  /// Whether requests to a manifest's server carry a token of its segment, a rule or netrc.
  private func hasCredentials(for url: WebURL, _ declaration: SegmentDeclaration) -> Bool {
    let connections = configuration.policy.connections
    let rule = connections.rule(for: url, method: .get).map { connections.rules[$0] }
    let fields =
      declaration.headers + declaration.manifestHeaders
      + (rule?.headers(for: .other, isFirstOrigin: true) ?? [])
    return fields.contains { !RequestHeader.isHarmless($0.name) }
      || netrc?.field(for: url.host) != nil
  }

  private func entries(of segment: Segment) -> EntryTable {
    var table = EntryTable { ItemIdentifier.make(for: $0) }
    for declared in segment.urls {
      guard var entry = declared.manifestEntry else { continue }
      if entry.bundleForm == .ad {
        entry.id = entry.id ?? segment.adSpace
        entry.zone = segment.adSpace
        if segment.declaration.lifetime == nil {
          entry.lifetime = entry.lifetime ?? BundleForm.adLifetime
        }
      }
      // Fast path: most entries have no headers.
      if !entry.headers.isEmpty { entry.headers.removeAll(where: holdsLicense) }
      table.appendToColumns(entry)
    }
    return table
  }

  private func finish(_ rules: inout ManifestRules, of segment: Segment) {
    let download = configuration.download
    rules.privateModules = environment["GONOPROXY"] ?? environment["GOPRIVATE"] ?? ""
    if segment.declaration.publishing?.layout == .cargo {
      rules.crateIndex = rules.crateIndex ?? Self.crateIndex
    }
    if case .short(let address)? = segment.manifest { rules.format = address.format }
    rules.machine = ThisMachine.platform()
    rules.behavior = segment.behavior ?? download.behavior
    rules.sources = download.sources
    let age = segment.declaration.age
    rules.asksDates =
      age.minimum > .zero && age.basis != .seen && !engine.allowed.contains(.age)
      && segment.declaration.isStored
    rules.categories = download.categories
    rules.countPerCategory =
      [download.countPerCategory, publisher?.countPerCategory].compactMap(\.self).min()
  }

  /// Default URL of the crate index, which cargo needs in a published tree.
  private static let crateIndex = try? WebURL("https://index.crates.io/")

  /// Whether a header holds the license, which only the publisher of manifests may receive.
  func holdsLicense(_ field: HeaderField) -> Bool {
    guard let license = configuration.license?.value, !license.isEmpty else { return false }
    return field.value.contains(license)
  }

  // MARK: Network

  func applyNetwork(to request: inout RunRequest, publisher: NetworkPolicy?) {
    request.policy.network = network(publisher: publisher)
    // A list may need a calendar where the configuration does not.
    if request.segments.contains(where: { $0.network?.budgets.isEmpty == false }) {
      request.policy.network.calendar = zone(zoneName)
    }
    request.policy.zone = { [zones, name = zoneName] in zones.zone(named: $0 ?? name) }
  }

  func network(publisher: NetworkPolicy?) -> NetworkPolicy {
    let own = configuration.network.rules.policy
    // Loads the time zone only if a rule needs it.
    let isTimed =
      [own, publisher].contains { rules in
        rules.map { !$0.localHours.isEmpty || !$0.budgets.isEmpty } ?? false
      }
      || configuration.segments.contains { segment in
        segment.network?.dailyLimit != nil || segment.network?.monthlyLimit != nil
      }
    let calendar = isTimed ? zone(zoneName) : .utc
    let policy = own.resolved(calendar: calendar, zone: zone)
    guard let publisher else { return policy }
    return policy.narrowed(
      by: publisher.resolved(calendar: calendar, zone: zones.zone(named:))
    )
  }

  func network(_ rules: NetworkRules, of segment: String) -> NetworkPolicy {
    let policy = rules.policy
    return policy.resolved(
      for: SegmentKey(identity: identity, name: segment),
      calendar: policy.localHours.isEmpty ? .utc : zone(zoneName),
      zone: zone
    )
  }

  func network(
    _ own: NetworkPolicy?,
    narrowedBy narrower: NetworkPolicy,
    of segment: String
  ) -> NetworkPolicy {
    let narrower = narrower.resolved(
      for: SegmentKey(identity: identity, name: segment),
      calendar: zone(zoneName),
      zone: zones.zone(named:)
    )
    return (own ?? NetworkPolicy()).narrowed(by: narrower)
  }

  var zoneName: String {
    configuration.network.rules.timeZone ?? "local"
  }

  /// An unknown zone was reported when the configuration was read.
  func zone(_ name: String) -> TimeZoneRules {
    zones.zone(named: name) ?? .utc
  }

  private var zones: TimeZoneFiles {
    TimeZoneFiles(variable: environment["TZ"])
  }
}
