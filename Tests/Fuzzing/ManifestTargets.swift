import PrefetchCore

@testable import PrefetchManifests

/// Manifests of every format, documents of streams and ads, and lock files.
enum ManifestTargets {
  private static let base = try? WebURL("https://cdn.example/lists/LIST")
  private static let hub = "https://hub.example/api/models/acme/tiny"
  private static let requirement = PackageRequirement(
    project: "left",
    version: "1.0",
    digests: [ExpectedDigest(algorithm: .sha256, bytes: [UInt8](repeating: 0xAB, count: 32))]
  )

  /// Roles of documents that are no manifests of their own, by the words of the first line.
  private static let roles: [String: FurtherDocument.Role] = [
    "hub-tree": .hubTree, "package-index": .packageIndex(requirement),
    "release-checksums": .checksums(ReleaseChecksums(folder: "v1", subject: "a.gz")),
    "sitemap-child": .sitemap(level: 1), "page": .page,
  ]

  /// Splits an input into the words of its first line and the document behind it.
  private static func split(_ bytes: [UInt8]) -> (words: Set<String>, document: [UInt8]) {
    let end = bytes.firstIndex(of: 0x0A) ?? bytes.endIndex
    let words = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ")
    return (Set(words.map(String.init)), Array(bytes[end...].dropFirst()))
  }

  // MARK: Manifests

  /// Reads a document whose first line names its format, its role or `detect`, and `local`,
  /// `strict` or `crosses`.
  static func manifest(_ bytes: [UInt8]) {
    let (words, document) = split(bytes)
    let format = words.lazy.compactMap { ManifestFormat(rawValue: $0) }.first
    let role = words.lazy.compactMap { roles[$0] }.first
    var address = base
    if format == .hf { address = try? WebURL("\(hub)/revision/main") }
    if role == .hubTree {
      address = try? WebURL("\(hub)/tree/\(String(repeating: "0123456789", count: 4))")
    }
    var source = ManifestSource(
      bytes: .file("manifest"),
      base: words.contains("local") ? nil : address,
      mime: nil,
      name: "manifest"
    )
    source.address = source.base
    source.rules.format = format
    source.documentRole = role
    source.rules.crateIndex = base
    source.rules.isStrict = words.contains("strict")
    source.rules.mayCrossHosts = words.contains("crosses")
    source.maximumSize = 4 << 20
    do throws(Failure) {
      let manifest = try unsafe ManifestReader.read(document.span.bytes, source: source)
      for entry in manifest.entries { check(entry) }
      for rejected in manifest.rejected {
        require(!rejected.failure.message.isEmpty, "a rejection without words")
      }
      for document in manifest.furtherDocuments { check(document.url) }
      for warning in manifest.warnings { require(!warning.message.isEmpty, "an empty warning") }
    } catch {
      require(!error.message.isEmpty, "a refusal without words")
    }
    unsafe _ = ManifestReader.format(of: document.span.bytes, source: source)
    for diagnostic in unsafe ManifestReader.unknownKeys(in: document.span.bytes, source: source) {
      require(!diagnostic.message.isEmpty, "an unknown key without words")
    }
  }

  private static func check(_ entry: ManifestEntry) {
    for url in [entry.url] + entry.alternates { check(url) }
    if let path = entry.path { check(path: path) }
    for digest in entry.digests {
      require(
        digest.bytes.count == digest.algorithm.byteCount,
        "a digest of \(digest.bytes.count) bytes"
      )
    }
    require((entry.size ?? 0) >= 0, "the size \(entry.size ?? 0)")
    require(entry.id?.isEmpty == false, "an entry without an id")
    require(entry.priority.map { (1...100).contains($0) } ?? true, "a priority out of bounds")
  }

  private static func check(_ url: WebURL) {
    require((try? WebURL(url.string))?.string == url.string, "`\(url.string)` is no URL")
  }

