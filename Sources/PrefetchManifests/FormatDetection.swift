internal import PrefetchCore

/// Chooses a document's reader: the declared format, else media type, name and first bytes.
enum FormatDetection {
  /// Returns the kind of a document; nil for an empty document, an empty manifest of any format.
  static func kind(of bytes: RawSpan, source: ManifestSource) throws(Failure) -> DocumentKind? {
    let finding = unsafe bytes.withUnsafeBytes { bytes -> FormatSniffer.Finding? in
      let text = unsafe bytes.drop { " \t\r\n".utf8.contains($0) }
      guard unsafe !text.isEmpty else { return nil }
      return unsafe FormatSniffer.find(UnsafeRawBufferPointer(rebasing: text))
    }
    guard let finding else { return nil }
    switch finding {
    case .page:
      // A Python package index may answer with an HTML page, which its reader understands.
      if case .packageIndex = source.documentRole { return .packageIndex }
      throw ManifestGuard.pageFailure
    case .binary(let words): throw Failure(.manifestInvalid, words)
    case .kind, .syntax: break
    }
    switch source.documentRole {
    case .packageIndex: return .packageIndex
    case .moduleSource: return .moduleSource
    case .sitemap: return .sitemap
    case .checksums: return .releaseChecksums
    case .dates: return .packageDates
    case .hubTree: return .hub
    case .page, nil: break
    }
    // Configured pointers describe a foreign JSON document, whatever its name.
    let pointed: ManifestFormat? = source.rules.pointers == .init() ? nil : .json
    if let format = source.rules.format ?? pointed { return try declared(format, finding) }
    return try guessed(finding, source)
  }

  /// Returns the declared format's kind; throws when the document's syntax contradicts it.
  private static func declared(
    _ format: ManifestFormat,
    _ finding: FormatSniffer.Finding
  ) throws(Failure) -> DocumentKind? {
    guard let row = FormatTable.row(declared: format) else { return nil }
    // A declared feed may be RSS or Atom, and a declared sitemap may be a plain list of URLs.
    if case .kind(let kind) = finding, isFeed(kind), isFeed(row.kind) { return kind }
    if row.kind == .sitemap, finding.syntax == .text { return .sitemap }
    guard row.syntax == finding.syntax else {
      throw disagreement("`format` says \(row.words)", finding)
    }
    return row.kind
  }

  private static func guessed(
    _ finding: FormatSniffer.Finding,
    _ source: ManifestSource
  ) throws(Failure) -> DocumentKind {
    if let mime = source.mime, let row = FormatTable.row(type: mime) {
      guard let kind = agreed(row, finding) else {
        throw disagreement("the media type says \(row.words)", finding)
      }
      return kind
    }
    let name = FormatTable.fileName(of: source)
    if let row = FormatTable.row(name: name) {
      if row.isForeign, case .syntax = finding { return row.kind }
      if row.isForeign, case .kind(let kind) = finding, kind != .native { return row.kind }
      if row.isForeign { return try unnamed(finding) }
      guard let kind = agreed(row, finding) else {
        throw disagreement("the name says \(row.words)", finding)
      }
      return kind
    }
    return try unnamed(finding)
  }

  private static func agreed(
    _ row: FormatRow,
    _ finding: FormatSniffer.Finding
  ) -> DocumentKind? {
    switch finding {
    case .kind(let kind):
      if kind == row.kind || (isFeed(kind) && isFeed(row.kind)) { return kind }
      // A clear-signed list may have the name of a signature, such as `SHA256SUMS.asc`.
      if row.kind == .signature, kind == .checksums || kind == .list { return kind }
      // Requirements may be plain URLs, as the lines of a plain list are.
      return kind == .list && row.kind == .pip ? .pip : nil
    case .syntax(let syntax, let root):
      return syntax == row.syntax && (syntax != .xml || root == nil) ? row.kind : nil
    case .page, .binary: return nil
    }
  }

  private static func isFeed(_ kind: DocumentKind) -> Bool {
    kind == .rss || kind == .atom
  }

  private static func unnamed(
    _ finding: FormatSniffer.Finding
  ) throws(Failure) -> DocumentKind {
    switch finding {
    case .kind(let kind): return kind
    case .syntax(.json, _): return .json
    case .syntax(.xml, let root?):
      throw Failure(
        .manifestInvalid,
        "it is XML that begins with `<\(root.prefix(40))>`, \(unknown)"
      )
    case .syntax(.xml, nil): throw Failure(.manifestInvalid, "it looks like XML, \(unknown)")
    case .syntax(.text, _), .page, .binary:
      throw Failure(
        .manifestInvalid,
        "it is text of an unknown format; for a list of names set `format: list`"
      )
    }
  }

  private static let unknown = "which is an unknown format"

  private static func disagreement(
    _ claim: String,
    _ finding: FormatSniffer.Finding
  ) -> Failure {
    Failure(
      .manifestInvalid,
      "\(claim), the first bytes \(finding.words); name the right one as `format`"
    )
  }
}

extension FormatSniffer.Finding {
  var syntax: FormatRow.Syntax? {
    switch self {
    case .kind(let kind): FormatTable.row(kind)?.syntax
    case .syntax(let syntax, _): syntax
    case .page, .binary: nil
    }
  }

  fileprivate var words: String {
    switch self {
    case .kind(let kind): FormatTable.row(kind)?.words ?? "another format"
    case .syntax(.xml, let root?): "XML that begins with `<\(root.prefix(40))>`"
    case .syntax(let syntax, _): syntax.rawValue
    case .page: "an HTML page"
    case .binary: "no text"
    }
  }
}
