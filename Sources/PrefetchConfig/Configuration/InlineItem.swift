package import PrefetchCore
package import PrefetchDocuments

/// An item that the configuration itself names.
package struct InlineItem: Sendable {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case file
    case image
    case video
    case audio
    case hls
    case dash
    case vast
    case page
    case data
  }

  /// How long the item counts as fresh.
  package enum Lifetime: Hashable, Sendable {
    case immutable
    case of(Duration)
  }

  /// Another place of the same bytes.
  package struct Alternate: Hashable, Sendable {
    fileprivate var declared: DeclaredURL?
    package var priority: Int?

    package var url: WebURL? { declared?.url }

    static let table = ObjectType(Self(), name: "alternate", shorthand: "url") {
      Field("url", \.declared, .itemURL, "Where the bytes are as well")
      Field("priority", \.priority, .integer(1...100), "Rank among the alternates, 1 first")
    }
    .checking(requireURL)

    private static let requireURL: @Sendable (inout Self, ObjectFacts, inout NodeDecoder) -> Void =
      {
        _,
        facts,
        decoder in
        guard !facts.has("url") else { return }
        decoder.report("config.missing-url", "the alternate has no `url`", at: facts.node)
      }
  }

  /// A file that belongs to an item: its thumbnail.
  package struct Child: Sendable {
    fileprivate var declared: DeclaredURL?
    package var size: Int64?
    package var mime: String?
    package var digests: [ExpectedDigest] = []
    package var integrity: [ExpectedDigest] = []
    package var sha256: ExpectedDigest?

    package var url: WebURL? { declared?.url }

    static let table = ObjectType(Self(), name: "child", shorthand: "url") {
      Field("url", \.declared, .itemURL, "Where it is")
      Field("size", \.size, .size, "Bytes of the decoded body")
      Field("mime", \.mime, .mediaType, "Type the body must have")
      Field("digests", \.digests, .digests, "Digests the body must have")
      Field("integrity", \.integrity, .integrity, "The same as Subresource Integrity writes it")
      Field("sha256", \.sha256, .digest(.sha256), "SHA-256 the body must have")
    }
    .checking { child, facts, decoder in
      let others = child.integrity + [child.sha256].compactMap(\.self)
      InlineItem.take([child.declared], into: &child.digests, besides: others, facts, &decoder)
      guard !facts.has("url") else { return }
      decoder.report("config.missing-url", "`\(decoder.lastKey)` has no `url`", at: facts.node)
    }
  }

  /// Nil only while the configuration has errors.
  fileprivate var declared: DeclaredURL?
  package var id: String?
  package var provider: String?
  package var type = Kind.file
  package var title: String?
  package var info: JSONValue?
  package var size: Int64?
  package var digests: [ExpectedDigest] = []
  package var integrity: [ExpectedDigest] = []
  package var sha256: ExpectedDigest?
  package var sha512: ExpectedDigest?
  package var modified: Instant?
  package var etag: String?
  package var mime: String?
  package var lifetime: Lifetime?
  package var expires: Instant?
  package var priority: Int?
  package var network: NetworkRules?
  package var alternates: [Alternate] = []
  package var categories: [String] = []
  package var thumbnail: Child?
  package var seconds: Int?
  package var headers: [String: Secret] = [:]
  package var path: String?
  package var isRequired = true

  package var url: WebURL? { declared?.url }

  /// Every digest that the body must have, whichever key named it.
  package var expectedDigests: [ExpectedDigest] {
    let all = digests + integrity + [sha256, sha512].compactMap(\.self)
    guard all.count > 1 else { return all }
    var seen: Set<ExpectedDigest> = []
    return all.filter { seen.insert($0).inserted }
  }
}

extension InlineItem {
  fileprivate init(at url: WebURL) {
    declared = DeclaredURL(url)
  }

