package import PrefetchCore
import PrefetchDocuments

package struct Segment: Sendable {
  package var declaration = SegmentDeclaration(name: "", source: .inline([]))
  /// Manifest, from the key or from the `manifests` template; nil when `urls` has the items.
  package var manifest: ManifestLocation?
  package var urls: [InlineEntry] = []
  package var isInitial = false
  package var network: NetworkRules?
  package var behavior: ItemBehavior?
  /// Keys that must sign the manifest; nil for those of the configuration.
  package var manifestKeys: [String]?
  package var adSpace: String?
  /// Base of the API that a short address of releases means instead of the forge's own.
  package var api: WebURL?
  /// Hub that a short address `hf:…` means, by `hf.endpoint` or `HF_ENDPOINT`.
  package var hubEndpoint: WebURL?

  package var name: String { declaration.name }

  /// Whether `select` passes over versions that are too young.
  package var selectsByAge: Bool { declaration.selectsByAge }

  package init() {}

  /// Address of a remote manifest; nil for a local one and for inline items.
  package var manifestURL: WebURL? {
    switch manifest {
    case .remote(let url): url
    case .short(let address): self.url(of: address)
    case .local, nil: nil
    }
  }

  package func url(of address: ShortAddress) -> WebURL {
    address.url(base: address.service == .hf ? hubEndpoint : api)
  }
}

extension Segment {
  static let table = ObjectType(Self(), name: "segment", shorthand: "name") {
    Field("name", \.declaration.name, .name)
      .help("Name of the segment in subscriptions and reports")
    Field("manifest", \.manifest, .manifestLocation).help(
      "Location of the list of its items, or a short address such as `github:OWNER/REPO`"
    )
    baseField
    Field(
      "urls",
      shape: .list(.object(InlineItem.table.shape)),
      decode: decodeItems,
      encode: { segment in
        let isRemote = segment.manifest != nil && segment.urls.isEmpty
        return isRemote ? .null : .array(segment.urls.map(ValueType.inlineEntry.encode))
      }
    )
    .help("Its items, instead of a manifest")
    sharedFields
  }
  .requiring("name", code: "config.missing-name", hint: "add `name:` with a name of its own") {
    "`\($0.path)` has no `name`"
  }
  .checking(check)

  static let defaultsTable = ObjectType(Self(), name: "segment_defaults") {
    baseField
    sharedFields
  }

  /// The base is read before the items, which may be relative to it.
  private static var baseField: Field<Segment> {
    Field("base", \.declaration.base, .url)
      .help("Base URL of its relative URLs")
  }

  @FieldBuilder<Segment> private static var sharedFields: [Field<Segment>] {
    generalFields
    ruleFields
    mediaFields
    formatFields
  }

  @FieldBuilder<Segment> private static var generalFields: [Field<Segment>] {
    Field("required", \.declaration.isRequired, .boolean)
      .help("Whether its failures count for the exit status")
    Field("format", \.declaration.manifestRules.format, .choice())
      .help("Format of the manifest, if detection fails")
    Field(
      "headers",
      shape: ValueType<[HeaderField]>.headers.shape,
      decode: decodeHeaders,
      encode: { ValueType<[HeaderField]>.headers.encode($0.declaration.headers) }
    )
    .help("Headers for the server of its manifest; other hosts need `transport.rules`").secret
    Field("priority", \.declaration.priority, .integer(1...100))
      .help("Rank among the segments: 1 is first, no value last")
    Field("initial", \.isInitial, .boolean)
      .help("Whether the first run of a license subscribes to it")
    Field("alternates", \.declaration.alternates, .list(of: .url))
      .help("Further servers that have the same paths")
    Field("include", \.declaration.manifestRules.included, .list(of: .text.nonEmpty))
      .help("Patterns of the items to take")
    Field("exclude", \.declaration.manifestRules.excluded, .list(of: .text.nonEmpty))
      .help("Patterns of the items to leave out")
    Field("omit", \.declaration.manifestRules.omitted, .list(of: .dependencyKind))
      .help("Kinds of dependencies to leave out")
    Field("platform", \.declaration.manifestRules.platforms, .oneOrMore(.text.nonEmpty))
      .help("Platforms whose packages to take")
    Field("strict", \.declaration.manifestRules.isStrict, .boolean)
      .help("Whether an unreadable entry of a list is a failure, not a warning")
    Field("select", \.declaration.manifestRules.versions, VersionRules.table)
      .help("Selection of the newest versions by their names")
    Field("keep", \.declaration.manifestRules.kept, .integer(1...1_000_000))
      .help("Number of the newest items to keep")
    Field("min_age", \.declaration.age.minimum, .duration)
      .help("Age that a new body must have before it is taken")
    Field("min_age_except", \.declaration.age.exceptions, .list(of: .text.nonEmpty))
      .help("Patterns of items that are taken at any age")
    Field("age_from", \.declaration.age.basis, .choice())
      .help("What an age counts from: the date in the list, or the run that first saw the body")
    Field("publish", \.declaration.publishing, PublishingRules.table)
      .help("Folder in which its items appear under their names")
  }

