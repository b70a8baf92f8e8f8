package import PrefetchCore

package enum ManifestReader {
  /// Reads a manifest; invalid items are returned as rejected, unless no item is usable.
  package static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    guard PackedManifest.isPacked(bytes) else { return try readUnpacked(bytes, source: source) }
    let inner = try PackedManifest.unpacked(bytes, atMost: source.maximumSize)
    guard unsafe !PackedManifest.isPacked(inner.span.bytes) else {
      throw Failure(.manifestInvalid, "it is packed with gzip more than once")
    }
    return try unsafe readUnpacked(inner.span.bytes, source: source.unpacked)
  }

  /// Returns what is wrong with the rules, independently of any list; nil when they are valid.
  package static func objection(to rules: ManifestRules) -> Failure? {
    do throws(Failure) {
      _ = try PlatformFilter(rules)
      return nil
    } catch {
      return error
    }
  }

  /// Returns the name of a document's kind for messages; nil when it cannot be determined.
  package static func format(of bytes: RawSpan, source: ManifestSource) -> String? {
    guard PackedManifest.isPacked(bytes) else { return words(for: bytes, source) }
    guard let inner = try? PackedManifest.unpacked(bytes, atMost: source.maximumSize) else {
      return nil
    }
    let words = unsafe words(for: inner.span.bytes, source.unpacked)
    return words.map { "\($0), in gzip" }
  }

  /// Whether the machine's platform decides which items of a document are taken.
  package static func choosesByPlatform(_ bytes: RawSpan, _ source: ManifestSource) -> Bool {
    if PackedManifest.isPacked(bytes) {
      let inner = try? PackedManifest.unpacked(bytes, atMost: source.maximumSize)
      return inner.map { unsafe choosesByPlatform($0.span.bytes, source.unpacked) } ?? false
    }
    let text = isMarked(bytes) ? bytes.extracting(droppingFirst: 3) : bytes
    switch try? FormatDetection.kind(of: text, source: source) {
    case .packageLock, .pnpmLock, .pip, .pylock, .uvLock: return true
    default: return false
    }
  }

  package static func unknownKeys(in bytes: RawSpan, source: ManifestSource) -> [Diagnostic] {
    guard !PackedManifest.isPacked(bytes) else {
      let inner = try? PackedManifest.unpacked(bytes, atMost: source.maximumSize)
      return inner.map { unsafe unpackedUnknownKeys(in: $0.span.bytes, source.unpacked) } ?? []
    }
    return unpackedUnknownKeys(in: bytes, source)
  }

  private static func unpackedUnknownKeys(
    in bytes: RawSpan,
    _ source: ManifestSource
  ) -> [Diagnostic] {
    let text = isMarked(bytes) ? bytes.extracting(droppingFirst: 3) : bytes
    guard (try? FormatDetection.kind(of: text, source: source)) == .native else { return [] }
    return unsafe text.withUnsafeBytes { unsafe UnknownKeys.diagnostics(in: $0, of: source.name) }
  }

  private static func words(for bytes: RawSpan, _ source: ManifestSource) -> String? {
    let text = isMarked(bytes) ? bytes.extracting(droppingFirst: 3) : bytes
    guard let kind = try? FormatDetection.kind(of: text, source: source),
      let row = FormatTable.row(kind)
    else { return nil }
    return row.formats.first.map { "\(row.words) (`format: \($0.rawValue)`)" } ?? row.words
  }

  private static func readUnpacked(
    _ bytes: RawSpan,
    source: ManifestSource
  ) throws(Failure) -> Manifest {
    let text = isMarked(bytes) ? bytes.extracting(droppingFirst: 3) : bytes
    guard let kind = try FormatDetection.kind(of: text, source: source) else { return Manifest() }
    guard let read = FormatTable.row(kind)?.read else { throw notRead(kind) }
    var manifest = try read(text, source)
    manifest.document.isOfRegistry = kind.isOfRegistry
    return source.rules.isStrict ? strict(manifest) : manifest
  }

  /// Turns the warnings about left-out packages into a rejected entry.
  private static func strict(_ manifest: Manifest) -> Manifest {
    var manifest = manifest
    let isMissed: (Diagnostic) -> Bool = {
      $0.code == "manifest.left-out" && $0.severity == .warning
    }
    let missed = manifest.warnings.filter(isMissed)
    guard !missed.isEmpty else { return manifest }
    manifest.warnings.removeAll(where: isMissed)
    let words = missed.map(\.message).joined(separator: "; ")
    let failure = Failure(.leftOut, "\(words); `strict` does not allow this")
    manifest.rejected.append(RejectedEntry(url: "", failure: failure))
    return manifest
  }

  private static func isMarked(_ bytes: RawSpan) -> Bool {
    unsafe bytes.withUnsafeBytes { unsafe $0.starts(with: [0xEF, 0xBB, 0xBF]) }
  }

  static func notRead(_ kind: DocumentKind) -> Failure {
    if kind == .hls {
      return Failure(
        .unsupported,
        "it is an HLS playlist, which names the pieces of one stream; `format: hls` keeps that stream"
      )
    }
    if kind == .vast {
      return Failure(
        .unsupported,
        "it is an answer of an ad server, which is not a list; `format: vast` keeps the ad behind it"
      )
    }
    let row = FormatTable.row(kind)
    let advice = row?.advice ?? "list its files in a manifest or a list of URLs"
    let words = row?.words ?? "of a known format"
    // Some formats name what they lack.
    let reason = words.contains(", which") ? words : "\(words), which this version does not read"
    return Failure(.unsupported, "it is \(reason); \(advice)")
  }
}

extension ManifestSource {
  fileprivate var unpacked: Self {
    var source = self
    if source.mime.map(PackedManifest.isType) == true { source.mime = nil }
    return source
  }
}
