internal import PrefetchCore
internal import PrefetchDocuments

/// Reads the enclosures of an RSS or Atom feed.
struct Feed: XMLVocabulary {
  private var isAtom = false

  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    try XMLManifest.read(bytes, as: Feed(), collector: EntryCollector(base: source.base))
  }

  private init() {}

  mutating func shape(of root: XMLElement) -> XMLShape? {
    switch root.name {
    case "rss":
      return XMLShape(
        records: [["rss", "channel", "item"]],
        kept: ["title", "enclosure", "guid", "pubDate", "media:thumbnail", "itunes:image"]
      )
    case "feed":
      isAtom = true
      return XMLShape(
        records: [["feed", "entry"]],
        kept: ["title", "link", "id", "published", "updated", "media:thumbnail", "itunes:image"]
      )
    default: return nil
    }
  }

  mutating func fact(_ element: XMLElement) {}

  mutating func add(_ element: XMLElement, to manifest: inout XMLManifest) throws(Failure) {
    let files = isAtom ? enclosures(element) : element.all("enclosure")
    if files.isEmpty {
      manifest.leaveOut(CountedNoun("entry without an enclosure", "entries without an enclosure"))
    }
    var entry = Facts(
      id: identifier(element, &manifest),
      title: element["title"].flatMap { $0.text.isEmpty ? nil : $0.text },
      published: published(element),
      thumbnail: thumbnail(element, manifest.collector)
    )
    for file in files {
      try manifest.count(file)
      add(file, of: entry, to: &manifest)
      entry.id = nil
    }
  }

  private struct Facts {
    var id: String?
    var title: String?
    var published: Instant?
    var thumbnail: Thumbnail?
  }

  /// Returns the entry's thumbnail; a malformed address does not fail the files.
  private func thumbnail(_ element: XMLElement, _ collector: EntryCollector) -> Thumbnail? {
    let addresses = [
      element["media:thumbnail"]?.attribute("url"), element["itunes:image"]?.attribute("href"),
    ]
    for case let address? in addresses where !address.isEmpty {
      if let url = try? collector.url(address) { return Thumbnail(url: url) }
    }
    return nil
  }

  private func enclosures(_ entry: XMLElement) -> [XMLElement] {
    entry.all("link").filter { $0.attribute("rel") == "enclosure" }
  }

  private func add(
    _ file: XMLElement,
    of facts: Facts,
    to manifest: inout XMLManifest
  ) {
    let key = isAtom ? "href" : "url"
    guard let text = file.attribute(key), !text.isEmpty else {
      return manifest.reject("", id: facts.id, .manifestInvalid, "`\(key)` is missing", at: file)
    }
    do throws(EntryCollector.Refusal) {
      let declared = try manifest.collector.declared(text)
      var entry = ManifestEntry(url: declared.url)
      entry.digests = declared.digests
      entry.id = facts.id
      entry.type = file.attribute("type").flatMap { Self.type($0) }
      entry.title = facts.title
      entry.published = facts.published
      entry.thumbnail = facts.thumbnail
      manifest.collector.add(entry)
    } catch {
      manifest.reject(text, id: facts.id, .badURL, error.message, at: file)
    }
  }

  /// Returns the main type to expect; servers disagree too often about subtypes of the same file.
  private static func type(_ mime: String) -> String? {
    let type = String(mime.prefix { $0 != "/" }).lowercased()
    return ["audio", "video", "image"].contains(type) ? type : nil
  }

  /// Returns the entry's own id when it is short, printable and not used before.
  private func identifier(_ element: XMLElement, _ manifest: inout XMLManifest) -> String? {
    guard let id = element[isAtom ? "id" : "guid"]?.text, (1...1024).contains(id.utf8.count),
      id.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }),
      manifest.collector.admits(id: id)
    else { return nil }
    return id
  }

  private func published(_ element: XMLElement) -> Instant? {
    guard isAtom else { return element["pubDate"].flatMap { MailDate.parse($0.text) } }
    return element["published"].flatMap { Timestamp.parse($0.text) }
      ?? element["updated"].flatMap { Timestamp.parse($0.text) }
  }
}
