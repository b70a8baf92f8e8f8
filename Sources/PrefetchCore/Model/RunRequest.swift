/// Everything a run is asked to do, resolved from configuration and command line.
package struct RunRequest: Sendable {
  /// A segment that a run leaves alone.
  package struct Unselected: Sendable {
    package var declaration: SegmentDeclaration
    /// How many of the selected ones stand before it; of one URL the first has the answer.
    package var place: Int

    package init(declaration: SegmentDeclaration, place: Int) {
      self.declaration = declaration
      self.place = place
    }
  }

  package var mode: Mode
  /// Whose segments these are: configurations that share a cache keep apart by it.
  package var identity: String
  package var bundleID: String?
  /// The selected segments, in the order of the configuration.
  package var segments: [SegmentDeclaration]
  /// Segments that are declared and not selected, by name: what they hold is theirs.
  package var unselected: [String: Unselected] = [:]
  /// Recorded segments of this identity that are neither declared nor subscribed any more.
  package var forgotten: [SegmentKey]
  package var policy: RunPolicy
  /// Of the registered license.
  package var credentials: Shared<OriginCredentials>?
  /// Where the license would have to be registered, and is not.
  package var withheld: WithheldOrigin?
  /// Whether it is clients of the server over the cache that ask.
  package var servesClients = false
  /// Of a run that does one part of what is declared.
  package var shard: ShardRule?
  /// Whether items that are simply kept are told one by one.
  package var listsKept = false
  /// Whether the report keeps the items one by one; without it, of a million only those that weigh
  /// on the exit status.
  package var keepsItems = true
  /// By which the variants of streams are chosen where no rule says it.
  package var streams = StreamMemory()
  /// Of everything besides manifests that decides about items, see ``QuietMark``.
  package var rules: UInt64 = 0

  package init(mode: Mode, identity: String, segments: [SegmentDeclaration], policy: RunPolicy) {
    self.mode = mode
    self.identity = identity
    self.segments = segments
    self.policy = policy
    forgotten = []
  }
}

/// A segment to reconcile.
package struct SegmentDeclaration: Sendable {
  /// What is taken of items that consist of several files.
  package var bundleRules = BundleRules()
  package enum Source: Sendable {
    /// In a box, since declarations are handed around.
    case inline(Shared<EntryTable>)
    case remote(WebURL)
    /// Absolute path of a local file, and whether its bytes come once, as those of a pipe.
    case file(String, isStream: Bool = false)

    package static func inline(_ entries: [ManifestEntry]) -> Source {
      .inline(Shared(EntryTable(entries)))
    }
  }

  package var name: String
  package var source: Source
  /// Of inline entries that were taken from a manifest out there: whose they are.
  package var excerptOf: WebURL?
  package var isRequired: Bool
  /// 1 first, nil last.
  package var priority: Int?
  /// Sent to the origins of the manifest and its items as the configuration names them.
  package var headers: [HeaderField]
  /// Sent with the manifest's own request besides, and with nothing else.
  package var manifestHeaders: [HeaderField]
  /// Whether an item without a digest that proves something may not be fetched.
  package var requiresDigest: Bool
  /// Replaces the manifest's URL as the base of relative references.
  package var base: WebURL?
  package var lifetime: Freshness.Lifetime?
  package var maximumFileSize: Int64?
  package var allowsEmpty: Bool
  /// Whether that there is nothing counts as a failure.
  package var failsOnEmpty = false
  /// Further servers that have the same paths.
  package var alternates: [WebURL] = []
  package var expectation = ContentExpectation()
  /// How long a stale copy serves when its server cannot be asked; nil = as the run says.
  package var maximumStale: Duration?
  package var onGone = GoneRule.keep
  package var honorsNoStore = false
  /// Bytes a second of all its transfers together.
  package var rate: Int64?
  package var manifestRules = ManifestRules()
  /// Public keys of which one must have signed the manifest; empty for no such demand.
  package var manifestKeys: [String] = []
  package var publishing: PublishingRules?
  /// Whether bodies are kept, rather than fetched to warm another cache.
  package var isStored = true
  package var asksHeadOnly = false
  /// What it asks of the network beyond what holds for all.
  package var network: NetworkPolicy?

  /// Returns its limit of file sizes under a manifest's, which may be less than the configuration's and
  /// never more.
  package func maximumFileSize(under manifest: Manifest, _ policy: RunPolicy) -> Int64? {
    guard let allowed = manifest.maximumFileSize else { return maximumFileSize }
    return min(maximumFileSize ?? policy.maximumFileSize ?? .max, allowed)
  }

  /// Whether a list names its items, rather than the configuration.
  package var isListed: Bool {
    if case .inline = source { excerptOf != nil } else { true }
  }

  /// Whether what names its items is trusted with choosing that server: the configuration, a
  /// file here, or a manifest on the same one.
  package func chose(_ url: WebURL) -> Bool {
    switch source {
    case .remote(let manifest): manifest.origin == url.origin
    case .inline: excerptOf.map { $0.origin == url.origin } ?? true
    case .file: true
    }
  }

  /// Who named its items, as far as that is known before its manifest is asked for.
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
