package import PrefetchCore
import PrefetchDocuments

/// A named set of items that is kept as declared.
package struct Segment: Sendable {
  package enum Gone: String, Hashable, Sendable, CaseIterable {
    case keep
    case remove
  }

  package enum Variant: String, Hashable, Sendable, CaseIterable {
    case auto
    case low
    case medium
    case high
  }

  package enum Live: String, Hashable, Sendable, CaseIterable {
    case refuse
    case snapshot
  }

  package enum Keys: String, Hashable, Sendable, CaseIterable {
    case store
    case skip
  }

  package var name = ""
  package var isRequired = true
  /// Also found by the `manifests` template; nil where `urls` has the items.
  package var manifest: ManifestLocation?
  package var urls: [InlineEntry] = []
  package var format: ManifestFormat?
  package var base: WebURL?
  package var headers: [String: Secret] = [:]
  /// 1…100, 1 first; nil comes last.
  package var priority: Int?
  package var isInitial = false
  package var alternates: [WebURL] = []
  package var include: [String] = []
  package var exclude: [String] = []
  package var omit: [String] = []
  package var platform: [String] = []
  package var keep: Int?
  package var isStored = true
  package var asksHeadOnly = false
  package var timeToLive: Duration?
  package var maximumStale: Duration?
  package var maximumFileSize: ByteLimit?
  package var requiresDigest = false
  package var expect = Expectation()
  package var allowsEmpty = false
  package var failsOnEmpty = false
  package var onGone = Gone.keep
  package var honorsNoStore = false
  package var network: NetworkRules?
  package var rate: RateLimit?
  package var behavior: Download.Behavior?
  package var variant = Variant.auto
  package var maximumBitrate: Int64?
  package var maximumHeight: Int?
  package var codecs: [String] = []
  package var languages: [String] = []
  package var seconds = 0
  package var live = Live.refuse
  package var keys = Keys.store
  package var ignoredParameters: [String] = []
  package var keepsPartial = false
  package var mayCrossHosts = false
  package var trustsModificationTimes = false
  package var manifestKeys: [String]?
  package var publish: Publication?
  package var json = JSONPointers()
  package var npm = RegistryAddress()
  package var pip = RegistryAddress()
  package var go = RegistryAddress()
  package var cargo = CrateAddress()
  package var vast = AdTags()
}

extension Segment {
  static let table = ObjectType(Self(), name: "segment", shorthand: "name") {
    Field("name", \.name, .name, "Name by which it is subscribed to and reported")
    Field("manifest", \.manifest, .manifestLocation, "Where the list of its items is")
    baseField
    Field(
      "urls",
      shape: .list(.object(InlineItem.table.shape)),
      "Its items, where no manifest has them",
      decode: decodeItems,
      encode: { segment in
        let isRemote = segment.manifest != nil && segment.urls.isEmpty
        return isRemote ? .null : .array(segment.urls.map(ValueType.inlineEntry.encode))
      }
    )
    sharedFields
  }
  .checking(check)

  /// What `defaults` may say for all segments.
  static let defaultsTable = ObjectType(Self(), name: "segment_defaults") {
    baseField
    sharedFields
  }

  /// Read before the items, which may be relative to it.
  private static var baseField: Field<Segment> {
    Field("base", \.base, .url, "What relative URLs of its items are relative to")
  }

  @FieldBuilder<Segment> private static var sharedFields: [Field<Segment>] {
    generalFields
    ruleFields
    mediaFields
    formatFields
  }

