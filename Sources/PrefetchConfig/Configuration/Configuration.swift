package import PrefetchCore
import PrefetchDocuments

/// Everything a user declares, typed and validated.
package struct Configuration: Sendable {
  package enum Subscriptions: String, Hashable, Sendable, CaseIterable {
    /// The file is the truth.
    case declared
    /// The file counts once, later changes are made by commands.
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
  package var features = Features()
  package var manifests: String?
  package var manifestKeys: [String] = []
  package var defaults = Segment()
  package var segments: [Segment] = []
  package var accept: [ExitStatus] = []
  package var registration = Registration()
  /// By which a push payload is known to be ours.
  package var pushMarker = "mapsdk"
  package var hooks: [String: Hook] = [:]
  /// What runs go by, as far as it stands here alone: the machine, a license and options may have
  /// their say besides.
  package var policy = RunPolicy()
  /// The same of transfers.
  package var settings = TransportSettings(userAgent: "")
  /// What `download` says of manifests; segments have the rest.
  package var download = ManifestRules()
  package var network = Network()
  package var pins: [String: PinTable.Rule] = [:]
  package var transportSecurity = SecurityRules()
  package var cache = Cache()
  package var report = Reporting()
  package var analytics = Analytics()

  package init() {
    // As much of the disk as its size says, and the proxy that the environment says.
    policy.room.minimumFree = nil
    settings.proxy = .environment(http: nil, https: nil, exceptions: nil)
  }

  /// Whether runs do anything.
  package var hasRuns: Bool {
    isEnabled && features.precaches
  }
}

extension Configuration {
  /// The key table: what is read, checked, written, described and suggested.
  package static let table = ObjectType(Self(), name: "configuration") {
    generalFields
    segmentFields
    policyFields
    Field("cache", \.self, cacheTable, "The content store")
    Field("report", \.report, Reporting.table, "What a run says afterwards")
    Field("analytics", \.analytics, Analytics.table, "Events for a collector of your own")
  }
  .checking { configuration, facts, decoder in
    guard let name = configuration.name else { return }
    decoder.warnOfPrivateName(name, at: facts.place(of: "name"))
  }

  @FieldBuilder<Configuration> private static var generalFields: [Field<Configuration>] {
    Field("version", \.version, .formatVersion, "Version of the configuration's own format")
    Field(
      "name",
      \.name,
      .name,
      "Identity of the configuration, under which it owns what it declared"
    )
    Field("license", \.license, .license, "License key").synonyms("api_key").secret
    Field("bundle_id", \.bundleID, .text.nonEmpty, "Application that manifests must be made for")
    Field("enabled", \.isEnabled, .boolean, "Whether runs do anything")
    Field(
      "subscriptions",
      \.subscriptions,
      .choice(),
      "Whether the file or the memory says which segments are kept"
    )
    Field(
      "include",
      \.include,
      .oneOrMore(.path),
      "Files whose settings come before those of this one"
    )
    Field("vars", \.variables, .map(of: .name, to: .text), "Values for `${var:NAME}`")
    Field(
      "features",
      \.features,
      Features.table,
      "What may be switched off, here or by the publisher"
    )
    Field(
      "manifests",
      \.manifests,
      .manifestTemplate,
      "Where the manifest of a segment is that has only a name"
    )
    Field(
      "manifest_keys",
      \.manifestKeys,
      .list(of: .publicKey),
      "Keys of which one must have signed every manifest"
    )
    Field(
      "accept",
      \.accept,
      .list(of: .finding),
      "Findings that end with exit status 0 all the same"
    )
    Field("registration", \.registration, Registration.table, "Registration of the license")
    Field("notify", \.self, notifyTable, "Push payloads")
    Field("state", \.self, stateTable, "What is remembered between runs")
    Field(
      "hooks",
      \.hooks,
      .map(of: .oneOf("event", Hook.events), to: .object(Hook.table)),
      "Commands to run when something has happened"
    )
  }

  @FieldBuilder<Configuration> private static var segmentFields: [Field<Configuration>] {
    Field("defaults", \.defaults, Segment.defaultsTable, "Segment keys that hold for all segments")
    Field(
      "segments",
      shape: .list(.object(Segment.table.shape)),
      "The segments",
      decode: decodeSegments,
      encode: { .array($0.segments.map(Segment.table.encode)) }
    )
  }

  @FieldBuilder<Configuration> private static var policyFields: [Field<Configuration>] {
    Field("download", \.self, downloadTable, "Which items are worth having")
    Field(
      "network",
      \.self,
      networkTable,
      "When, over what and how much at once is transferred"
    )
    Field(
      "redirects",
      \.policy.redirects,
      RedirectPolicy.table,
      "How far servers may send us elsewhere"
    )
    Field("tls", \.self, tlsTable, "Encrypted connections")
    Field(
      "transport_security",
      \.transportSecurity,
      SecurityRules.table,
      "App Transport Security, its keys as in an Info.plist"
    )
    .synonyms("NSAppTransportSecurity")
    Field("transport", \.self, transport, "Settings of single requests")
  }

  private static let notifyTable = ObjectType(Self(), name: "notify") {
    Field(
      "marker",
      \.pushMarker,
      .text.nonEmpty,
      "Key or text by which a push payload is known to be ours"
    )
  }

  private static let downloadTable = ObjectType(Self(), name: "download") {
    Field(
      "behavior",
      \.download.behavior,
      .choice(),
      "What runs fetch; with `none` only `get` does"
    )
    Field(
      "retry_failed",
      \.policy.retriesFailed,
      .boolean,
      "Whether each run tries failed items again"
    )
    Field(
      "items_per_category",
      \.download.countPerCategory,
      .integer(0...1_000_000),
      "Items taken of each category"
    )
    Field(
      "categories",
      \.download.categories,
      .map(of: .name, to: .boolean),
      "Categories switched on and off"
    )
    Field(
      "sources",
      \.download.sources,
      .map(of: .name, to: .boolean),
      "Sources switched on and off"
    )
  }
}

extension ValueType where Value == Int {
  /// Versions of the configuration's own format; there is one so far.
  fileprivate static var formatVersion: Self {
    let schema: [(String, JSONValue)] = [
      ("type", .array([.string("number"), .string("string")])), ("minimum", .integer(1)),
      ("exclusiveMaximum", .integer(2)), ("pattern", .string("^1([.][0-9]+)?$")),
    ]
    return scalar("version 1", summary: "1", schema: schema) { text throws(ValueComplaint) in
      // What a later 1.x adds, older readers name as unknown keys.
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
  /// Of those that may be accepted.
  fileprivate static var finding: Self {
    let findings: [ExitStatus] = [.incomplete, .nothing, .unavailable, .deferred]
    return .words(findings.map { ($0.name, $0) })
  }
}