  static let table = ObjectType(Self(), name: "item", shorthand: "url") {
    Field(
      "url",
      \.declared,
      .itemURL,
      "Where the item is; `#sha256=…` behind it is a digest its body must have"
    )
    Field(
      "id",
      \.id,
      .text.nonEmpty,
      "Name of the content, unique per provider; else the URL stands for it"
    )
    Field("provider", \.provider, .text.nonEmpty, "Source the id belongs to")
    Field(
      "type",
      \.type,
      .choice(),
      "Kind of content"
    )
    Field("title", \.title, .text, "For people")
    Field("info", \.info, .anything, "Passed through unread")
    Field("size", \.size, .size, "Bytes of the decoded body")
    Field("digests", \.digests, .digests, "Digests the body must have, by function")
    Field("integrity", \.integrity, .integrity, "The same as Subresource Integrity writes it")
    Field("sha256", \.sha256, .digest(.sha256), "SHA-256 the body must have")
    Field("sha512", \.sha512, .digest(.sha512), "SHA-512 the body must have")
    Field(
      "mtime",
      \.modified,
      .date,
      "When it was changed last, by which `keep` and `trust_lastmod` go"
    )
    Field("etag", \.etag, .text.singleLine, "Validator; the same as the stored one means unchanged")
    Field("mime", \.mime, .mediaType, "Type the body must have")
    Field(
      "ttl",
      \.lifetime,
      .lifetime,
      "How long it counts as fresh where its answer does not say, a bound where it does; or `immutable`"
    )
    Field("expires", \.expires, .date, "When the content is over and leaves the cache")
    Field("priority", \.priority, .integer(1...100), "Rank within the segment, 1 first")
    Field(
      "required",
      \.isRequired,
      .boolean,
      "Whether its failures and deferrals count for its segment and the exit status"
    )
    Field("network", \.network, NetworkRules.table, "Further conditions of the network")
    Field(
      "alternates",
      \.alternates,
      .list(of: .object(Alternate.table)),
      "Other places of the same bytes"
    )
    Field("categories", \.categories, .list(of: .text), "Categories it belongs to")
    Field("thumbnail", \.thumbnail, Child.table, "A small picture of it")
    Field("seconds", \.seconds, .integer(0...32767), "Length to fetch of an HLS item, 0 for all")
    Field("headers", \.headers, .headers, "Headers of its requests").secret
    Field("path", \.path, .relativePath, "Name in a published tree")
  }
  .checking(check)

  private static let check: @Sendable (inout Self, ObjectFacts, inout NodeDecoder) -> Void = {
    item,
    facts,
    decoder in
    if !facts.has("url") {
      decoder.report("config.missing-url", "the item has no `url`", at: facts.node)
    }
    if item.type == .dash {
      decoder.descend(.key("type")) { decoder in
        decoder.report(
          "config.unsupported",
          "an item of type `dash` is more than one file, which this version cannot fetch",
          severity: .warning,
          hint: "`type: file` stores this one alone",
          at: facts.place(of: "type")
        )
      }
    }
    for (key, short) in [("sha256", item.sha256), ("sha512", item.sha512)] {
      guard let short,
        item.digests.contains(where: { $0.algorithm == short.algorithm && $0.bytes != short.bytes })
      else { continue }
      decoder.report(
        "config.conflict",
        "`\(key)` and `digests` name different digests",
        at: facts.place(of: key)
      )
    }
    let others = item.integrity + [item.sha256, item.sha512].compactMap(\.self)
    take(
      [item.declared] + item.alternates.map(\.declared),
      into: &item.digests,
      besides: others,
      facts,
      &decoder
    )
  }

  /// What stands behind the `#` of URLs becomes digests like the others.
  private static func take(
    _ urls: [DeclaredURL?],
    into digests: inout [ExpectedDigest],
    besides others: [ExpectedDigest],
    _ facts: ObjectFacts,
    _ decoder: inout NodeDecoder
  ) {
    for url in urls.compactMap(\.self) where !url.digests.isEmpty {
      let known = digests + others.filter { !digests.contains($0) }
      guard let all = url.digests(beside: known) else {
        decoder.report(
          "config.conflict",
          "the digest behind `#` and what stands beside the URL name different bodies",
          at: facts.place(of: "url")
        )
        continue
      }
      digests += all.dropFirst(known.count)
    }
    digests.sort { $0.algorithm < $1.algorithm }
  }
}

/// One entry of `urls`: most are a URL and nothing else, and there may be thousands of them.
package enum InlineEntry: Sendable {
  case url(WebURL)
  indirect case item(InlineItem)

  package var url: WebURL? {
    switch self {
    case .url(let url): url
    case .item(let item): item.url
    }
  }

  package var item: InlineItem {
    switch self {
    case .url(let url): InlineItem(at: url)
    case .item(let item): item
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
          decoder.noteOrigin(of: node, shape: url.shape)
          value = url.decode(node, &decoder)
        }
        guard let value else { return .item(InlineItem()) }
        guard !value.digests.isEmpty else { return .url(value.url) }
        var item = InlineItem(at: value.url)
        item.digests = value.digests
        return .item(item)
      },
      encode: { whole.encode($0.item) }
    )
  }
}

extension ValueType where Value == InlineItem.Lifetime {
  static var lifetime: Self {
    scalar("a duration or `immutable`", summary: "duration|immutable") {
      text throws(ValueComplaint) in
      text == "immutable" ? .immutable : .of(try Units.duration(text))
    } encode: { lifetime in
      switch lifetime {
      case .immutable: .string("immutable")
      case .of(let duration): .decimal(thousandths: duration.milliseconds)
      }
    }
  }
}

extension ValueType where Value == String {
  /// A path below a folder that it cannot leave.
  static var relativePath: Self {
    scalar("a relative path", summary: "relative path") { text throws(ValueComplaint) in
      let parts = PathText.parts(of: text)
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
  /// Any tree, its scalars as the syntax sees them.
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
      // Nothing says what is meant here, so what JSON would write without quotes is taken as that.
      case .plain, .boolean, .number: return literal(scalar.text)
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
