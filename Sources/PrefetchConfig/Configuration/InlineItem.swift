package import PrefetchCore
import PrefetchDocuments

package struct InlineItem: Sendable {
  /// Another URL of the same bytes.
  package struct Alternate: Hashable, Sendable {
    fileprivate var declared: DeclaredURL?
    fileprivate var priority: Int?

    fileprivate var url: WebURL? { declared?.url }

    static let table = ObjectType(Self(), name: "alternate", shorthand: "url") {
      Field("url", \.declared, .itemURL).help("Another URL of the same bytes")
      Field("priority", \.priority, .integer(1...100)).help("Rank among the alternates, 1 first")
    }
    .requiring("url", code: "config.missing-url") { _ in "the alternate has no `url`" }
  }

  /// A file that belongs to an item: its thumbnail.
  package struct Child: Sendable {
    fileprivate var declared: DeclaredURL?
    private var rest = Thumbnail(url: .unsaid)
    private var integrity: [ExpectedDigest] = []
    private var sha256: ExpectedDigest?

    fileprivate var thumbnail: Thumbnail? {
      guard let declared else { return nil }
      var thumbnail = rest
      thumbnail.url = declared.url
      thumbnail.digests += integrity + [sha256].compactMap(\.self)
      return thumbnail
    }

    static let table = ObjectType(Self(), name: "child", shorthand: "url") {
      Field("url", \.declared, .itemURL).help("URL of the thumbnail")
      Field("size", \.rest.size, .size).help("Bytes of the decoded body")
      Field("mime", \.rest.mime, .mediaType).help("Type the body must have")
      Field("digests", \.rest.digests, .digests).help("Digests the body must have")
      Field("integrity", \.integrity, .integrity)
        .help("Digests, as Subresource Integrity writes them")
      Field("sha256", \.sha256, .digest(.sha256)).help("SHA-256 the body must have")
    }
    .checking { child, facts, decoder in
      let others = child.integrity + [child.sha256].compactMap(\.self)
      InlineItem.addDigests(
        [child.declared],
        into: &child.rest.digests,
        alongside: others,
        facts,
        &decoder
      )
    }
    .requiring("url", code: "config.missing-url") { "`\($0.lastKey)` has no `url`" }
  }

  /// The item as the core knows it, without facts that several keys state together.
  private var entry = ManifestEntry(url: .unsaid)
  /// URL and its digests; nil only in a configuration with errors.
  fileprivate var declared: DeclaredURL?
  private var info: JSONValue?
  private var integrity: [ExpectedDigest] = []
  private var sha256: ExpectedDigest?
  private var sha512: ExpectedDigest?
  package var network: NetworkRules?
  private var alternates: [Alternate] = []
  private var thumbnail: Child?

  init() {}

  package var url: WebURL? { declared?.url }

  /// Declared id with its provider; nil when the id is derived from the URL.
  var name: (provider: String?, id: String)? { entry.id.map { (entry.provider, $0) } }

  package var type: String? { entry.type }

  package var seconds: Int? { entry.seconds }

  package var headers: [HeaderField] { entry.headers }

  package var alternateURLs: [WebURL?] { alternates.map(\.url) }

  var furtherURLs: [WebURL] {
    (alternateURLs + [thumbnail?.thumbnail?.url]).compactMap(\.self)
  }

  package var manifestEntry: ManifestEntry? {
    guard let url else { return nil }
    var entry = entry
    entry.url = url
    entry.digests = expectedDigests
    entry.network = network?.policy
    // A daily budget does not apply to a single item.
    entry.network?.budgets = []
    entry.thumbnail = thumbnail.flatMap(\.thumbnail)
    if let info { entry.info = JSONWriter.string(info, form: .compact) }
    if !alternates.isEmpty {
      entry.alternates = alternates.enumerated()
        .sorted {
          ($0.element.priority ?? .max, $0.offset) < ($1.element.priority ?? .max, $1.offset)
        }
        .compactMap(\.element.url)
    }
    return entry
  }

  private var expectedDigests: [ExpectedDigest] {
    let all = entry.digests + integrity + [sha256, sha512].compactMap(\.self)
    guard all.count > 1 else { return all }
    var seen: Set<ExpectedDigest> = []
    return all.filter { seen.insert($0).inserted }
  }
}

