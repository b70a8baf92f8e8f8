package struct RunRequest: Sendable {
  /// Declared segment that the run leaves alone.
  package struct Unselected: Sendable {
    package var declaration: SegmentDeclaration
    /// Number of selected segments before it; for a URL of both, the first decides.
    package var precedingSelectedCount: Int

    package init(declaration: SegmentDeclaration, precedingSelectedCount: Int) {
      self.declaration = declaration
      self.precedingSelectedCount = precedingSelectedCount
    }
  }

  package var mode: Mode
  /// Identity that keeps configurations with a common cache apart.
  package var identity: String
  package var bundleID: String?
  package var segments: [SegmentDeclaration]
  /// Segments that are declared but not selected, by name; they keep their items.
  package var unselected: [String: Unselected] = [:]
  /// Recorded segments of this identity that are no longer declared or subscribed.
  package var forgotten: [SegmentKey]
  package var policy: RunPolicy
  package var credentials: Shared<OriginCredentials>?
  package var unregisteredOrigin: WithheldOrigin?
  /// Whether clients of the cache server caused the request.
  package var servesClients = false
  package var shard: ShardRule?
  /// Lock file of the configuration; nil without one.
  package var lockfile: LockfileTerms?
  package var listsKept = false
  /// Whether the report keeps all items, or only those that affect the exit status.
  package var keepsItems = true
  package var streams = StreamMemory()
  /// Hash of everything except manifests that decides about items, see ``QuietMark``.
  package var rulesHash: UInt64 = 0

  package init(mode: Mode, identity: String, segments: [SegmentDeclaration], policy: RunPolicy) {
    self.mode = mode
    self.identity = identity
    self.segments = segments
    self.policy = policy
    forgotten = []
  }
}

package struct SegmentDeclaration: Sendable {
  package var bundleRules = BundleRules()
  package enum Source: Sendable {
    /// Entries in a box, since declarations are passed around.
    case inline(Shared<EntryTable>)
    case remote(WebURL)
    /// Absolute path of a local file; `isStream` if it can be read only once, like a pipe.
    case file(String, isStream: Bool = false)

    package static func inline(_ entries: [ManifestEntry]) -> Source {
      .inline(Shared(EntryTable(entries)))
    }
  }

  package var name: String
  package var source: Source
  /// Manifest from which inline entries were taken; nil if the configuration declares them.
  package var excerptOf: WebURL?
  package var isRequired: Bool
  /// Priority: 1 first, nil last.
  package var priority: Int?
  /// Headers for the origins of the manifest and its items as the configuration names them.
  package var headers: [HeaderField]
  package var manifestHeaders: [HeaderField]
  package var requiresDigest: Bool
  package var base: WebURL?
  package var lifetime: Freshness.Lifetime?
  package var maximumFileSize: Int64?
  package var age = AgeRules()
  package var allowsEmpty: Bool
  /// Whether an empty manifest, or an ad server without an ad, is a failure.
  package var failsOnEmpty = false
  package var alternates: [WebURL] = []
  package var expectation = ContentExpectation()
  /// Longest time that a stale copy serves while its server cannot be reached; nil for the run's.
  package var maximumStale: Duration?
  package var onGone = GoneRule.keep
  package var honorsNoStore = false
  package var rate: Int64?
  package var manifestRules = ManifestRules()
  /// Public keys of which one must have signed the manifest; empty for no signature.
  package var manifestKeys: [String] = []
  package var publishing: PublishingRules?
  /// Whether bodies are kept, rather than fetched to warm another cache.
  package var isStored = true
  package var requestsHeadOnly = false
  package var network: NetworkPolicy?

  /// Returns the limit of file sizes; a manifest may lower the configured one but never raise it.
  package func maximumFileSize(under manifest: Manifest, _ policy: RunPolicy) -> Int64? {
    guard let allowed = manifest.maximumFileSize else { return maximumFileSize }
    return min(maximumFileSize ?? policy.maximumFileSize ?? .max, allowed)
  }

  /// Whether the store decides which versions of a list are old enough to be the newest.
  package var selectsByAge: Bool { manifestRules.versions != nil && age.minimum > .zero }

  package var isListed: Bool {
    if case .inline = source { excerptOf != nil } else { true }
  }

  /// Whether the items' declaration may choose that server: no manifest of another server may.
  package func mayChooseServer(of url: WebURL) -> Bool {
    switch source {
    case .remote(let manifest): manifest.origin == url.origin
    case .inline: excerptOf.map { $0.origin == url.origin } ?? true
    case .file: true
    }
  }

  /// Whether a URL is on the server whose API lists the releases, or the files of the repository.
  func isReleaseAPI(_ url: WebURL) -> Bool {
    guard [.releases, .hf].contains(manifestRules.format) else { return false }
    return switch source {
    case .remote(let manifest): manifest.origin == url.origin
    case .inline: excerptOf?.origin == url.origin
    case .file: false
    }
  }

  func provenance(under policy: RunPolicy) -> Provenance {
    excerptOf.map {
      Provenance(servedFrom: $0, throughProxy: policy.connections.mayBeProxied)
    } ?? .local
  }

  package init(name: String, source: Source) {
    self.name = name
    self.source = source
    isRequired = true
    headers = []
    manifestHeaders = []
    requiresDigest = false
    allowsEmpty = false
  }
}
