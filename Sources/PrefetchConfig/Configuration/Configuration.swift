package import PrefetchCore
import PrefetchDocuments

/// Everything that a user declares, typed and validated.
package struct Configuration: Sendable {
  package enum Subscriptions: String, Hashable, Sendable, CaseIterable {
    /// The file alone decides which segments exist.
    case declared
    /// The file is read once; commands make later changes.
    case remembered
  }

  package var version = 1
  package var name: String?
  package var license: Secret?
  package var bundleID: String?
  package var isEnabled = true
  package var subscriptions = Subscriptions.declared
  var include: [String] = []
  package var variables: [String: String] = [:]
  package var profiles: [String: Profile] = [:]
  package var features = Features()
  package var manifests: String?
  package var manifestKeys: [String] = []
  package var defaults = Segment()
  package var segments: [Segment] = []
  package var accept: [ExitStatus] = []
  /// Path of the lock file; empty for the default place, ``noLockfile`` for none.
  package var lockfile = ""
  package static let noLockfile = "none"
  package var registration = Registration()
  package var pushMarker = "mapsdk"
  package var hooks: [String: Hook] = [:]
  /// Policy of runs; the machine, a license and options may still change it.
  package var policy = RunPolicy()
  package var settings = TransportSettings(userAgent: "")
  package var download = ManifestRules()
  package var network = Network()
  package var pins: [String: PinTable.Rule] = [:]
  package var transportSecurity = SecurityRules()
  package var cache = Cache()
  package var report = Reporting()
  package var analytics = Analytics()

  package init() {
    // The size of the disk and the environment's proxy variables decide these defaults later.
    policy.room.minimumFree = nil
    settings.proxy = .environment(http: nil, https: nil, exceptions: nil)
    settings.ranges = RangeLimits(connections: 8)
  }

  package var hasRuns: Bool {
    isEnabled && features.precaches
  }
}

extension Configuration {
  /// Table of all keys, from which they are read, checked, written, documented and suggested.
  package static let table = ObjectType(Self(), name: "configuration") {
    generalFields
    segmentFields
    policyFields
    Field("cache", \.self, cacheTable).help("The content store")
    Field("report", \.report, Reporting.table).help("Reports of a run")
    Field("analytics", \.analytics, Analytics.table).help("Events for your own collector")
  }
  .checking { configuration, facts, decoder in
    checkPlainHosts(configuration, facts, &decoder)
    guard let name = configuration.name else { return }
    decoder.warnOfPrivateName(name, at: facts.keyNode(of: "name"))
  }

  /// Returns the hint for a key that belongs at the configuration's top; nil for other keys.
  static func topLevelHint(of key: String, example: (String) -> String) -> String? {
    table.shape.key(spelled: key).map {
      "it is a key of the whole configuration: \(example($0.name))"
    }
  }

  @FieldBuilder<Configuration> private static var generalFields: [Field<Configuration>] {
    Field("version", \.version, .formatVersion).help("Version of the configuration format")
    Field("name", \.name, .name)
      .help("Identity of the configuration, which owns the content that it declared")
    Field("license", \.license, .license).help("License key").synonyms("api_key").secret
    Field("bundle_id", \.bundleID, .text.nonEmpty)
      .help("Application that manifests must be for")
    Field("enabled", \.isEnabled, .boolean).help("Whether runs do anything")
    Field("subscriptions", \.subscriptions, .choice())
      .help("Whether the file (`declared`) or the state (`remembered`) names the segments")
    Field("include", \.include, .oneOrMore(.path))
      .help("Files to merge before this one")
    Field("vars", \.variables, .map(of: .name, to: .text)).help("Values for `${var:NAME}`")
    Field("profiles", \.profiles, .map(of: .name, to: .object(Profile.table)))
      .help("Values that `--profile NAME` puts over the others")
    Field("features", \.features, Features.table)
      .help("Features that you or the publisher may switch off")
    Field("manifests", \.manifests, .manifestTemplate)
      .help("URL of the manifest of a segment that has only a name")
    Field("manifest_keys", \.manifestKeys, .list(of: .publicKey, atLeast: 1))
      .help("Public keys; one of them must have signed every manifest")
    Field("manifest_expiry", \.policy.manifestExpiry, .choice())
      .help("Whether a signed manifest must have an expiry date")
    Field("accept", \.accept, .list(of: .finding))
      .help("Outcomes that count as success")
    Field("lockfile", \.lockfile, .pathOrNone)
      .help("Lock file that pins items; by default `prefetch.lock` beside this file if it exists")
    Field("registration", \.registration, Registration.table).help("Registration of the license")
    Field("notify", \.self, notifyTable).help("Push payloads")
    Field("state", \.self, stateTable).help("Data kept between runs")
    Field("hooks", \.hooks, .map(of: .oneOf("event", Hook.events), to: .object(Hook.table)))
      .help("Commands to run on events")
  }