extension InlineItem {
  fileprivate init(_ declared: DeclaredURL) {
    self.init()
    self.declared = declared
    entry.digests = declared.digests
  }

  fileprivate var isAdTag: Bool { entry.type == "vast" }

  static let table = ObjectType(Self(), name: "item", shorthand: "url") {
    Field("url", \.declared, .itemURL)
      .help("URL of the item; `#sha256=…` after it declares a digest of the body")
    Field("id", \.entry.id, .text.nonEmpty)
      .help("Name of the content, unique for its provider; by default made from the URL")
    Field("provider", \.entry.provider, .text.nonEmpty).help("Source that the id belongs to")
    Field("type", \.entry.type, .itemType)
      .help("Kind of content; by default a file, or a stream or ad if the body is one")
    Field("title", \.entry.title, .text).help("Title for people; `list` shows and searches it")
    Field("info", \.info, .anything)
      .help("Data for programs that show the item; `list --json` prints it")
    Field("size", \.entry.size, .size).help("Bytes of the decoded body")
    Field("digests", \.entry.digests, .digests).help("Digests of the body by hash function")
    Field("integrity", \.integrity, .integrity)
      .help("Digests, as Subresource Integrity writes them")
    Field("sha256", \.sha256, .digest(.sha256)).help("SHA-256 the body must have")
    Field("sha512", \.sha512, .digest(.sha512)).help("SHA-512 the body must have")
    Field("mtime", \.entry.published, .date)
      .help("Time of the last change; `keep` and `trust_lastmod` use it")
    Field("etag", \.entry.entityTag, .text.singleLine)
      .help("Entity tag; if it equals the stored one, the item is unchanged")
    Field("mime", \.entry.mime, .mediaType).help("Type the body must have")
    Field("ttl", \.entry.lifetime, .lifetime)
      .help(
        "Lifetime if the answer states none, and upper bound otherwise; or `immutable`"
      )
    Field("expires", \.entry.expires, .date).help("Date on which the content leaves the cache")
    Field("priority", \.entry.priority, .integer(1...100))
      .help("Rank within the segment, 1 first")
    Field("required", \.entry.isRequired, .boolean)
      .help("Whether its failures and deferrals count for the segment and the exit status")
    Field("network", \.network, NetworkRules.table).help("Further conditions of the network")
    Field("alternates", \.alternates, .list(of: .object(Alternate.table)))
      .help("Other URLs of the same bytes")
    Field("categories", \.entry.categories, .list(of: .text)).help("Categories of the item")
    Field("thumbnail", \.thumbnail, Child.table).help("Small picture of the item")
    Field("seconds", \.entry.seconds, .integer(0...32767))
      .help("Seconds to fetch of an HLS item, 0 for all")
    Field("headers", \.entry.headers, .headers).help("Headers of its requests").secret
    Field("path", \.entry.path, .relativePath).help("Name in a published tree")
  }
  .requiring("url", code: "config.missing-url") { _ in "the item has no `url`" }
  .checking(check)

  private static let check: @Sendable (inout Self, ObjectFacts, inout NodeDecoder) -> Void = {
    item,
    facts,
    decoder in
    if item.entry.type == "dash" {
      decoder.descend(.key("type")) { decoder in
        decoder.report(
          "config.unsupported",
          "an item of type `dash` is more than one file, which this version cannot fetch",
          severity: .warning,
          hint: "`type: file` stores this one alone",
          at: facts.keyNode(of: "type")
        )
      }
    }
    for (key, short) in [("sha256", item.sha256), ("sha512", item.sha512)] {
      guard let short,
        item.entry.digests.contains(where: {
          $0.algorithm == short.algorithm && $0.bytes != short.bytes
        })
      else { continue }
      decoder.report(
        "config.conflict",
        "`\(key)` and `digests` name different digests",
        at: facts.keyNode(of: key)
      )
    }
    let others = item.integrity + [item.sha256, item.sha512].compactMap(\.self)
    addDigests(
      [item.declared] + item.alternates.map(\.declared),
      into: &item.entry.digests,
      alongside: others,
      facts,
      &decoder
    )
  }

