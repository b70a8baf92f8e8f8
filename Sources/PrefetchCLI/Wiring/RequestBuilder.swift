import PrefetchConfig
import PrefetchCore
import PrefetchManifests
import PrefetchSystem

/// A configuration and the command line's wishes as the values that the engine understands.
struct RequestBuilder {
  let configuration: Configuration
  let identity: String
  let engine: EngineOptions
  /// Of the process.
  let environment: [String: String]
  var netrc: Netrc?
  /// What the publisher grants who gave the license.
  var publisher: PublisherPolicy?

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
    request.forgotten = forgotten
    return request
  }

  var policy: RunPolicy {
    var policy = RunPolicy()
    let network = configuration.network
    policy.transportSecurity = configuration.transportSecurity.decisive
    policy.connections = connections
    policy.redirects.isFollowing = configuration.redirects.areFollowed
    policy.redirects.maximum = configuration.redirects.maximum
    policy.redirects.allowsCrossHost = configuration.redirects.mayCrossHosts
    policy.redirects.allowsDowngrade = configuration.redirects.mayDowngrade
    policy.retries.count = network.retries.items
    policy.retries.lookups = network.retries.lookups
    policy.retries.lookupDelay = network.retries.lookupDelay
    policy.retries.wait = network.retries.wait
    policy.retries.statuses = Set(network.retries.statuses)
    policy.agent = network.userAgent ?? ToolVersions.name
    policy.retries.delay = network.retries.delay
    policy.retries.maximumDelay = network.retries.maximumDelay
    policy.concurrency = engine.jobs ?? network.concurrency
    policy.perHost = engine.jobsPerHost ?? network.perHost
    policy.lookAhead = max(64, 64 * policy.perHost)
    policy.maximumFileSize = narrowed(configuration.cache.maximumFileSize.amount)
    policy.maximumManifestSize = configuration.cache.maximumManifestSize.amount ?? .max
    policy.freshnessLimit = configuration.cache.timeToLive
    policy.maximumStale = configuration.cache.maximumStale
    policy.retriesFailed = configuration.download.retriesFailed
    policy.room = CollectCommand.rules(configuration.cache)
    policy.maximumRemovalFraction = configuration.cache.purge.maximumFraction.value
    policy.allowsMassRemoval = engine.allowed.contains(.massRemoval)
    policy.allowsRollback = engine.allowed.contains(.rollback)
    policy.revalidatesAll = engine.revalidatesAll
    policy.refetchesAll = engine.refetchesAll
    policy.isOffline = engine.isOffline
    policy.deadline = engine.deadline ?? network.timeouts.run.amount
    return policy
  }

  private func narrowed(_ limit: Int64?) -> Int64? {
    [limit, publisher?.maximumFileSize].compactMap(\.self).min()
  }

  func declaration(_ segment: Segment) -> SegmentDeclaration {
    let source: SegmentDeclaration.Source =
      switch segment.manifest {
      case .remote(let url) where segment.format.map(isOneItem) ?? false:
        .inline([whole(at: url, of: segment)])
      case .remote(let url): .remote(url)
      case .local(let path): .file(path)
      case nil:
        .inline(
          Shared(entries(segment.urls, zone: segment.vast.zone, lifetime: segment.timeToLive))
        )
      }
    var declaration = SegmentDeclaration(name: segment.name, source: source)
    declaration.isRequired = segment.isRequired
    declaration.priority = segment.priority
    let configured = headers(segment.headers)
    declaration.headers = configured.filter { !holdsLicense($0) }
    declaration.manifestHeaders = configured.filter(holdsLicense)
    declaration.requiresDigest = segment.requiresDigest
    declaration.base = segment.base
    declaration.lifetime = segment.timeToLive.map { .atMost($0) }
    if let own = segment.maximumFileSize?.amount { declaration.maximumFileSize = narrowed(own) }
    declaration.allowsEmpty = segment.allowsEmpty
    declaration.failsOnEmpty = segment.failsOnEmpty
    declaration.alternates = segment.alternates
    declaration.maximumStale = segment.maximumStale
    declaration.onGone = segment.onGone == .remove ? .remove : .keep
    declaration.honorsNoStore = segment.honorsNoStore
    declaration.rate = segment.rate?.amount
    declaration.manifestRules = manifestRules(segment)
    declaration.bundleRules = bundleRules(segment)
    declaration.manifestKeys = segment.manifestKeys ?? configuration.manifestKeys
    declaration.publishing = segment.publish.flatMap(publishing)
    declaration.publishing?.goProxy = segment.go.url
    declaration.isStored = segment.isStored && !segment.asksHeadOnly
    declaration.asksHeadOnly = segment.asksHeadOnly
    declaration.expectation = ContentExpectation(
      types: segment.expect.mime,
      minimumSize: segment.expect.minimumSize,
      maximumSize: segment.expect.maximumSize,
      beginnings: segment.expect.magic.map { ContentExpectation.beginnings(of: $0) } ?? []
    )
    return declaration
  }

  private func isOneItem(_ format: ManifestFormat) -> Bool {
    BundleForm(rawValue: format.rawValue) != nil
  }

  /// A segment whose manifest is a playlist or an ad tag holds one item.
  private func whole(at url: WebURL, of segment: Segment) -> ManifestEntry {
    var entry = ManifestEntry(url: url)
    entry.type = segment.format?.rawValue
    entry.id = segment.vast.zone
    if segment.format == .vast, segment.timeToLive == nil { entry.lifetime = BundleForm.adLifetime }
    return entry
  }

  private func bundleRules(_ segment: Segment) -> BundleRules {
    var rules = BundleRules()
    rules.quality = BundleRules.Quality(rawValue: segment.variant.rawValue)
    rules.maximumBitrate = segment.maximumBitrate
    rules.maximumHeight = segment.maximumHeight
    rules.codecs = segment.codecs
    rules.languages = segment.languages
    rules.seconds = segment.seconds
    rules.takesLive = segment.live == .snapshot
    rules.storesKeys = segment.keys == .store
    rules.ignoredParameters = segment.ignoredParameters
    rules.keepsPartial = segment.keepsPartial
    rules.mediaTypes = segment.expect.mime
    rules.takesExtensions = segment.vast.fetchesExtensions
    return rules
  }

  private func manifestRules(_ segment: Segment) -> ManifestRules {
    var rules = ManifestRules()
    rules.format = segment.format
    rules.pointers.items = segment.json.items
    rules.pointers.urls = segment.json.url
    rules.pointers.sha256 = segment.json.sha256
    rules.pointers.size = segment.json.size
    rules.npmRegistry = segment.npm.url
    rules.pipIndex = segment.pip.url
    rules.goProxy = segment.go.url
    rules.privateModules =
      environment["GONOPROXY"] ?? environment["GOPRIVATE"] ?? ""
    rules.crateDownload = segment.cargo.download
    rules.crateIndex =
      segment.cargo.index ?? (segment.publish?.layout == .cargo ? Self.crateIndex : nil)
    rules.omitted = segment.omit
    rules.platforms = segment.platform
    rules.machine = ThisMachine.platform()
    rules.included = segment.include
    rules.excluded = segment.exclude
    rules.kept = segment.keep
    rules.behavior = segment.behavior ?? configuration.download.behavior
    rules.sources = configuration.download.sources
    rules.categories = configuration.download.categories
    rules.countPerCategory =
      [configuration.download.itemsPerCategory, publisher?.countPerCategory]
      .compactMap(\.self).min()
    rules.mayCrossHosts = segment.mayCrossHosts
    rules.trustsModificationTimes = segment.trustsModificationTimes
    return rules
  }

  /// That of crates.io, without which cargo takes nothing from a published tree.
  private static let crateIndex = try? WebURL("https://index.crates.io/")

  private func publishing(_ publication: Publication) -> PublishingRules? {
    guard let folder = publication.folder else { return nil }
    var rules = PublishingRules(folder: folder)
    rules.layout = publication.layout
    rules.link = publication.link
    rules.isAtomic = publication.isAtomic
    rules.keptGenerations = publication.keptGenerations
    rules.mirror = publication.mirror
    return rules
  }

  private func entries(
    _ declared: [InlineEntry],
    zone: String?,
    lifetime: Duration?
  ) -> EntryTable {
    var table = EntryTable { ItemIdentifier.make(for: $0) }
    for entry in declared {
      switch entry {
      case .url(let url):
        var plain = ManifestEntry(url: url)
        plain.type = InlineItem.Kind.file.rawValue
        table.appendBriefly(plain)
      case .item(let item):
        guard let url = item.url else { continue }
        var entry = self.entry(item, at: url)
        if item.type == .vast {
          entry.id = entry.id ?? zone
          if lifetime == nil { entry.lifetime = entry.lifetime ?? BundleForm.adLifetime }
        }
        table.appendBriefly(entry)
      }
    }
    return table
  }

  private func entry(_ item: InlineItem, at url: WebURL) -> ManifestEntry {
    var entry = ManifestEntry(url: url)
    entry.id = item.id
    entry.provider = item.provider
    entry.type = item.type.rawValue
    entry.title = item.title
    entry.size = item.size
    entry.digests = item.expectedDigests
    entry.entityTag = item.etag
    entry.mime = item.mime
    entry.expires = item.expires
    entry.priority = item.priority
    entry.published = item.modified
    entry.seconds = item.seconds
    entry.isRequired = item.isRequired
    entry.path = item.path
    entry.categories = item.categories
    entry.thumbnail = item.thumbnail.flatMap(thumbnail)
    // Most have neither.
    if !item.headers.isEmpty {
      entry.headers = headers(item.headers).filter { !holdsLicense($0) }
    }
    if !item.alternates.isEmpty {
      entry.alternates = item.alternates.filter { $0.url != nil }.enumerated()
        .sorted {
          ($0.element.priority ?? .max, $0.offset) < ($1.element.priority ?? .max, $1.offset)
        }
        .compactMap(\.element.url)
    }
    entry.lifetime =
      switch item.lifetime {
      case .immutable: .immutable
      case .of(let duration): .atMost(duration)
      case nil: nil
      }
    return entry
  }

  private func thumbnail(_ child: InlineItem.Child) -> Thumbnail? {
    guard let url = child.url else { return nil }
    var thumbnail = Thumbnail(url: url)
    thumbnail.size = child.size
    thumbnail.digests = child.digests + child.integrity + [child.sha256].compactMap(\.self)
    thumbnail.mime = child.mime
    return thumbnail
  }

  /// The license is for whoever publishes the manifests, never for those who serve the items.
  func holdsLicense(_ field: HeaderField) -> Bool {
    guard let license = configuration.license?.value, !license.isEmpty else { return false }
    return field.value.contains(license)
  }

  func headers(_ headers: [String: Secret]) -> [HeaderField] {
    headers.sorted { $0.key < $1.key }.map { HeaderField($0.key, $0.value.value) }
  }

  /// Bytes are hashed while others arrive; more threads than two gain little.
  private static let workers = 2

  /// What holds for every transfer; the process environment is read here once, and nowhere later.
  func transportSettings() -> TransportSettings {
    let network = configuration.network
    var settings = TransportSettings(
      userAgent: network.userAgent ?? "\(ToolVersions.name)/\(ToolVersions.version)"
    )
    settings.connectTimeout = network.timeouts.connect
    settings.readTimeout = network.timeouts.read
    settings.itemTimeout = network.timeouts.item.amount
    settings.connectionsPerHost = engine.jobsPerHost ?? network.perHost
    settings.concurrency = engine.jobs ?? network.concurrency
    settings.workers = Self.workers
    settings.rate = schedule(network.rate)
    settings.ratePerHost = network.ratePerHost.amount
    settings.httpVersion = TransportSettings.HTTPVersion(rawValue: network.http.rawValue) ?? .auto
    settings.minimumTLS = configuration.tls.minimumVersion == .tls13 ? .tls13 : .tls12
    settings.proxyCAFile = environment["SSL_CERT_FILE"]
    settings.proxyCADirectory = environment["SSL_CERT_DIR"]
    settings.caFile = configuration.tls.authorityFile
    settings.caDirectory = configuration.tls.authorityFolder
    // Whoever says whom to trust does not mean the environment's choice besides.
    if settings.caFile == nil, settings.caDirectory == nil {
      settings.caFile = settings.proxyCAFile
      settings.caDirectory = settings.proxyCADirectory
    }
    settings.proxy = proxy(network.proxy)
    return settings
  }

  /// A time zone is looked up for a timetable alone.
  private func schedule(_ rule: RateRule) -> RateSchedule? {
    switch rule {
    case .unlimited: return nil
    case .steady(let rate): return .steady(rate)
    case .timetable(let timetable):
      let zones = TimeZoneFiles(variable: environment["TZ"])
      let zone = zones.zone(named: configuration.network.timeZone) ?? .utc
      return RateSchedule(timetable, zone: zone)
    }
  }
}
