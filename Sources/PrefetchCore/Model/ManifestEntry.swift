/// One item as a manifest or the configuration declares it.
package struct ManifestEntry: Hashable, Sendable {
  package var url: WebURL
  /// Unique per provider; the manifest's own, else made from the URL.
  package var id: String?
  /// Whether the id was made from the URL, and so says nothing that the URL does not.
  package var isIdentifierMade = false
  package var provider: String?
  /// `file` unless said otherwise.
  package var type: String?
  package var caption = ItemCaption()
  /// Bytes after decoding.
  package var size: Int64?
  /// Every one must match; SRI alternatives are one algorithm with several values.
  package var digests: [ExpectedDigest]
  /// A name that the publisher gives to what the content is now; with another one it is another.
  package var revision: String?
  /// The server's exact entity tag, where the publisher knows it.
  package var entityTag: String?
  package var mime: String?
  package var lifetime: Freshness.Lifetime?
  /// Past it the content is not to be kept.
  package var expires: Instant?
  package var priority: Int?
  /// Request headers.
  package var headers: [HeaderField]
  /// The published name.
  package var path: String?
  /// Other places of the same bytes, the best first.
  package var alternates: [WebURL]
  /// When it came out, as the manifest says; `keep` counts from the newest.
  package var published: Instant?
  /// How much of a stream to take, 0 for all; nil for what its segment says.
  package var seconds: Int?
  /// What it asks of the network beyond what its segment does.
  package var network: NetworkPolicy?
  /// Whether its segment is not as declared without it.
  package var isRequired = true
  package var categories: [String] = []
  /// A small picture of it, an item of its own.
  package var thumbnail: Thumbnail?
  /// What runs fetch of it; nil for what its segment says.
  package var behavior: ItemBehavior?
  /// Whether it is the thumbnail of another one.
  package var isThumbnail = false
  /// Name of the ad space whose ad it is; all tags of one space have one ad.
  package var zone: String?

  package init(url: WebURL) {
    self.url = url
    digests = []
    headers = []
    alternates = []
  }
}

/// What runs fetch of an item.
package enum ItemBehavior: String, Hashable, Sendable, CaseIterable {
  case all
  case thumbnails
  /// Only a caller that asks for it by itself gets it.
  case none

  /// Whether runs leave an item alone.
  package func withholds(isThumbnail: Bool) -> Bool {
    switch self {
    case .all: false
    case .thumbnails: !isThumbnail
    case .none: true
    }
  }
}

/// A small picture that belongs to an item.
package struct Thumbnail: Hashable, Sendable {
  package var url: WebURL
  package var size: Int64?
  package var digests: [ExpectedDigest] = []
  package var mime: String?

  package init(url: WebURL) {
    self.url = url
  }
}

/// Texts of a publisher about an item, for people and players.
package struct ItemCaption: Hashable, Sendable {
  /// Longest text of either that is kept, in bytes.
  package static let longest = 64 << 10

  package var title: String?
  /// Data for whoever shows the item, as compact JSON; passed through unread.
  package var info: String?

  package init() {}

  package var isEmpty: Bool { title == nil && info == nil }
}

extension ManifestEntry {
  package var title: String? {
    get { caption.title }
    set { caption.title = newValue }
  }

  package var info: String? {
    get { caption.info }
    set { caption.info = newValue }
  }

  /// URL under which the store knows it: its own, or that of its ad space, whichever tag is asked.
  package var recordURL: String {
    zone.map { AdSpace.recordURL(ofZone: $0) } ?? url.string
  }

  /// Whether a body that turns out to be a playlist or an ad is taken for one: nothing declares its
  /// bytes, nor another kind of content.
  package var isRecognizable: Bool {
    guard digests.isEmpty, !isThumbnail else { return false }
    return type.map { $0 == "video" || $0 == "audio" } ?? true
  }