  @FieldBuilder<Segment> private static var ruleFields: [Field<Segment>] {
    Field("store", \.declaration.isStored, .boolean)
      .help("Whether bodies are kept, or only fetched to warm another cache")
    Field("head", \.declaration.requestsHeadOnly, .boolean)
      .help("Whether to request headers only, and keep nothing")
    Field("ttl", \.declaration.lifetime, .bound)
      .help("Lifetime of answers that state none, and upper bound for the others")
    Field("max_stale", \.declaration.maximumStale, .duration)
      .help("How long a stale copy serves if its server does not answer")
    Field("max_file_size", \.declaration.maximumFileSize, .sizeLimit)
      .help("Largest body that is kept")
    Field("require_digest", \.declaration.requiresDigest, .boolean)
      .help("Whether items without a trustworthy digest are refused")
    Field("expect", \.declaration.expectation, ContentExpectation.table)
      .help("Checks of the bodies")
    Field("allow_empty", \.declaration.allowsEmpty, .boolean)
      .help("Whether an empty manifest is accepted")
    Field("fail_on_empty", \.declaration.failsOnEmpty, .boolean)
      .help("Whether an empty manifest, or an ad server without an ad, is a failure")
    Field("on_gone", \.declaration.onGone, .choice())
      .help("What to do with an item after a 404 or 410")
    Field("honor_no_store", \.declaration.honorsNoStore, .boolean)
      .help("Whether answers with `no-store` are not kept")
    Field("network", \.network, NetworkRules.table).help("Further conditions of the network")
    Field("rate", \.declaration.rate, .rateLimit).help("Most bytes a second of its transfers")
    Field("behavior", \.behavior, .choice())
      .help("What runs fetch of its items, instead of `download.behavior`")
    Field("cross_host", \.declaration.manifestRules.mayCrossHosts, .boolean)
      .help("Whether its manifest may name other hosts")
    Field("trust_lastmod", \.declaration.manifestRules.trustsModificationTimes, .boolean)
      .help(
        "Whether its times are trusted: an item that did not change since the last check is not requested"
      )
    Field("manifest_keys", \.manifestKeys, .list(of: .publicKey))
      .help("Public keys; one of them must have signed the manifest")
  }

  @FieldBuilder<Segment> private static var mediaFields: [Field<Segment>] {
    Field(
      "variant",
      \.declaration.bundleRules.quality,
      .words(("auto", nil), ("low", .low), ("medium", .medium), ("high", .high))
    )
    .help("Quality of streams that have several; `auto` uses the measured speed of the host")
    Field("max_bitrate", \.declaration.bundleRules.maximumBitrate, .bitRate)
      .help("Highest bit rate of a stream")
    Field("max_height", \.declaration.bundleRules.maximumHeight, .integer(1...100_000))
      .help("Greatest picture height of a stream")
    Field("codecs", \.declaration.bundleRules.codecs, .list(of: .text.nonEmpty))
      .help("Codecs that the player supports")
    Field("languages", \.declaration.bundleRules.languages, .list(of: .text.nonEmpty))
      .help("Languages of sound and subtitles")
    Field("seconds", \.declaration.bundleRules.seconds, .integer(0...32767))
      .help("Seconds to fetch of HLS items, 0 for all")
    Field(
      "live",
      \.declaration.bundleRules.acceptsLive,
      .words(("refuse", false), ("snapshot", true))
    )
    .help("What to do with live playlists")
    Field("keys", \.declaration.bundleRules.storesKeys, .words(("store", true), ("skip", false)))
      .help("Whether keys of encrypted media are kept")
    Field("key_ignore", \.declaration.bundleRules.ignoredParameters, .list(of: .text.nonEmpty))
      .help("URL parameters that do not distinguish pieces")
    Field("keep_partial", \.declaration.bundleRules.keepsPartial, .boolean)
      .help("Whether the beginning of an incomplete stream is shown, as `partial`")
  }