  @FieldBuilder<Configuration> private static var segmentFields: [Field<Configuration>] {
    Field("defaults", \.defaults, Segment.defaultsTable)
      .help("Segment keys for all segments")
    Field(
      "segments",
      shape: .list(.object(Segment.table.shape)),
      decode: decodeSegments,
      encode: { .array($0.segments.map(Segment.table.encode)) }
    )
    .help("The segments")
  }

  @FieldBuilder<Configuration> private static var policyFields: [Field<Configuration>] {
    Field("download", \.self, downloadTable).help("Choice of the items to fetch")
    Field("network", \.self, networkTable)
      .help("When, over which network and how fast runs transfer")
    Field("redirects", \.policy.redirects, RedirectPolicy.table)
      .help("Redirects")
    Field("tls", \.self, tlsTable).help("Encrypted connections")
    Field("transport_security", \.transportSecurity, SecurityRules.table)
      .help("App Transport Security, with its keys as in an Info.plist")
      .synonyms("NSAppTransportSecurity")
    Field("hosts", \.policy.connections.listedHosts, .list(of: .hostPattern))
      .help("Hosts that lists may name; `*` matches anything in a name")
    Field("allow_http", \.transportSecurity.plainHosts, .oneOrMore(.object(PlainHost.table)))
      .help("Hosts to which plain http is allowed")
    Field("transport", \.self, transport).help("Settings for single requests")
  }

  private static let notifyTable = ObjectType(Self(), name: "notify") {
    Field("marker", \.pushMarker, .text.nonEmpty)
      .help("Key or text that marks a push payload for prefetch")
  }

  private static let downloadTable = ObjectType(Self(), name: "download") {
    Field("behavior", \.download.behavior, .choice())
      .help("What runs fetch; with `none` only `get` fetches")
    Field("retry_failed", \.policy.retriesFailed, .boolean)
      .help("Whether each run tries failed items again")
    Field("items_per_category", \.download.countPerCategory, .integer(0...1_000_000))
      .help("Most items of each category")
    Field("categories", \.download.categories, .map(of: .name, to: .boolean))
      .help("Categories to fetch or to skip")
    Field("sources", \.download.sources, .map(of: .name, to: .boolean))
      .help("Sources to fetch or to skip")
    Field("ranges", \.settings.ranges.connections, .integer(1...8).orAuto(8))
      .help(
        """
        Most connections over which one large body may arrive, where that is faster; `auto` is 8
        """
      )
  }
}

extension ValueType where Value == Int {
  fileprivate static var formatVersion: Self {
    scalar(
      "version 1",
      summary: "1",
      schema: .pattern("1(?:\\.[0-9]+)?", nil, .from(1, below: 2))
    ) { text throws(ValueComplaint) in
      // Readers of version 1 report keys of a later 1.x as unknown.
      let minor = text.hasPrefix("1.") ? text.dropFirst(2) : text == "1" ? "0" : ""
      if !minor.isEmpty, minor.utf8.allSatisfy(ASCII.isDigit) { return 1 }
      throw ValueComplaint(
        "the format version `\(text)` is not known; this program reads version 1"
      )
    } encode: {
      .integer(Int64($0))
    }
  }
}

extension ValueType where Value == ExitStatus {
  fileprivate static var finding: Self {
    let findings: [ExitStatus] = [.incomplete, .nothing, .unavailable, .deferred]
    return .words(findings.map { ($0.name, $0) })
  }
}