  /// A number that differs when what it says about the item, besides its content, does.
  package var descriptionHash: UInt64 {
    var hash = Self.descriptionHash(
      id: isIdentifierMade ? nil : id,
      provider: provider,
      type: type,
      expires: expires,
      revision: revision
    )
    // Most have none of these, and are described as they were before there were any.
    if !categories.isEmpty || thumbnail != nil {
      var more = StableHash()
      more.combine(String(hash))
      for category in categories { more.combine(category) }
      more.combine(thumbnail?.url.string)
      hash = more.value
    }
    guard !caption.isEmpty || lifetime != nil else { return hash }
    var more = StableHash()
    more.combine(String(hash))
    more.combine(title)
    more.combine(info)
    // The row keeps how long the item holds, for those who read it without any list.
    switch lifetime {
    case .immutable: more.combine("immutable")
    case .atMost(let limit): more.combine(limit.milliseconds)
    case nil: break
    }
    return more.value
  }

  /// The same with what is declared of its bytes: a change may make good what failed.
  package var declarationHash: UInt64 {
    var hash = StableHash()
    hash.combine(String(descriptionHash))
    hash.combine(size)
    for digest in digests { hash.combine(digest.text) }
    hash.combine(entityTag)
    hash.combine(path)
    return hash.value
  }

  /// Its thumbnail as an item.
  package var thumbnailEntry: ManifestEntry? {
    guard let thumbnail else { return nil }
    var entry = ManifestEntry(url: thumbnail.url)
    entry.type = "image"
    entry.provider = provider
    entry.size = thumbnail.size
    entry.digests = thumbnail.digests
    entry.mime = thumbnail.mime
    entry.expires = expires
    // What is meant for one server is not for another.
    if thumbnail.url.origin == url.origin { entry.headers = headers }
    entry.network = network
    entry.isRequired = isRequired
    entry.categories = categories
    entry.behavior = behavior
    entry.isThumbnail = true
    return entry
  }
}

extension ManifestEntry {
  /// As a thumbnail that another item has as well: for as long, as widely and as urgently as any.
  mutating func share(with other: ManifestEntry, under standard: ItemBehavior) {
    expires = if let expires, let later = other.expires { max(expires, later) } else { nil }
    let order: [ItemBehavior] = [.all, .thumbnails, .none]
    let behaviors = [behavior ?? standard, other.behavior ?? standard]
    behavior = order.first { behaviors.contains($0) }
    isRequired = isRequired || other.isRequired
    categories += other.categories.filter { !categories.contains($0) }
    if network != other.network { network = nil }
    if digests.isEmpty { digests = other.digests }
    size = size ?? other.size
    mime = mime ?? other.mime
  }

  static func descriptionHash(
    id: String?,
    provider: String?,
    type: String?,
    expires: Instant?,
    revision: String? = nil
  ) -> UInt64 {
    var hash = StableHash()
    hash.combine(id)
    hash.combine(provider)
    hash.combine(type)
    hash.combine(expires?.milliseconds)
    // Most have none, and are described as they were before there were any.
    if revision != nil { hash.combine(revision) }
    return hash.value
  }
}

extension ManifestEntry {
  /// The bytes of its `info` and its URLs, which a long base makes much longer than what was written.
  var urlByteCount: Int {
    alternates.reduce(url.string.utf8.count + (info?.utf8.count ?? 0)) {
      $0 + $1.string.utf8.count
    }
  }
}

extension ContentRecord {
  /// Takes over what the entry says about the item; that it has a revision is told only once the
  /// body is of that revision.
  package mutating func describe(_ entry: ManifestEntry) {
    id = entry.id ?? id
    provider = entry.provider
    type = describedType(by: entry)
    caption = entry.caption
    if entry.zone != nil { address = entry.url.string }
    expiresAt = entry.expires
    lifetime = entry.lifetime
    categories = entry.categories
    thumbnail = entry.thumbnail?.url.string
    if entry.revision == nil { description = entry.descriptionHash }
  }

