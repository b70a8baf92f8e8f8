internal import PrefetchCore
internal import PrefetchDocuments

/// Reads Metalink version 4 (RFC 5854) and version 3.
struct Metalink: XMLVocabulary {
  private var published: Instant?

  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    try XMLManifest.read(
      bytes,
      as: Metalink(),
      collector: EntryCollector(base: source.base)
    )
  }

  private init() {}

  mutating func shape(of root: XMLElement) -> XMLShape? {
    guard root.name == "metalink" else { return nil }
    published = root.attribute("pubdate").flatMap { MailDate.parse($0) }
    return XMLShape(
      records: [["metalink", "file"], ["metalink", "files", "file"]],
      facts: [["metalink", "published"], ["metalink", "updated"]],
      kept: ["size", "hash", "url", "verification", "resources"]
    )
  }

  mutating func fact(_ element: XMLElement) {
    if element.name == "updated", published != nil { return }
    published = Timestamp.parse(element.text) ?? published
  }

  mutating func add(_ element: XMLElement, to manifest: inout XMLManifest) throws(Failure) {
    try manifest.count(element)
    let name = element.attribute("name") ?? ""
    let isOld = element["resources"] != nil
    var urls: [DeclaredURL] = []
    do throws(EntryRefusal) {
      urls = try mirrors(
        isOld ? element.all("resources").flatMap { $0.all("url") } : element.all("url"),
        isOld: isOld,
        manifest.collector,
        of: element
      )
      var entry = ManifestEntry(url: urls[0].url)
      guard PublishedName.isSafe(name) else {
        let objection = PublishedName.objection(to: name)
        throw EntryRefusal(
          code: objection.code,
          message: name.isEmpty ? "`name` is missing" : objection.message,
          element: element
        )
      }
      entry.path = name
      entry.alternates = urls.dropFirst().map(\.url)
      entry.published = published
      entry.size = try size(element)
      entry.digests = try digests(
        isOld ? element.all("verification").flatMap { $0.all("hash") } : element.all("hash")
      )
      for url in urls {
        guard let digests = url.digests(combinedWith: entry.digests) else {
          throw EntryRefusal(
            message: "its URL and the fields beside it name different digests",
            element: element
          )
        }
        entry.digests = digests
      }
      manifest.collector.add(entry)
    } catch {
      manifest.reject(
        urls.first?.url.string ?? name,
        error.code,
        error.message,
        at: error.element
      )
    }
  }

  private struct EntryRefusal: Error {
    var code = ErrorCode.manifestInvalid
    var message: String
    var element: XMLElement
  }

  private func mirrors(
    _ elements: [XMLElement],
    isOld: Bool,
    _ collector: EntryCollector,
    of file: XMLElement
  ) throws(EntryRefusal) -> [DeclaredURL] {
    var ranked: [(rank: Int, url: DeclaredURL)] = []
    var fault: EntryRefusal?
    for element in elements where Self.isWeb(element) {
      do throws(EntryCollector.Refusal) {
        ranked.append((Self.rank(element, isOld: isOld), try collector.declared(element.text)))
      } catch {
        fault = fault ?? EntryRefusal(code: .badURL, message: error.message, element: element)
      }
    }
    var seen: Set<WebURL> = []
    let urls = ranked.enumerated()
      .sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
      .map(\.element.url)
      .filter { seen.insert($0.url).inserted }
      .prefix(1 + EntryCollector.maximumAlternates)
    guard urls.isEmpty else { return Array(urls) }
    throw fault
      ?? EntryRefusal(code: .badURL, message: "it has no `http` or `https` URL", element: file)
  }

  /// Returns whether HTTP serves the mirror; ignores other schemes and version 3's torrents.
  private static func isWeb(_ element: XMLElement) -> Bool {
    if let type = element.attribute("type"), !["http", "https"].contains(type.lowercased()) {
      return false
    }
    let scheme = element.text.prefix { $0 != ":" }.lowercased()
    return !["ftp", "ftps", "rsync", "magnet", "ed2k", "sftp"].contains(scheme)
  }

  /// Returns a rank, lowest first: version 4's best priority is 1, version 3's best preference 100.
  private static func rank(_ element: XMLElement, isOld: Bool) -> Int {
    if isOld {
      let preference = element.attribute("preference").flatMap { Int($0) } ?? 0
      return 100 - min(max(preference, 0), 100)
    }
    let priority = element.attribute("priority").flatMap { Int($0) } ?? worst
    return (1..<worst).contains(priority) ? priority : worst
  }

  private static let worst = 1_000_000

  private func size(_ file: XMLElement) throws(EntryRefusal) -> Int64? {
    guard let element = file["size"] else { return nil }
    guard element.text.utf8.allSatisfy(ASCII.isDigit), let size = Int64(element.text) else {
      throw EntryRefusal(message: "`size` must be a number of bytes", element: element)
    }
    return size
  }

  private func digests(_ elements: [XMLElement]) throws(EntryRefusal) -> [ExpectedDigest] {
    var digests: [ExpectedDigest] = []
    for element in elements {
      // A digest of an unknown function proves nothing either way.
      guard let algorithm = element.attribute("type").flatMap({ DigestText.algorithm($0) }) else {
        continue
      }
      guard let digest = DigestText.decode(element.text, algorithm: algorithm) else {
        throw EntryRefusal(
          message: "this is not a \(algorithm.rawValue) in hexadecimal or base64",
          element: element
        )
      }
      digests.appendIfNew(digest)
    }
    return digests
  }
}
