internal import PrefetchCore
internal import PrefetchCrypto
internal import PrefetchDocuments

struct NativeItemReader {
  let base: WebURL?
  var identifiers = IdentifierSet()
  var itemOffset = 0
  private var position: TextPosition
  private var networkRules: Set<NetworkPolicy> = []
  /// Limit of different network rules, since each is judged separately.
  static let maximumNetworkRules = 100

  init(base: WebURL?, position: TextPosition = TextPosition()) {
    self.base = base
    self.position = position
  }

  mutating func entry(_ node: Node) throws(RejectedEntry) -> ManifestEntry {
    guard let text = node["url"]?.text ?? node.text else {
      let failure = invalid("`url` is missing", at: node)
      throw rejected("", id: node["id"]?.text, failure, of: node)
    }
    let id = node["id"]?.text
    do {
      let declared = try url(text, at: node["url"] ?? node)
      var entry = ManifestEntry(url: declared.url)
      entry.id = id ?? ItemIdentifier.make(for: entry.url)
      entry.isIdentifierMade = id == nil
      entry.provider = node["provider"]?.text
      try checkIdentifier(entry, at: node)
      entry.type = node["type"]?.text
      entry.title = node["title"]?.text.flatMap(Self.kept)
      entry.info = node.member("info").flatMap {
        Self.kept(JSONWriter.string(JSONValue($0), form: .compact))
      }
      entry.size = try size(node)
      entry.digests = try digests(node, of: declared)
      entry.entityTag = node["etag"]?.text
      entry.mime = node["mime"]?.text
      entry.lifetime = try lifetime(node)
      entry.expires = try time(node, "expires")
      entry.priority = try priority(node)
      entry.headers = try headers(node)
      entry.path = try path(node)
      entry.published = try time(node, "mtime")
      let alternates = try alternates(of: node, without: entry.url)
      entry.alternates = alternates.map(\.url)
      for alternate in alternates {
        entry.digests = try EntryCollector.digests(entry.digests, with: alternate)
      }
      entry.network = try networkRules(of: node)
      entry.isRequired = try required(node)
      entry.categories = try categories(node)
      entry.thumbnail = try thumbnail(node)
      entry.behavior = try behavior(node)
      entry.seconds = try seconds(node)
      return entry
    } catch {
      // The rejection names the resolved URL when it can be resolved.
      let meant = try? DeclaredURL.item(text, base: base).url
      throw rejected(meant?.string ?? text, id: id, error, of: node)
    }
  }

  /// Returns the rejection of an item; that of an optional item counts as little as its absence.
  private func rejected(
    _ url: String,
    id: String?,
    _ failure: Failure,
    of node: Node
  ) -> RejectedEntry {
    let isRequired = node["required"]?.scalar != Scalar("false", kind: .boolean)
    return RejectedEntry(url: url, id: id, failure: failure, isRequired: isRequired)
  }

  private mutating func required(_ node: Node) throws(Failure) -> Bool {
    guard let value = node.member("required") else { return true }
    switch value.scalar {
    case Scalar("true", kind: .boolean): return true
    case Scalar("false", kind: .boolean): return false
    default: throw invalid("`required` must be true or false", at: value)
    }
  }

  private mutating func categories(_ node: Node) throws(Failure) -> [String] {
    guard let value = node.member("categories") else { return [] }
    let names = value.sequence?.map { $0.text ?? "" } ?? []
    guard value.sequence != nil, names.count <= Self.mostCategories, names.allSatisfy(Self.isName)
    else {
      throw invalid(
        "`categories` must be a list of \(Self.mostCategories) names at most, each of 1 to 256 bytes"
          + " and without control characters",
        at: value
      )
    }
    var seen: Set<String> = []
    return names.filter { seen.insert($0).inserted }
  }

  private static let mostCategories = 64

  private static func kept(_ text: String) -> String? {
    text.utf8.count <= ItemCaption.longest ? text : nil
  }

