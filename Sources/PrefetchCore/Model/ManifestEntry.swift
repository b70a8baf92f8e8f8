/// Item as a manifest or the configuration declares it.
package struct ManifestEntry: Hashable, Sendable {
  package var url: WebURL
  /// Id, unique per provider: the manifest's own, else made from the URL.
  package var id: String?
  package var isIdentifierMade = false
  package var provider: String?
  package var type: String?
  package var caption = ItemCaption()
  /// Declared bytes, after decoding.
  package var size: Int64?
  /// Declared digests: each algorithm must match one of its values, several being SRI alternatives.
  package var digests: [ExpectedDigest]
  /// Publisher's name of the present content; another name means other content.
  package var revision: String?
  package var entityTag: String?
  package var mime: String?
  package var lifetime: Freshness.Lifetime?
  package var expires: Instant?
  package var priority: Int?
  package var headers: [HeaderField]
  package var path: String?
  /// Other URLs of the same bytes, best first.
  package var alternates: [WebURL]
  /// Publication time as the manifest declares it; `keep` counts from the newest.
  package var published: Instant?
  /// Seconds of a stream to fetch, 0 for all; nil for the segment's setting.
  package var seconds: Int?
  package var network: NetworkPolicy?
  package var isRequired = true
  package var categories: [String] = []
  package var thumbnail: Thumbnail?
  package var behavior: ItemBehavior?
  package var isThumbnail = false
  /// Ad space of the ad; all tags of one space share one ad.
  package var zone: String?

  package init(url: WebURL) {
    self.url = url
    digests = []
    headers = []
    alternates = []
  }
}

package enum ItemBehavior: String, Hashable, Sendable, CaseIterable {
  case all
  case thumbnails
  /// Fetched only by a caller that asks for the item itself.
  case none

  package func withholds(isThumbnail: Bool) -> Bool {
    switch self {
    case .all: false
    case .thumbnails: !isThumbnail
    case .none: true
    }
  }
}

package struct Thumbnail: Hashable, Sendable {
  package var url: WebURL
  package var size: Int64?
  package var digests: [ExpectedDigest] = []
  package var mime: String?

  package init(url: WebURL) {
    self.url = url
  }
}

package struct ItemCaption: Hashable, Sendable {
  /// Longest title or info that is kept, in bytes.
  package static let longest = 64 << 10

  package var title: String?
  /// Data for players, as compact JSON; passed through unread.
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

  /// URL under which the store records the item: its own, or its ad space's for any tag.
  package var recordURL: String {
    zone.map { AdSpace.recordURL(ofZone: $0) } ?? url.string
  }

  /// Whether a body found to be a playlist or ad is stored so: no digest or other kind is declared.
  package var isRecognizable: Bool {
    guard digests.isEmpty, !isThumbnail else { return false }
    return type.map { $0 == "video" || $0 == "audio" } ?? true
  }

  package var descriptionHash: UInt64 {
    var hash = Self.descriptionHash(
      id: isIdentifierMade ? nil : id,
      provider: provider,
      type: type,
      expires: expires,
      revision: revision
    )
    // Most entries have neither, and keep the hash of earlier versions.
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
    // The row keeps the lifetime for readers that have no list.
    switch lifetime {
    case .immutable: more.combine("immutable")
    case .atMost(let limit): more.combine(limit.milliseconds)
    case nil: break
    }
    return more.value
  }

  /// Hash of the description and the declared bytes; after a change, a failed item may succeed.
  package var declarationHash: UInt64 {
    var hash = StableHash()
    hash.combine(String(descriptionHash))
    hash.combine(size)
    for digest in digests { hash.combine(digest.text) }
    hash.combine(entityTag)
    hash.combine(path)
    return hash.value
  }

  package var thumbnailEntry: ManifestEntry? {
    guard let thumbnail else { return nil }
    var entry = ManifestEntry(url: thumbnail.url)
    entry.type = "image"
    entry.provider = provider
    entry.size = thumbnail.size
    entry.digests = thumbnail.digests
    entry.mime = thumbnail.mime
    entry.expires = expires
    // Headers for one server must not reach another.
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
  /// Merges another item's declaration of the same thumbnail: the longest life, the widest use.
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
    if revision != nil { hash.combine(revision) }
    return hash.value
  }
}

extension ManifestEntry {
  /// Bytes of `info` and the URLs, which a long base makes much longer than the text in the list.
  var urlByteCount: Int {
    alternates.reduce(url.string.utf8.count + (info?.utf8.count ?? 0)) {
      $0 + $1.string.utf8.count
    }
  }
}

extension ContentRecord {
  /// Takes over the entry's facts; the hash of one with a revision waits for that body.
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

  package func isDescribed(by entry: ManifestEntry) -> Bool {
    (entry.id == nil || entry.id == id) && entry.provider == provider
      && describedType(by: entry) == type && entry.caption == caption
      && entry.expires == expiresAt && entry.lifetime == lifetime
      && entry.categories == categories && entry.thumbnail?.url.string == thumbnail
      && (entry.revision == nil || entry.descriptionHash == description)
  }
}

extension ContentRecord {
  private func describedType(by entry: ManifestEntry) -> String? {
    guard let form, !files.isEmpty, entry.isRecognizable else { return entry.type }
    return form.rawValue
  }
}

package enum AdSpace {
  package static let scheme = "vast:"

  package static func recordURL(ofZone zone: String) -> String { scheme + zone }

  package static func zone(ofRecord url: String) -> String? {
    url.hasPrefix(scheme) ? String(url.dropFirst(scheme.count)) : nil
  }
}

/// Entry that breaks a rule; only this entry fails.
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

  package var makesSegmentIncomplete: Bool {
    isRequired || failure.code.category == .trust
  }
}

package struct Catalogue: Hashable, Sendable {
  package var sources: [CatalogueName] = []
  package var categories: [CatalogueName] = []
}

package struct CatalogueName: Hashable, Sendable {
  package var id: String
  package var name: String?
  package var parent: String?

  package init(id: String, name: String? = nil, parent: String? = nil) {
    self.id = id
    self.name = name
    self.parent = parent
  }
}

package struct Manifest: Hashable, Sendable {
  package var entries: EntryTable
  package var rejected: [RejectedEntry]
  package var generated: Instant?
  package var expires: Instant?
  package var bundleID: String?
  package var segment: String?
  package var priority: Int?
  package var network: NetworkPolicy?
  package var maximumFileSize: Int64?
  package var furtherDocuments: [FurtherDocument]
  /// Servers with the same paths below the base's folder, best first.
  package var alternates: [WebURL]
  package var base: WebURL?
  package var warnings: [Diagnostic]
  package var catalogue = Catalogue()
  package var lacksFiles = false
  package var document = DocumentFacts()

  package init(entries: EntryTable = EntryTable()) {
    self.entries = entries
    rejected = []
    furtherDocuments = []
    alternates = []
    warnings = []
  }

  package var itemCount: Int {
    entries.count + entries.duplicateCount + rejected.count
  }
}

package struct DocumentFacts: Hashable, Sendable {
  package var bytes: Int64 = 0
  /// SHA-256 of a local file, by which a later reader notices a change.
  package var fileDigest: ContentDigest?
  /// Whether a registry or forge publishes what it lists, so that its dates are those of releases.
  package var isOfRegistry = false
}
