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

  /// Findings that may be accepted with exit status 0.
  package enum Acceptable: String, Hashable, Sendable, CaseIterable {
    case incomplete
    case nothing
    case unavailable
    case deferred
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
  package var accept: [Acceptable] = []
  package var registration = Registration()
  package var notify = Notify()
  package var state = State()
  package var hooks: [String: Hook] = [:]
  package var download = Download()
  package var network = Network()
  package var redirects = Redirects()
  package var tls = TLS()
  package var transportSecurity = SecurityRules()
  package var transport = Transport()
  package var cache = Cache()
  package var report = Reporting()
  package var analytics = Analytics()

  package init() {}
}

extension Configuration {
  /// The key table: what is read, checked, written, described and suggested.
  package static let table = ObjectType(Self(), name: "configuration") {
    generalFields
    segmentFields
    policyFields
    Field("cache", \.cache, Cache.table, "The content store")
    Field("report", \.report, Reporting.table, "What a run says afterwards")
    Field("analytics", \.analytics, Analytics.table, "Events for a collector of your own")
  }
  .checking { configuration, facts, decoder in
    guard let name = configuration.name else { return }
    PrivateNames.check(name, at: facts.place(of: "name"), &decoder)
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
      .list(of: .choice()),
      "Findings that end with exit status 0 all the same"
    )
    Field("registration", \.registration, Registration.table, "Registration of the license")
    Field("notify", \.notify, Notify.table, "Push payloads")
    Field("state", \.state, State.table, "What is remembered between runs")
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
    Field("download", \.download, Download.table, "Which items are worth having")
    Field(
      "network",
      \.network,
      Network.table,
      "When, over what and how much at once is transferred"
    )
    Field("redirects", \.redirects, Redirects.table, "How far servers may send us elsewhere")
    Field("tls", \.tls, TLS.table, "Encrypted connections")
    Field(
      "transport_security",
      \.transportSecurity,
      SecurityRules.table,
      "App Transport Security, its keys as in an Info.plist"
    )
    .synonyms("NSAppTransportSecurity")
    Field("transport", \.transport, Transport.table, "Settings of single requests")
  }

  /// Each segment begins as a copy of `defaults`, which stand before it in the table.
  private static let decodeSegments: @Sendable (Node, inout Self, inout NodeDecoder) -> Void = {
    node,
    configuration,
    decoder in
    guard case .sequence(let nodes) = node.content else {
      let hint = node.scalar.map { "write `segments: [\($0.text)]`" }
      decoder.reportWrongType(of: node, expected: "a list of segments", hint: hint)
      return
    }
    var places: [String: Node] = [:]
    var ids: [[String]: (url: WebURL, node: Node)] = [:]
    for (index, node) in nodes.enumerated() {
      decoder.descend(.index(index)) { decoder in
        var segment = configuration.defaults
        Segment.table.decode(node, into: &segment, &decoder)
        configuration.segments.append(segment)
        checkName(segment.name, of: node, among: &places, &decoder)
        checkIDs(of: segment.urls, at: node["urls"]?.sequence ?? [], among: &ids, &decoder)
      }
    }
  }

  /// Of one provider an id means one URL.
  private static func checkIDs(
    of entries: [InlineEntry],
    at nodes: [Node],
    among ids: inout [[String]: (url: WebURL, node: Node)],
    _ decoder: inout NodeDecoder
  ) {
    for (entry, node) in zip(entries, nodes) {
      guard case .item(let item) = entry, let id = item.id, let url = item.url else { continue }
      let key = [item.provider ?? "", id]
      guard let known = ids[key] else {
        ids[key] = (url, node)
        continue
      }
      guard known.url != url else { continue }
      let origin = ValueOrigin(source: known.node.source, location: known.node.location)
      decoder.report(
        "config.duplicate-id",
        "two URLs have the id `\(id)`\(item.provider.map { " of provider `\($0)`" } ?? "")",
        hint: "the other stands at \(origin)",
        at: node["id"] ?? node
      )
    }
  }

  private static func checkName(
    _ name: String,
    of node: Node,
    among places: inout [String: Node],
    _ decoder: inout NodeDecoder
  ) {
    guard !name.isEmpty else { return }
    let place = node["name"] ?? node
    guard let earlier = places.updateValue(place, forKey: name) else { return }
    let origin = ValueOrigin(source: earlier.source, location: earlier.location)
    decoder.report(
      "config.duplicate-segment",
      "two segments have the name `\(name)`",
      hint: "the other stands at \(origin)",
      at: place
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