  @FieldBuilder<Segment> private static var generalFields: [Field<Segment>] {
    Field("required", \.isRequired, .boolean, "Whether its failures count for the exit status")
    Field(
      "format",
      \.format,
      .choice(),
      "Format of the manifest, where sniffing errs"
    )
    Field(
      "headers",
      shape: ValueType<[String: Secret]>.headers.shape,
      "Headers of its requests, besides those of `defaults` with other names",
      decode: decodeHeaders,
      encode: { ValueType<[String: Secret]>.headers.encode($0.headers) }
    ).secret
    Field(
      "priority",
      \.priority,
      .integer(1...100),
      "Rank among the segments, 1 first; unset comes last"
    )
    Field("initial", \.isInitial, .boolean, "Whether it is joined on the first run of a license")
    Field("alternates", \.alternates, .list(of: .url), "Further servers that have the same paths")
    Field("include", \.include, .list(of: .text.nonEmpty), "Patterns of the items to take")
    Field("exclude", \.exclude, .list(of: .text.nonEmpty), "Patterns of the items to leave")
    Field("omit", \.omit, .list(of: .text.nonEmpty), "Kinds of dependencies to leave")
    Field("platform", \.platform, .oneOrMore(.text.nonEmpty), "Platforms whose packages to take")
    Field("keep", \.keep, .integer(1...1_000_000), "How many of the newest items to keep")
    Field(
      "publish",
      \.publish,
      Publication.table,
      "A folder in which its items appear under their names"
    )
  }

  @FieldBuilder<Segment> private static var ruleFields: [Field<Segment>] {
    Field(
      "store",
      \.isStored,
      .boolean,
      "Whether bodies are kept, rather than fetched to warm another cache"
    )
    Field("head", \.asksHeadOnly, .boolean, "Whether to ask for headers only, and keep nothing")
    Field(
      "ttl",
      \.timeToLive,
      .duration,
      "How long answers count as fresh that do not say; a bound for those that do"
    )
    Field(
      "max_stale",
      \.maximumStale,
      .duration,
      "How long a stale copy serves when its server cannot be asked"
    )
    Field("max_file_size", \.maximumFileSize, .sizeLimit, "Largest body that is kept")
    Field(
      "require_digest",
      \.requiresDigest,
      .boolean,
      "Whether items without a trustworthy digest are refused"
    )
    Field("expect", \.expect, Expectation.table, "What bodies must look like")
    Field("allow_empty", \.allowsEmpty, .boolean, "Whether an empty manifest is believed")
    Field(
      "fail_on_empty",
      \.failsOnEmpty,
      .boolean,
      "Whether an empty manifest, or an ad server without an ad, counts as a failure"
    )
    Field(
      "on_gone",
      \.onGone,
      .choice(),
      "What to do with an item that its server has no more"
    )
    Field(
      "honor_no_store",
      \.honorsNoStore,
      .boolean,
      "Whether answers marked `no-store` are not kept"
    )
    Field("network", \.network, NetworkRules.table, "Further conditions of the network")
    Field("rate", \.rate, .rateLimit, "Bytes a second of its transfers")
    Field(
      "behavior",
      \.behavior,
      .choice(),
      "What runs fetch of it, instead of `download.behavior`"
    )
    Field("cross_host", \.mayCrossHosts, .boolean, "Whether its manifest may name other hosts")
    Field(
      "trust_lastmod",
      \.trustsModificationTimes,
      .boolean,
      "Whether its times are believed: what was not changed since it was looked at is not asked for"
    )
    Field(
      "manifest_keys",
      \.manifestKeys,
      .list(of: .publicKey),
      "Keys of which one must have signed the manifest"
    )
  }

  @FieldBuilder<Segment> private static var mediaFields: [Field<Segment>] {
    Field(
      "variant",
      \.variant,
      .choice(),
      "Quality to take of streams that have several; `auto` goes by how long the last one took"
    )
    Field("max_bitrate", \.maximumBitrate, .bitRate, "Highest bit rate to take")
    Field(
      "max_height",
      \.maximumHeight,
      .integer(1...100_000),
      "Greatest height of a picture to take"
    )
    Field("codecs", \.codecs, .list(of: .text.nonEmpty), "Codecs that the player has")
    Field(
      "languages",
      \.languages,
      .list(of: .text.nonEmpty),
      "Languages of sound and subtitles to take"
    )
    Field("seconds", \.seconds, .integer(0...32767), "Length to fetch of HLS items, 0 for all")
    Field("live", \.live, .choice(), "What to do with live playlists")
    Field("keys", \.keys, .choice(), "Whether keys of encrypted media are kept")
    Field(
      "key_ignore",
      \.ignoredParameters,
      .list(of: .text.nonEmpty),
      "URL parameters that do not tell items apart"
    )
    Field(
      "keep_partial",
      \.keepsPartial,
      .boolean,
      "Whether the finished parts of a failed item stay"
    )
  }