  @FieldBuilder<Segment> private static var formatFields: [Field<Segment>] {
    Field("api", \.api, .url)
      .help("Base of the API that short addresses of releases mean, instead of the forge's own")
    Field("json", \.declaration.manifestRules.pointers, ManifestRules.Pointers.table)
      .help("Pointers into a JSON manifest of another format")
    Field("hf", \.self, hubTable).help("Settings of repositories of models and data sets")
    Field("npm", \.declaration.manifestRules, ManifestRules.npm)
      .help("Settings of the lock files of npm, Yarn and pnpm")
    Field("pip", \.declaration.manifestRules, ManifestRules.pip)
      .help("Settings of Python lock files")
    Field("go", \.declaration.manifestRules, ManifestRules.go).help("Settings of go.sum files")
    Field("cargo", \.declaration.manifestRules, ManifestRules.cargo)
      .help("Settings of Cargo.lock files")
    Field("vast", \.self, adTable).help("Settings of ad tags")
  }

  private static let decodeItems: @Sendable (Node, inout Self, inout NodeDecoder) -> Void = {
    node,
    segment,
    decoder in
    decoder.baseURL = segment.declaration.base
    segment.urls = ValueType<[InlineEntry]>.list(of: .inlineEntry).decode(node, &decoder) ?? []
    decoder.baseURL = nil
  }

  private static let decodeHeaders: @Sendable (Node, inout Self, inout NodeDecoder) -> Void = {
    node,
    segment,
    decoder in
    guard let own = ValueType<[HeaderField]>.headers.decode(node, &decoder) else { return }
    let names = Set(own.map { $0.name.lowercased() })
    let others = segment.declaration.headers.filter { !names.contains($0.name.lowercased()) }
    segment.declaration.headers = (others + own).sorted { $0.name < $1.name }
  }

  private static let check: @Sendable (inout Self, ObjectFacts, inout NodeDecoder) -> Void = {
    segment,
    facts,
    decoder in
    if facts.has("manifest"), facts.has("urls") {
      decoder.report(
        "config.conflict",
        "a segment has either a `manifest` or `urls`, not both",
        hint: "make two segments of it",
        at: facts.keyNode(of: "urls")
      )
    }
    if case .short(let address)? = segment.manifest, facts.has("format"),
      let format = segment.declaration.manifestRules.format, format != address.format
    {
      decoder.report(
        "config.conflict",
        "`\(address.text)` is a list of the format `\(address.format.rawValue)`, and `format` says `\(format.rawValue)`",
        hint: "leave `format` out",
        at: facts.keyNode(of: "format")
      )
    }
    let declaration = segment.declaration
    let isStored = declaration.isStored && !declaration.requestsHeadOnly
    let tags =
      segment.urls.count(where: \.isAdTag) + (declaration.manifestRules.format == .vast ? 1 : 0)
    if segment.adSpace != nil, tags > 1 {
      decoder.report(
        "config.conflict",
        "`vast.zone` names one ad space, and the segment has \(tags) ad tags",
        hint: "give `id` to each of its items, or make a segment of each",
        at: facts.keyNode(of: "vast")
      )
    }
    if tags > 0, !isStored {
      decoder.report(
        "config.conflict",
        "an ad must be stored: with `store: false` or `head: true` its server counts it for nothing",
        at: facts.keyNode(of: facts.has("head") ? "head" : "store")
      )
    }
    if declaration.requestsHeadOnly, facts.has("head"), facts.has("store"), declaration.isStored {
      decoder.report(
        "config.conflict",
        "`head: true` brings no body that could be stored",
        hint: "set `store: false`, or leave `store` out",
        at: facts.keyNode(of: "head")
      )
    }
    if facts.has("min_age"), !isStored {
      decoder.report(
        "config.conflict",
        "a segment that stores nothing has no body whose age could count",
        hint: "leave `min_age` out",
        at: facts.keyNode(of: "min_age")
      )
    }
    if facts.has("publish"), !isStored {
      decoder.report(
        "config.conflict",
        "a segment that stores nothing has nothing to `publish`",
        hint: "leave `publish` out, or make two segments of it",
        at: facts.keyNode(of: "publish")
      )
    }
    decoder.warnOfPrivateName(segment.name, at: facts.keyNode(of: "name"))
  }
}

extension ValueType where Value == String {
  fileprivate static var dependencyKind: Self {
    .words(["dev", "optional", "peer"].map { ($0, $0) }, ignoringCase: true)
  }
}
