internal import PrefetchCore

/// A list of URLs, one per line, in the formats of shells, aria2 and conda.
@safe struct URLList: LineList {
  /// A URL line whose option lines may follow.
  private struct Pending {
    var line: TextLines.Line
    var url: Range<Int>
    var digest: ContentDigest?
    /// Entry, made once the item has more than a URL and one SHA-256.
    var whole: ManifestEntry?
    var folder: String?
    var name: String?
  }

  var lines: TextLines
  var collector: EntryCollector
  private var pending: Pending?
  private var isConda = false
  private var armour = ClearSignedText()
  private var namedOptions: Set<String> = []

  /// Reads a list; a sitemap in text form may name only its own host.
  static func read(
    _ bytes: RawSpan,
    source: ManifestSource,
    staysOnHost: Bool = false
  ) throws(Failure) -> Manifest {
    try read(bytes, into: EntryCollector(NameBases(source), staysOnHost: staysOnHost))
  }

  init(lines: TextLines, collector: EntryCollector) {
    self.lines = lines
    self.collector = collector
  }

  mutating func readLines() throws(Failure) {
    while let line = lines.next() {
      guard let text = try armour.content(of: line, lines) else { continue }
      let content = lines.trimmed(text)
      guard !content.isEmpty, lines.byte(at: text.lowerBound) != UInt8(ascii: "#") else { continue }
      if content.lowerBound > text.lowerBound, option(content, in: line) { continue }
      flush()
      if lines.byte(at: content.lowerBound) == UInt8(ascii: "@"), content.count == 9,
        lines.begins(content, with: "@EXPLICIT")
      {
        isConda = true
        continue
      }
      try count(content.lowerBound, in: line)
      item(content, in: line)
    }
    flush()
    if try armour.isFound(atEndOf: lines) { collector.warn(.uncheckedSignature) }
  }

  // MARK: Items

  private mutating func item(_ content: Range<Int>, in line: TextLines.Line) {
    let firstTab = lines.first(0x09, in: content)
    let first = lines.trimmed(content.lowerBound..<(firstTab ?? content.upperBound))
    guard let mark = lines.first(UInt8(ascii: "#"), in: first) else {
      pending = Pending(line: line, url: first)
      mirrors(firstTab, content)
      return
    }
    var item = Pending(line: line, url: lines.trimmed(first.lowerBound..<mark))
    let fragment = mark + 1..<first.upperBound
    if fragment.count == 71, lines.begins(fragment, with: "sha256="),
      let digest = unsafe DigestBytes.sha256(lines.bytes(mark + 8..<first.upperBound))
    {
      item.digest = digest
    } else if !read(fragment, into: &item) {
      return
    }
    pending = item
    mirrors(firstTab, content)
  }

  /// Reads a fragment such as `sha256=…` and ignores unknown parts; returns false for a bad digest.
  private mutating func read(_ fragment: Range<Int>, into item: inout Pending) -> Bool {
    guard let text = lines.text(fragment) else { return true }
    var digests: [ExpectedDigest] = []
    for part in text.split(separator: "&") {
      guard let (algorithm, value) = digest(in: part) else { continue }
      guard let digest = DigestText.decode(value, algorithm: algorithm) else {
        reject(
          item,
          .manifestInvalid,
          "`#\(part.prefix(80))` is not a \(algorithm.rawValue) in hexadecimal or base64",
          at: fragment.lowerBound - 1
        )
        return false
      }
      digests.appendIfNew(digest)
    }
    guard !digests.isEmpty else { return true }
    guard var whole = makeWhole(item) else { return false }
    whole.digests = digests
    item.whole = whole
    return true
  }

  /// Parses an algorithm and its value; conda omits the name for MD5.
  private func digest(in part: Substring) -> (DigestAlgorithm, String)? {
    if let equals = part.firstIndex(of: "="),
      let algorithm = DigestText.algorithm(part[..<equals])
    {
      return (algorithm, String(part[part.index(after: equals)...]))
    }
    guard isConda else { return nil }
    if let colon = part.firstIndex(of: ":"), let algorithm = DigestText.algorithm(part[..<colon]) {
      return (algorithm, String(part[part.index(after: colon)...]))
    }
    return (DigestText.algorithm(digits: part.utf8.count) ?? .md5, String(part))
  }

  private mutating func mirrors(_ firstTab: Int?, _ content: Range<Int>) {
    guard let firstTab, let item = pending, var whole = makeWhole(item) else { return }
    var start = firstTab + 1
    var count = 0
    while start <= content.upperBound, count < EntryCollector.maximumAlternates {
      let end = lines.first(0x09, in: start..<content.upperBound) ?? content.upperBound
      let field = lines.trimmed(start..<end)
      start = end + 1
      guard !field.isEmpty else { continue }
      count += 1
      guard let text = lines.text(field), let mirror = try? collector.declared(text),
        let digests = mirror.digests(combinedWith: whole.digests)
      else {
        let location = lines.location(field.lowerBound, in: item.line)
        collector.warn(
          "manifest.mirror",
          NativeManifest.invalid(
            "the mirror is not an http or https URL, or its digest is invalid or differs",
            at: location
          ).message
        )
        continue
      }
      whole.digests = digests
      if mirror.url != whole.url, !whole.alternates.contains(mirror.url) {
        whole.alternates.append(mirror.url)
      }
    }
    pending?.whole = whole
  }