  @FieldBuilder<Segment> private static var formatFields: [Field<Segment>] {
    Field("json", \.json, JSONPointers.table, "Where things are in a JSON manifest of another make")
    Field("npm", \.npm, RegistryAddress.npm, "Settings of the lock files of npm, Yarn and pnpm")
    Field("pip", \.pip, RegistryAddress.pip, "Settings of Python lock files")
    Field("go", \.go, RegistryAddress.go, "Settings of go.sum files")
    Field("cargo", \.cargo, CrateAddress.table, "Settings of Cargo.lock files")
    Field("vast", \.vast, AdTags.table, "Settings of ad tags")
  }

  private static let decodeItems: @Sendable (Node, inout Self, inout NodeDecoder) -> Void = {
    node,
    segment,
    decoder in
    decoder.baseURL = segment.base
    segment.urls = ValueType<[InlineEntry]>.list(of: .inlineEntry).decode(node, &decoder) ?? []
    decoder.baseURL = nil
  }

  private static let decodeHeaders: @Sendable (Node, inout Self, inout NodeDecoder) -> Void = {
    node,
    segment,
    decoder in
    guard let own = ValueType<[String: Secret]>.headers.decode(node, &decoder) else { return }
    let names = Set(own.keys.map { $0.lowercased() })
    segment.headers = segment.headers.filter { !names.contains($0.key.lowercased()) }
      .merging(own) { _, own in own }
  }

  private static let check: @Sendable (inout Self, ObjectFacts, inout NodeDecoder) -> Void = {
    segment,
    facts,
    decoder in
    if !facts.has("name") {
      decoder.report(
        "config.missing-name",
        "`\(decoder.path)` has no `name`",
        hint: "add `name:` with a name of its own",
        at: facts.node
      )
    }
    if facts.has("manifest"), facts.has("urls") {
      decoder.report(
        "config.conflict",
        "a segment has either a `manifest` or `urls`, not both",
        hint: "make two segments of it",
        at: facts.place(of: "urls")
      )
    }
    let tags = segment.urls.count { $0.item.type == .vast } + (segment.format == .vast ? 1 : 0)
    if segment.vast.zone != nil, tags > 1 {
      decoder.report(
        "config.conflict",
        "`vast.zone` names one ad space, and the segment has \(tags) ad tags",
        hint: "give `id` to each of its items, or make a segment of each",
        at: facts.place(of: "vast")
      )
    }
    if tags > 0, !segment.isStored || segment.asksHeadOnly {
      decoder.report(
        "config.conflict",
        "an ad is asked for to be kept: `store: false` and `head: true` would be counted for nothing",
        at: facts.place(of: facts.has("head") ? "head" : "store")
      )
    }
    if segment.asksHeadOnly, facts.has("head"), facts.has("store"), segment.isStored {
      decoder.report(
        "config.conflict",
        "`head: true` brings no body that could be stored",
        hint: "set `store: false`, or leave `store` out",
        at: facts.place(of: "head")
      )
    }
    if facts.has("publish"), !segment.isStored || segment.asksHeadOnly {
      decoder.report(
        "config.conflict",
        "a segment that stores nothing has nothing to `publish`",
        hint: "leave `publish` out, or make two segments of it",
        at: facts.place(of: "publish")
      )
    }
    PrivateNames.check(segment.name, at: facts.place(of: "name"), &decoder)
  }
}