  static func isName(_ text: String) -> Bool {
    (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }

  private mutating func thumbnail(_ node: Node) throws(Failure) -> Thumbnail? {
    guard let value = node.member("thumbnail") else { return nil }
    guard let text = value["url"]?.text ?? value.text, !text.isEmpty else {
      throw invalid("`thumbnail` must be a URL, or an object with a `url`", at: value)
    }
    let declared: DeclaredURL
    do throws(Failure) {
      declared = try url(text, at: value["url"] ?? value)
    } catch {
      throw Failure(error.code, "its `thumbnail`: \(error.message)")
    }
    var thumbnail = Thumbnail(url: declared.url)
    thumbnail.digests = declared.digests
    guard value.mapping != nil else { return thumbnail }
    thumbnail.size = try size(value)
    thumbnail.digests = try digests(value, of: declared)
    thumbnail.mime = value["mime"]?.text
    return thumbnail
  }

  private mutating func seconds(_ node: Node) throws(Failure) -> Int? {
    guard let value = node.member("seconds") else { return nil }
    guard let seconds = value.integer, (0...32_767).contains(seconds) else {
      throw invalid("`seconds` must be in 0–32767", at: value)
    }
    return Int(seconds)
  }

  private mutating func behavior(_ node: Node) throws(Failure) -> ItemBehavior? {
    guard let value = node.member("behavior") else { return nil }
    guard let behavior = value.text.flatMap({ ItemBehavior(rawValue: $0) }) else {
      throw invalid("`behavior` must be `all`, `thumbnails` or `none`", at: value)
    }
    return behavior
  }

  /// Reads names, or objects with `id` and optionally `name` and `parent`.
  mutating func catalogue(_ root: Node, _ key: String) throws(Failure) -> [CatalogueName] {
    guard let value = root.member(key) else { return [] }
    guard let nodes = value.sequence, nodes.count <= Self.longestCatalogue else {
      let most = Self.longestCatalogue
      throw invalid("`\(key)` must be a list, of \(most) names at most", at: value)
    }
    var names: [CatalogueName] = []
    for node in nodes {
      guard let id = node["id"]?.text ?? node.text, Self.isName(id) else {
        throw invalid(
          "each of `\(key)` must have an `id` of 1 to 256 bytes without control characters",
          at: node
        )
      }
      names.append(
        CatalogueName(id: id, name: node["name"]?.text, parent: node["parent"]?.text)
      )
    }
    return names
  }

  private static let longestCatalogue = 10_000

  private mutating func url(_ text: String, at node: Node) throws(Failure) -> DeclaredURL {
    do throws(Failure) {
      return try .item(text, base: base)
    } catch {
      throw Failure(error.code, invalid(error.message, at: node).message)
    }
  }

  private mutating func checkIdentifier(_ entry: ManifestEntry, at node: Node) throws(Failure) {
    guard node.member("id") != nil, let id = entry.id else { return }
    guard !id.isEmpty else { throw invalid("`id` is empty", at: node["id"] ?? node) }
    guard identifiers.insert(id, of: entry.provider) else {
      throw invalid("`id` `\(id)` is used twice", at: node["id"] ?? node)
    }
  }

  private mutating func size(_ node: Node) throws(Failure) -> Int64? {
    guard let value = node.member("size") else { return nil }
    guard let size = value.integer, size >= 0 else {
      throw invalid("`size` must be a number of bytes", at: value)
    }
    return size
  }

  private mutating func digests(
    _ node: Node,
    of url: DeclaredURL
  ) throws(Failure) -> [ExpectedDigest] {
    try EntryCollector.digests(digests(node), with: url)
  }

  private mutating func digests(_ node: Node) throws(Failure) -> [ExpectedDigest] {
    var digests: [ExpectedDigest] = []
    for entry in try mapping(node, "digests") {
      // A digest of an unknown algorithm proves nothing either way.
      guard let algorithm = DigestText.algorithm(entry.key)
      else { continue }
      guard let text = entry.value.text, let digest = DigestText.decode(text, algorithm: algorithm)
      else {
        throw invalid(
          "`digests.\(entry.key)` is not a \(algorithm.rawValue) in hexadecimal or base64",
          at: entry.value
        )
      }
      digests.append(digest)
    }
    if let integrity = node.member("integrity") {
      let parsed = integrity.text.flatMap { try? Integrity.expectedDigests(in: $0) }
      guard let parsed else {
        throw invalid("`integrity` holds no digest that is known", at: integrity)
      }
      digests += parsed
    }
    return digests
  }

  /// Returns a mapping's entries; throws for other values but null, to heed the publisher's intent.
  private mutating func mapping(
    _ node: Node,
    _ key: String
  ) throws(Failure) -> [Node.Entry] {
    guard let value = node.member(key) else { return [] }
    guard let entries = value.mapping else {
      throw invalid("`\(key)` must be a mapping, not \(value.kindName)", at: value)
    }
    return entries
  }

  private mutating func lifetime(_ node: Node) throws(Failure) -> Freshness.Lifetime? {
    guard let value = node.member("ttl") else { return nil }
    guard let text = value.text, let lifetime = Self.lifetime(text) else {
      throw invalid(
        "`ttl` must be a duration such as `15m`, or `immutable`",
        at: value
      )
    }
    return lifetime
  }

  private static func lifetime(_ text: String) -> Freshness.Lifetime? {
    text == "immutable" ? .immutable : DurationText.parse(text).map { .atMost($0) }
  }

  private mutating func headers(_ node: Node) throws(Failure) -> [HeaderField] {
    var fields: [HeaderField] = []
    for entry in try mapping(node, "headers") {
      guard let value = entry.value.text, RequestHeader.mayComeFromManifest(entry.key),
        RequestHeader.isValue(value)
      else {
        throw invalid(
          "the header `\(entry.key)` may not be set by a manifest",
          at: entry.value
        )
      }
      fields.append(HeaderField(entry.key, value))
    }
    return fields
  }

  private mutating func networkRules(of node: Node) throws(Failure) -> NetworkPolicy? {
    guard let rules = try network(node, "network") else { return nil }
    networkRules.insert(rules)
    guard networkRules.count <= Self.maximumNetworkRules else {
      networkRules.remove(rules)
      throw invalid(
        "`network` has another meaning than in \(Self.maximumNetworkRules) items before",
        at: node["network"] ?? node
      )
    }
    return rules
  }

  mutating func network(_ node: Node, _ key: String) throws(Failure) -> NetworkPolicy? {
    do throws(NativeNetworkRules.Fault) {
      return try NativeNetworkRules.read(node, key)
    } catch {
      throw invalid(error.message, at: error.node)
    }
  }

  mutating func policy(_ node: Node) throws(Failure) -> PublisherPolicy? {
    do throws(NativeNetworkRules.Fault) {
      return try PublisherPolicy.read(node)
    } catch {
      throw invalid(error.message, at: error.node)
    }
  }

  private mutating func path(_ node: Node) throws(Failure) -> String? {
    guard let value = node.member("path") else { return nil }
    let text = value.text ?? ""
    guard PublishedName.isSafe(text) else {
      let objection = PublishedName.objection(to: text)
      throw Failure(objection.code, "its `path`: \(objection.message)")
    }
    return text
  }

  /// Reads alternates: URLs, or objects with `url` and optionally `priority`; 1 comes first.
  private mutating func alternates(
    of node: Node,
    without url: WebURL
  ) throws(Failure) -> [DeclaredURL] {
    var ranked: [(rank: Int, url: DeclaredURL)] = []
    for item in try list(node, "alternates") {
      let rank = try priority(item) ?? .max
      ranked.append((rank, try alternate(item["url"] ?? item)))
    }
    var seen: Set<WebURL> = [url]
    return ranked.enumerated()
      .sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
      .map(\.element.url)
      .filter { seen.insert($0.url).inserted }
  }

  /// Reads the manifest's alternate servers, each of which replaces the base.
  mutating func servers(_ root: Node) throws(Failure) -> [WebURL] {
    var servers: [WebURL] = []
    for item in try list(root, "alternates") { servers.append(try alternate(item).url) }
    return servers
  }

  private mutating func alternate(_ node: Node) throws(Failure) -> DeclaredURL {
    guard let text = node.text else {
      throw invalid("`alternates` must list URLs, not \(node.kindName)", at: node)
    }
    do {
      return try DeclaredURL(text, base: base)
    } catch {
      let message = "an alternate \(error)"
      throw Failure(.badURL, invalid(message, at: node).message)
    }
  }

  private mutating func list(_ node: Node, _ key: String) throws(Failure) -> [Node] {
    guard let value = node.member(key) else { return [] }
    guard let items = value.sequence, items.count <= EntryCollector.maximumAlternates else {
      throw invalid(
        "`\(key)` must be a list of \(EntryCollector.maximumAlternates) at most",
        at: value
      )
    }
    return items
  }

  mutating func priority(_ node: Node) throws(Failure) -> Int? {
    guard let value = node.member("priority") else { return nil }
    guard let priority = value.integer, (1...100).contains(priority) else {
      throw invalid("`priority` must be in 1–100", at: value)
    }
    return Int(priority)
  }

  mutating func time(_ node: Node, _ key: String) throws(Failure) -> Instant? {
    guard let value = node.member(key) else { return nil }
    guard let text = value.text, let instant = Timestamp.parse(text) else {
      throw invalid(
        "`\(key)` must be a time such as `2026-11-20T05:00:00Z`",
        at: value
      )
    }
    return instant
  }

  mutating func invalid(_ message: String, at node: Node) -> Failure {
    invalid(message, at: node.location)
  }

  mutating func invalid(_ message: String, at location: SourceLocation?) -> Failure {
    position.move(to: itemOffset)
    return NativeManifest.invalid(message, at: location.map { position.inWhole($0) })
  }
}

// MARK: - Without a tree

extension NativeItemReader {
  /// Makes an entry from simple tokens; returns nil when the tree reader must read the item.
  func entry(_ fields: NativeItemFields, _ cursor: JSONCursor) -> ManifestEntry? {
    let text: (JSONCursor.Stretch) -> String? = { $0.isAbsent ? nil : cursor.text($0) }
    // A URL's fragment may be a digest, which only the tree reader parses.
    guard let written = text(fields.url), !written.utf8.contains(UInt8(ascii: "#")),
      let url = try? base?.resolving(written) ?? WebURL(written)
    else { return nil }
    var entry = ManifestEntry(url: url)
    entry.id = text(fields.id) ?? ItemIdentifier.make(for: url)
    entry.isIdentifierMade = fields.id.isAbsent
    entry.provider = text(fields.provider)
    entry.type = text(fields.type)
    entry.title = text(fields.title).flatMap(Self.kept)
    entry.size = fields.size < 0 ? nil : fields.size
    entry.entityTag = text(fields.entityTag)
    entry.mime = text(fields.mime)
    entry.priority = fields.priority == 0 ? nil : Int(fields.priority)
    entry.isRequired = fields.isRequired
    guard let digests = digests(fields, text(fields.integrity)) else { return nil }
    entry.digests = digests
    if let text = text(fields.lifetime) {
      guard let lifetime = Self.lifetime(text) else { return nil }
      entry.lifetime = lifetime
    }
    if let text = text(fields.expires) {
      guard let instant = Timestamp.parse(text) else { return nil }
      entry.expires = instant
    }
    if let text = text(fields.path) {
      guard PublishedName.isSafe(text) else { return nil }
      entry.path = text
    }
    guard let published = Self.published(fields, cursor) else { return nil }
    entry.published = published
    return entry
  }

  /// Returns the publication time, an inner nil when absent; an outer nil when malformed.
  static func published(
    _ fields: NativeItemFields,
    _ cursor: JSONCursor
  ) -> Instant?? {
    guard !fields.modified.isAbsent else { return .some(nil) }
    return Timestamp.parse(cursor.text(fields.modified)).map { .some($0) }
  }

  private func digests(
    _ fields: NativeItemFields,
    _ integrity: String?
  ) -> [ExpectedDigest]? {
    // The order of two digests is lost here; only the tree keeps it.
    guard fields.digest == nil || fields.strongDigest == nil else { return nil }
    var digests: [ExpectedDigest] = []
    if let digest = fields.digest {
      digests.append(ExpectedDigest(algorithm: .sha256, bytes: digest.bytes))
    }
    if let digest = fields.strongDigest {
      digests.append(ExpectedDigest(algorithm: .sha512, bytes: digest.bytes))
    }
    guard let integrity else { return digests }
    guard let more = try? Integrity.expectedDigests(in: integrity) else { return nil }
    return digests + more
  }
}