  private static func addDigests(
    _ urls: [DeclaredURL?],
    into digests: inout [ExpectedDigest],
    alongside others: [ExpectedDigest],
    _ facts: ObjectFacts,
    _ decoder: inout NodeDecoder
  ) {
    for url in urls.compactMap(\.self) where !url.digests.isEmpty {
      let known = digests + others.filter { !digests.contains($0) }
      guard let all = url.digests(combinedWith: known) else {
        decoder.report(
          "config.conflict",
          "the digest after `#` and the digest beside the URL name different bodies",
          at: facts.keyNode(of: "url")
        )
        continue
      }
      digests += all.dropFirst(known.count)
    }
    digests.sort { $0.algorithm < $1.algorithm }
  }
}

/// An element of `urls`; most of the possibly thousands are plain URLs.
package enum InlineEntry: Sendable {
  case url(WebURL)
  indirect case item(InlineItem)

  package var url: WebURL? {
    switch self {
    case .url(let url): url
    case .item(let item): item.url
    }
  }

  package var manifestEntry: ManifestEntry? {
    switch self {
    case .url(let url):
      return ManifestEntry(url: url)
    case .item(let item): return item.manifestEntry
    }
  }

  package var item: InlineItem {
    switch self {
    case .url(let url): InlineItem(DeclaredURL(url))
    case .item(let item): item
    }
  }

  var isAdTag: Bool {
    switch self {
    case .url: false
    case .item(let item): item.isAdTag
    }
  }
}

extension ValueType where Value == InlineEntry {
  static var inlineEntry: Self {
    let whole = ValueType<InlineItem>.object(InlineItem.table)
    let url = ValueType<DeclaredURL>.itemURL
    return Self(
      shape: whole.shape,
      decode: { node, decoder in
        guard node.scalar != nil, !node.isUnset(for: .anything) else {
          return whole.decode(node, &decoder).map { .item($0) }
        }
        var value: DeclaredURL?
        decoder.descend(.key("url")) { decoder in
          decoder.recordOrigin(of: node, shape: url.shape)
          value = url.decode(node, &decoder)
        }
        guard let value else { return .item(InlineItem()) }
        guard !value.digests.isEmpty else { return .url(value.url) }
        return .item(InlineItem(value))
      },
      encode: { whole.encode($0.item) }
    )
  }
}

extension ValueType where Value == String {
  static var itemType: Self {
    let types = ["file", "image", "video", "audio", "hls", "dash", "vast", "page", "data"]
    return .words(types.map { ($0, $0) })
  }

  static var relativePath: Self {
    scalar(
      "a relative path",
      summary: "relative path",
      schema: .text("relative_path", "(?=\(Pattern.relativePath)$|[\\s\\S]*\\$\\{)")
    ) { text throws(ValueComplaint) in
      let parts = PathText.components(of: text)
      guard !PathText.isAbsolute(text) else { throw ValueComplaint("`\(text)` is not relative") }
      guard parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }), !text.contains("\\"),
        !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
      else { throw ValueComplaint("`\(text)` cannot be the name of a published file") }
      return text
    } encode: {
      .string($0)
    }
  }
}

extension ValueType where Value == JSONValue {
  static var anything: Self {
    Self(shape: .anything, decode: { node, _ in value(of: node) }, encode: { $0 })
  }

  private static func value(of node: Node) -> JSONValue {
    switch node.content {
    case .sequence(let nodes):
      return .array(nodes.map(value))
    case .mapping(let entries):
      return .object(entries.map { ($0.key, value(of: $0.value)) }.sorted { $0.0 < $1.0 })
    case .scalar(let scalar):
      switch scalar.kind {
      case .null: return .null
      case .string, .date, .data: return .string(scalar.text)
      // Without a declared type, unquoted text gets the type that JSON would give it.
      case .unquoted, .boolean, .number: return literal(scalar.text)
      }
    }
  }

  private static func literal(_ text: String) -> JSONValue {
    switch text {
    case "true": .bool(true)
    case "false": .bool(false)
    case "null", "~", "": .null
    default: Int64(text).map { .integer($0) } ?? decimal(text) ?? .string(text)
    }
  }

  private static func decimal(_ text: String) -> JSONValue? {
    guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
    return Double(text).map { .double($0) }
  }
}
