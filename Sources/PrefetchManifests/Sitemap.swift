internal import PrefetchCore
internal import PrefetchDocuments

/// Reads a sitemap: the pages of a site, or an index of sitemaps.
struct Sitemap: XMLVocabulary {
  static let maximumChildren = 1_000
  static let maximumLevel = 2

  private let level: Int
  private let trustsTimes: Bool
  private var isIndex = false
  private var childCount = 0

  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    let staysOnHost = !source.rules.mayCrossHosts
    guard FormatSniffer.isMarkup(bytes) else {
      var source = source
      source.requestedURL = nil
      return try URLList.read(bytes, source: source, staysOnHost: staysOnHost)
    }
    return try XMLManifest.read(
      bytes,
      as: Sitemap(source),
      collector: EntryCollector(base: source.base, staysOnHost: staysOnHost)
    )
  }

  private init(_ source: ManifestSource) {
    level = if case .sitemap(let level) = source.documentRole { level } else { 0 }
    trustsTimes = source.rules.trustsModificationTimes
  }

  mutating func shape(of root: XMLElement) -> XMLShape? {
    switch root.name {
    case "urlset":
      return XMLShape(
        records: [["urlset", "url"], ["urlset", "sitemap"]],
        kept: ["loc", "lastmod", "priority"]
      )
    case "sitemapindex":
      isIndex = true
      return XMLShape(
        records: [["sitemapindex", "sitemap"], ["sitemapindex", "url"]],
        kept: ["loc"]
      )
    default: return nil
    }
  }

  mutating func fact(_ element: XMLElement) {}

  mutating func add(_ element: XMLElement, to manifest: inout XMLManifest) throws(Failure) {
    if isIndex { try checkLevel(element, &manifest) }
    try manifest.count(element)
    guard isIndex == (element.name == "sitemap") else {
      let root = isIndex ? "sitemapindex" : "urlset"
      let message = "`\(element.name)` has no place in a `\(root)`"
      return manifest.reject(element["loc"]?.text ?? "", .manifestInvalid, message, at: element)
    }
    guard let address = element["loc"], !address.text.isEmpty else {
      return manifest.reject("", .manifestInvalid, "`loc` is missing", at: element)
    }
    do throws(EntryCollector.Refusal) {
      let declared = try manifest.collector.declared(address.text)
      if isIndex {
        manifest.furtherDocuments.append(
          FurtherDocument(url: declared.url, kind: .sitemap(level: level + 1))
        )
      } else {
        add(declared, element, to: &manifest)
      }
    } catch {
      let meant = (try? WebURL(address.text))?.string ?? address.text
      manifest.reject(meant, .badURL, error.message, at: address)
    }
  }

  private func add(_ declared: DeclaredURL, _ element: XMLElement, to manifest: inout XMLManifest) {
    var details = EntryTable.Details()
    details.published = element["lastmod"].flatMap { time($0.text) }
    let priority = element["priority"].flatMap { Self.priority($0.text) }
    guard priority != nil || !declared.digests.isEmpty else {
      return manifest.collector.add(declared.url, details)
    }
    var entry = ManifestEntry(url: declared.url)
    entry.digests = declared.digests
    entry.published = details.published
    entry.priority = priority
    manifest.collector.add(entry)
  }

  /// Parses `lastmod`; a trusted date counts as the day's end, and a month or year as no time.
  private func time(_ text: String) -> Instant? {
    guard trustsTimes, text.utf8.count <= 10 else { return WebDate.parse(text) }
    return text.utf8.count == 10 ? WebDate.parse(text).map { $0 + .seconds(86_399) } : nil
  }

  /// Converts a priority from 1.0 (first) to 0.0 into a rank from 1; nil when malformed.
  static func priority(_ text: String) -> Int? {
    guard text.utf8.count <= 20, text.utf8.allSatisfy({ ASCII.isDigit($0) || $0 == 0x2E }),
      let value = Double(text), (0...1).contains(value)
    else { return nil }
    return 1 + Int(((1 - value) * 99).rounded())
  }

  private mutating func checkLevel(
    _ element: XMLElement,
    _ manifest: inout XMLManifest
  ) throws(Failure) {
    guard level < Self.maximumLevel else {
      throw manifest.failure(
        "it is an index of sitemaps below \(Self.maximumLevel) others, and deeper ones are not followed",
        at: element.byte
      )
    }
    childCount += 1
    guard childCount <= Self.maximumChildren else {
      throw manifest.failure(
        "it lists more than \(Self.maximumChildren) sitemaps, which is as many as are read",
        at: element.byte
      )
    }
  }
}

extension XMLManifest {
  /// Counts an item; computes the location only when there are too many.
  mutating func count(_ element: XMLElement) throws(Failure) {
    guard let surplus = collector.surplus else { return collector.count() }
    throw failure(surplus, at: element.byte)
  }
}
