internal import PrefetchCore

/// Reads checksum lists in the format of `sha256sum`.
@safe struct ChecksumList: LineList {
  /// A file that was read and whose further digests may follow on the next lines.
  private struct Pending {
    var line: TextLines.Line
    var name: Range<Int>
    var isEscaped: Bool
    var isTagged: Bool
    var digests: [ExpectedDigest] = []
    var size: Int64?
    var unknown: String?
  }

  var lines: TextLines
  var collector: EntryCollector
  private var pending: Pending?
  /// Size from the comment that Fedora writes before a line.
  private var commentedSize: (name: Range<Int>, size: Int64)?
  private var armour = ClearSignedText()

  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    if let name = unknownFunction(of: source) {
      throw Failure(
        .unsupported,
        "it is a list of \(name) digests, which are not checked; use the list of SHA-256 or SHA-512"
      )
    }
    return try read(bytes, into: EntryCollector(NameBases(source)))
  }

  init(lines: TextLines, collector: EntryCollector) {
    self.lines = lines
    self.collector = collector
  }

  /// BLAKE2, BLAKE3 and SHA-3 digests are as long as SHA-2's, so only the list's file name tells.
  private static func unknownFunction(of source: ManifestSource) -> String? {
    let name = FormatTable.fileName(of: source).lowercased()
    if name.contains("b2sum") || name.contains("blake2") || name.hasSuffix(".b2") {
      return "BLAKE2"
    }
    if name.contains("b3sum") || name.contains("blake3") { return "BLAKE3" }
    return name.contains("sha3") && !name.contains("sha38") ? "SHA-3" : nil
  }

  mutating func readLines() throws(Failure) {
    while let line = lines.next() {
      guard let content = try armour.content(of: line, lines) else { continue }
      guard !lines.trimmed(content).isEmpty else { continue }
      if lines.byte(at: content.lowerBound) == UInt8(ascii: "#") {
        comment(content)
        continue
      }
      try count(content.lowerBound, in: line)
      if let parts = ChecksumLine(content, lines) {
        add(parts, in: line)
      } else {
        flush()
        reject(
          content,
          .manifestInvalid,
          "it is not a digest and name",
          at: content.lowerBound,
          line
        )
      }
    }
    flush()
    if try armour.isFound(atEndOf: lines) { collector.warn(.uncheckedSignature) }
  }

  /// Reads a size comment, `# NAME: SIZE bytes`.
  private mutating func comment(_ content: Range<Int>) {
    let text = lines.trimmed(content.lowerBound + 1..<content.upperBound)
    let colon = text.last { lines.byte(at: $0) == UInt8(ascii: ":") }
    guard let colon, let words = lines.text(lines.trimmed(colon + 1..<text.upperBound)),
      words.hasSuffix(" bytes"), let size = Int64(words.dropLast(6)), size >= 0
    else { return }
    flush()
    commentedSize = (text.lowerBound..<colon, size)
  }

  // MARK: Lines

  private mutating func add(_ parts: ChecksumLine, in line: TextLines.Line) {
    if !parts.isTagged, !parts.isEscaped, pending == nil, commentedSize == nil,
      case .digest(.sha256, let digits) = parts.value, addToColumns(digits, parts.name)
    {
      return
    }
    if let item = pending, !continues(item, parts) { flush() }
    var item =
      pending
      ?? Pending(
        line: line,
        name: parts.name,
        isEscaped: parts.isEscaped,
        isTagged: parts.isTagged
      )
    switch parts.value {
    case .digest(let algorithm, let range):
      guard let text = lines.text(range),
        let digest = DigestText.decode(text, algorithm: algorithm)
      else { return malformed(parts.name, algorithm, range, line) }
      item.digests.append(digest)
    case .malformed(let algorithm, let range): return malformed(parts.name, algorithm, range, line)
    case .unknown(let name): item.unknown = item.unknown ?? name
    case .size(let size): item.size = size
    }
    if let (name, size) = commentedSize,
      unsafe lines.bytes(name).elementsEqual(lines.bytes(item.name))
    {
      item.size = size
    }
    commentedSize = nil
    pending = item
  }

  private mutating func malformed(
    _ name: Range<Int>,
    _ algorithm: DigestAlgorithm?,
    _ range: Range<Int>,
    _ line: TextLines.Line
  ) {
    pending = nil
    let words = algorithm.map { "this is not a \($0.rawValue) in hexadecimal or base64" }
    reject(
      name,
      .manifestInvalid,
      words ?? "\(range.count) digits are no digest that is known",
      at: range.lowerBound,
      line
    )
  }

  /// Returns whether a line adds a digest to the pending file, as lists with several functions do.
  private func continues(_ item: Pending, _ parts: ChecksumLine) -> Bool {
    guard item.isTagged, parts.isTagged, item.isEscaped == parts.isEscaped,
      unsafe lines.bytes(item.name).elementsEqual(lines.bytes(parts.name))
    else { return false }
    guard case .digest(let algorithm, _) = parts.value else { return true }
    return !item.digests.contains { $0.algorithm == algorithm }
  }

  /// Adds the usual line without a `ManifestEntry`: a SHA-256 and a name that needs no escaping.
  private mutating func addToColumns(
    _ digits: Range<Int>,
    _ name: Range<Int>
  ) -> Bool {
    guard collector.base != nil, name.allSatisfy({ ChecksumName.isUnescaped(lines.byte(at: $0)) })
    else { return false }
    let name = withoutDots(name)
    let bytes = unsafe lines.bytes(name)
    guard let digest = unsafe DigestBytes.sha256(lines.bytes(digits)),
      unsafe PublishedName.isSafe(bytes), name.count > 1 || lines.byte(at: name.lowerBound) != 0x2D
    else { return false }
    var details = EntryTable.Details()
    details.digest = digest
    return unsafe collector.addToColumns(
      RawSpan(_unsafeBytes: bytes),
      path: RawSpan(_unsafeBytes: bytes),
      details
    )
  }

  private func withoutDots(_ name: Range<Int>) -> Range<Int> {
    var name = name
    while lines.begins(name, with: "./") { name = name.lowerBound + 2..<name.upperBound }
    return name
  }

  // MARK: Settling

  private mutating func flush() {
    guard let item = pending else { return }
    pending = nil
    let name = withoutDots(item.name)
    let written = unsafe Array(lines.bytes(name))
    guard let bytes = item.isEscaped ? ChecksumName.unescaped(written) : written,
      let text = try? String(copying: UTF8Span(validating: bytes.span))
    else {
      let words =
        item.isEscaped ? "its name has an escape that is not known" : "its name is not UTF-8"
      return reject(name, .manifestInvalid, words, at: name.lowerBound, item.line)
    }
    guard !item.digests.isEmpty else {
      let words = item.unknown.map { "\($0.prefix(40)) digests are not checked by this program" }
      return reject(
        name,
        .manifestInvalid,
        words ?? "it has no digest",
        at: item.line.start,
        item.line
      )
    }
    add(text, item, at: name)
  }

  private mutating func add(_ text: String, _ item: Pending, at name: Range<Int>) {
    let isWhole = text.hasPrefix("https://") || text.hasPrefix("http://")
    guard isWhole || PublishedName.isSafe(text) else {
      let objection = PublishedName.objection(to: text)
      return reject(name, objection.code, objection.message, at: name.lowerBound, item.line)
    }
    guard isWhole || text != "-" else {
      return reject(
        name,
        .manifestInvalid,
        "standard input has no name",
        at: name.lowerBound,
        item.line
      )
    }
    do throws(EntryCollector.Refusal) {
      let declared = try collector.declared(isWhole ? text : ChecksumName.reference(text))
      guard let digests = declared.digests(combinedWith: item.digests) else {
        throw EntryCollector.Refusal(message: "its URL names another digest than the line")
      }
      var details = EntryTable.Details()
      details.size = item.size
      let path = isWhole ? nil : text
      if EntryCollector.put(digests, into: &details) {
        return collector.add(declared.url, path: path, details)
      }
      var entry = ManifestEntry(url: declared.url)
      entry.digests = digests
      entry.size = item.size
      entry.path = path
      collector.add(entry)
    } catch {
      let message =
        isWhole || collector.base != nil
        ? error.message : "it is a relative name, and no base URL is set; set `base`"
      reject(name, .badURL, message, at: name.lowerBound, item.line)
    }
  }

  private mutating func reject(
    _ range: Range<Int>,
    _ code: ErrorCode,
    _ message: String,
    at offset: Int,
    _ line: TextLines.Line
  ) {
    let text = unsafe String(decoding: lines.bytes(range), as: UTF8.self)
    reject(text, as: ChecksumName.reference(text), code, message, at: offset, in: line)
  }
}