  // MARK: Options

  private mutating func option(_ content: Range<Int>, in line: TextLines.Line) -> Bool {
    guard let equals = lines.first(UInt8(ascii: "="), in: content),
      equals > content.lowerBound,
      (content.lowerBound..<equals).allSatisfy({ isNameByte(lines.byte(at: $0)) }),
      let name = lines.text(content.lowerBound..<equals)
    else { return false }
    guard let item = pending else { return true }
    let value = equals + 1..<content.upperBound
    switch name {
    case "out", "dir": setPath(value, isFolder: name == "dir", item, in: line)
    case "checksum": checksum(value, item, in: line)
    default: warnOfOption(name, at: lines.location(content.lowerBound, in: line))
    }
    return true
  }

  private func isNameByte(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || ASCII.isDigit(byte)
  }

  /// Sets the item's file name or folder; the folder `.` counts as none.
  private mutating func setPath(
    _ value: Range<Int>,
    isFolder: Bool,
    _ item: Pending,
    in line: TextLines.Line
  ) {
    let text = lines.text(value).map { isFolder ? Self.folder($0) : $0 }
    guard let text, isFolder && text.isEmpty || PublishedName.isSafe(text) else {
      let objection = PublishedName.objection(to: text ?? "\u{FFFD}")
      reject(
        item,
        objection.code,
        "`\(isFolder ? "dir" : "out")`: \(objection.message)",
        at: value.lowerBound,
        in: line
      )
      pending = nil
      return
    }
    guard var whole = makeWhole(item) else { return }
    var item = item
    if isFolder { item.folder = text } else { item.name = text }
    let folder = item.folder ?? ""
    // Without `dir` and `out`, the tree's layout names the file.
    let name =
      folder.isEmpty ? item.name : item.name ?? (try? TreeName.lastComponent(of: whole.url))
    whole.path = name.map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
    item.whole = whole
    pending = item
  }

  /// Normalizes a folder: `./isos/` becomes `isos`.
  private static func folder(_ text: String) -> String {
    var path = text[...]
    while path.utf8.starts(with: "./".utf8) { path = path.dropFirst(2) }
    while path.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
    return path == "." ? "" : String(path)
  }

  private mutating func checksum(_ value: Range<Int>, _ item: Pending, in line: TextLines.Line) {
    let parts = (lines.text(value) ?? "").split(separator: "=", maxSplits: 1)
    guard let name = parts.first, let algorithm = DigestText.algorithm(name), parts.count == 2,
      let digest = DigestText.decode(String(parts[1]), algorithm: algorithm)
    else {
      reject(
        item,
        .manifestInvalid,
        "`checksum` must be an algorithm and a digest, such as `sha-256=` and 64 digits",
        at: value.lowerBound,
        in: line
      )
      pending = nil
      return
    }
    guard var whole = makeWhole(item) else { return }
    whole.digests.appendIfNew(digest)
    pending?.whole = whole
  }

  /// Warns once per option name, for at most twenty names.
  private mutating func warnOfOption(_ name: String, at location: SourceLocation) {
    guard namedOptions.count < 20, namedOptions.insert(name).inserted else { return }
    collector.warn(
      "manifest.option",
      NativeManifest.invalid("the option `\(name.prefix(40))` has no meaning here", at: location)
        .message
    )
  }

  // MARK: Settling

  private mutating func flush() {
    guard let item = pending else { return }
    pending = nil
    if let whole = item.whole {
      guard whole.path != nil || item.folder?.isEmpty != false else {
        let message = "`dir`: its URL ends with no file name; `out` can give it one"
        return reject(item, .badName, message, at: item.url.lowerBound)
      }
      return collector.add(whole)
    }
    var details = EntryTable.Details()
    details.digest = item.digest
    let isAdded = unsafe collector.addToColumns(
      RawSpan(_unsafeBytes: lines.bytes(item.url)),
      details
    )
    if !isAdded, let entry = makeWhole(item) { collector.add(entry.url, details) }
  }

  private mutating func makeWhole(_ item: Pending) -> ManifestEntry? {
    if let whole = item.whole { return whole }
    guard let text = lines.text(item.url) else {
      reject(item, .manifestInvalid, "this is not UTF-8", at: item.url.lowerBound)
      pending = nil
      return nil
    }
    do throws(EntryCollector.Refusal) {
      var entry = ManifestEntry(url: try collector.url(text))
      if let digest = item.digest {
        entry.digests = [ExpectedDigest(algorithm: .sha256, bytes: digest.bytes)]
      }
      return entry
    } catch {
      reject(item, .badURL, error.message, at: item.url.lowerBound)
      pending = nil
      return nil
    }
  }

  private mutating func reject(
    _ item: Pending,
    _ code: ErrorCode,
    _ message: String,
    at offset: Int,
    in line: TextLines.Line? = nil
  ) {
    let text = unsafe String(decoding: lines.bytes(item.url), as: UTF8.self)
    reject(text, code, message, at: offset, in: line ?? item.line)
  }
}