  /// Checks the rule itself, not ``PublishedName``, which the readers use.
  private static func check(path: String) {
    let parts = path.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
    let isSafe = parts.allSatisfy { part in
      !["", ".", ".."].contains { part.elementsEqual($0.utf8) }
        && part.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0x5C }
    }
    require(isSafe, "the path `\(path)` leaves its folder")
  }

  // MARK: Streams and ads

  /// Documents of a bundle are separated by lines of this text.
  private static let separator = Array("\n====\n".utf8)

  /// Reads a bundle whose first line has rules; each requested document is the next of the input.
  static func bundle(_ bytes: [UInt8], form: BundleForm) {
    let (words, text) = split(bytes)
    guard let root = try? WebURL("https://cdn.example/films/film.m3u8?s=1") else { return }
    let parts = text.split(separator: separator, maxSplits: 8, omittingEmptySubsequences: false)
    var documents = parts[...]
    var contents = [BundleContent(url: root, base: root, bytes: Array(documents.removeFirst()))]
    do throws(Failure) {
      var reading = try BundleReader.read(contents, rules(words, form))
      while let wanted = reading.documents.first, let document = documents.popFirst() {
        check(wanted.url)
        contents.append(
          BundleContent(url: wanted.url, base: wanted.url, bytes: Array(document))
        )
        reading = try BundleReader.read(contents, rules(words, form))
      }
      if reading.documents.isEmpty { check(reading) }
    } catch {
      require(!error.message.isEmpty, "a refusal without words")
    }
  }

  private static func rules(_ words: Set<String>, _ form: BundleForm) -> BundleRules {
    var rules = BundleRules()
    rules.form = form
    rules.stem = form == .ad ? "lobby" : ""
    rules.quality = words.lazy.compactMap { BundleRules.Quality(rawValue: $0) }.first
    rules.languages = words.contains("de") ? ["de"] : []
    rules.seconds = words.contains("short") ? 20 : 0
    rules.acceptsLive = words.contains("live")
    rules.storesKeys = !words.contains("keyless")
    rules.keepsPartial = words.contains("partial")
    rules.includesExtensions = words.contains("extensions")
    rules.maximumBitrate = words.contains("slow") ? 3_000 : nil
    rules.ignoredParameters = words.contains("ignoring") ? ["s"] : []
    return rules
  }

  private static func check(_ reading: BundleReading) {
    var names: Set<String> = []
    for piece in reading.pieces {
      for url in [piece.url] + piece.alternates { check(url) }
      check(path: piece.name)
      names.insert(piece.name)
      require((piece.needed ?? 0) >= 0 && (piece.prefix ?? 0) >= 0, "a negative length of a piece")
    }
    for text in reading.texts {
      check(path: text.name)
      require(names.insert(text.name).inserted, "two files are named `\(text.name)`")
      if text.isPlaylist { check(playlist: text) }
    }
    require(reading.seconds.isFinite && reading.seconds >= 0, "\(reading.seconds) seconds")
    require((reading.expectedBytes ?? 0) >= 0, "a negative number of expected bytes")
    if let main = reading.mainPiece {
      require(reading.pieces.indices.contains(main), "the main piece does not exist")
    }
  }

  /// Checks that a written playlist can be read, by the same reader.
  private static func check(playlist: BundleText) {
    guard let url = try? WebURL("https://served.example/f/\(playlist.name)") else { return }
    var rules = BundleRules()
    rules.acceptsLive = true
    rules.keepsPartial = true
    let content = BundleContent(url: url, base: url, bytes: playlist.bytes)
    do throws(Failure) {
      _ = try BundleReader.read([content], rules)
    } catch {
      violated("the written playlist `\(playlist.name)` is refused: \(error.message)")
    }
  }

  // MARK: Lock files

  /// Reads a lock file, and compares it with what its own text says.
  static func lockfile(_ bytes: [UInt8]) {
    guard let lock = try? read(lock: bytes) else { return }
    for segment in lock.segments {
      for position in segment.items.indices {
        if let path = segment.items.path(at: position) { check(path: path) }
      }
      require(segment.byteCount >= 0, "a negative size of a segment")
    }
    let text = LockfileText.bytes(of: lock)
    do throws(LockfileText.Fault) {
      let again = try read(lock: text)
      require(again == lock, "a written lock file differs from what was read")
      require(LockfileText.bytes(of: again) == text, "a lock file is written in two ways")
    } catch {
      violated("a written lock file is refused: \(error)")
    }
  }

  private static func read(lock bytes: [UInt8]) throws(LockfileText.Fault) -> Lockfile {
    try unsafe LockfileText.read(bytes.span.bytes)
  }
}