  /// Whether it says of the item what the entry says.
  package func isDescribed(by entry: ManifestEntry) -> Bool {
    (entry.id == nil || entry.id == id) && entry.provider == provider
      && describedType(by: entry) == type && entry.caption == caption
      && entry.expires == expiresAt && entry.lifetime == lifetime
      && entry.categories == categories && entry.thumbnail?.url.string == thumbnail
      && (entry.revision == nil || entry.descriptionHash == description)
  }
}

extension ContentRecord {
  /// Returns the recognized type of an item that is kept in that form, else the declared one.
  private func describedType(by entry: ManifestEntry) -> String? {
    guard let form, !files.isEmpty, entry.isRecognizable else { return entry.type }
    return form.rawValue
  }
}

/// Ad spaces, of which the store keeps one ad each.
package enum AdSpace {
  package static let scheme = "vast:"

  package static func recordURL(ofZone zone: String) -> String { scheme + zone }

  /// The ad space whose ad is stored under a URL; nil for URLs of servers.
  package static func zone(ofRecord url: String) -> String? {
    url.hasPrefix(scheme) ? String(url.dropFirst(scheme.count)) : nil
  }
}

/// An entry that breaks a rule; it fails alone.
package struct RejectedEntry: Error, Hashable, Sendable {
  package var url: String
  package var id: String?
  package var failure: Failure
  package var isRequired: Bool

  package init(url: String, id: String? = nil, failure: Failure, isRequired: Bool = true) {
    self.url = UserInformation.masked(url)
    self.id = id
    self.failure = failure
    self.isRequired = isRequired
  }

  /// Whether the segment is not as declared for it.
  package var counts: Bool {
    isRequired || failure.code.category == .trust
  }
}

/// Whom the items of a manifest come from, and the groups they are in, by their names.
package struct Catalogue: Hashable, Sendable {
  package var sources: [CatalogueName] = []
  package var categories: [CatalogueName] = []
}

/// A source or a category, as a manifest names it.
package struct CatalogueName: Hashable, Sendable {
  package var id: String
  package var name: String?
  /// The category that it is a part of.
  package var parent: String?

  package init(id: String, name: String? = nil, parent: String? = nil) {
    self.id = id
    self.name = name
    self.parent = parent
  }
}

/// A manifest that was read and found well-formed.
package struct Manifest: Hashable, Sendable {
  package var entries: EntryTable
  package var rejected: [RejectedEntry]
  package var generated: Instant?
  package var expires: Instant?
  package var bundleID: String?
  package var segment: String?
  package var priority: Int?
  /// What its publisher asks of the network.
  package var network: NetworkPolicy?
  package var maximumFileSize: Int64?
  /// Further documents that belong to it; without them it is not whole.
  package var parts: [ManifestPart]
  /// Servers that have the same paths below the folder of the base, the best first.
  package var alternates: [WebURL]
  /// What relative references of its items mean, where it says so itself.
  package var base: WebURL?
  package var warnings: [Diagnostic]
  /// Who its items come from, and the groups they are in.
  package var catalogue = Catalogue()
  /// Whether a page of a package index lacks files that a requirement names by their digests.
  package var lacksFiles = false
  package var document = DocumentFacts()

  package init(entries: EntryTable = EntryTable()) {
    self.entries = entries
    rejected = []
    parts = []
    alternates = []
    warnings = []
  }

  /// Everything it lists, what it repeats included.
  package var itemCount: Int {
    entries.count + entries.duplicateCount + rejected.count
  }
}

/// The bytes that a manifest was read from.
package struct DocumentFacts: Hashable, Sendable {
  /// Length of the document, packed where it is packed.
  package var bytes: Int64 = 0
  /// SHA-256 of a local file, by which a later reader knows that the file has changed.
  package var fileDigest: ContentDigest?
}
