package import PrefetchCore
internal import PrefetchDocuments

/// Text of a lock file: a JSON object a line, the head first, then each segment with its items.
package enum LockfileText {
  package struct Fault: Error, Hashable, Sendable {
    /// Number of the line, from 1.
    package var line: Int
    package var message: String
  }

  static let format = "prefetch-lockfile/1"
  static let formatName = "prefetch-lockfile"

  // MARK: Writing

  /// Returns the text, equal for equal locks; `placing` puts placeholders in place of secrets.
  package static func bytes(
    of lockfile: Lockfile,
    placing: (String) -> String = { $0 }
  ) -> [UInt8] {
    var head: [(String, JSONValue)] = [("format", .string(format))]
    if let platform = lockfile.platform { head.append(("platform", .string(platform))) }
    var bytes = line(head)
    for segment in lockfile.segments {
      var members: [(String, JSONValue)] = [("segment", .string(segment.name))]
      if let list = segment.list { members.append(("list", .string(list.hexadecimal))) }
      members.append(("lines", .integer(Int64(segment.lineCount))))
      bytes += line(members)
      let items = segment.items.indices.map { position in
        (order: placing(segment.items.url(at: position)), number: position)
      }
      // The pieces follow their item.
      let pieces = segment.pieces.enumerated().map { number, piece in
        let keys = "\(placing(piece.item)) \(placing(piece.key)) \(piece.digest.hexadecimal)"
        return (order: keys, number: items.count + number)
      }
      for (_, number) in (items + pieces).sorted(by: { $0.order < $1.order }) {
        bytes += line(Self.members(number, of: segment, placing))
      }
    }
    return bytes
  }

  /// Members of an item's line; of a piece's, if the number is above those of the items.
  private static func members(
    _ number: Int,
    of segment: LockedSegment,
    _ placing: (String) -> String
  ) -> [(String, JSONValue)] {
    let items = segment.items
    guard number < items.count else {
      let piece = segment.pieces[number - items.count]
      return [
        ("segment", .string(segment.name)), ("url", .string(placing(piece.key))),
        ("size", .integer(piece.size)), ("sha256", .string(piece.digest.hexadecimal)),
        ("item", .string(placing(piece.item))),
      ]
    }
    var members: [(String, JSONValue)] = [
      ("segment", .string(segment.name)), ("url", .string(placing(items.url(at: number)))),
      ("size", .integer(items.size(at: number) ?? 0)),
      ("sha256", .string(items.columnDigest(at: number)?.hexadecimal ?? "")),
    ]
    if let type = items.type(at: number) { members.append(("type", .string(type))) }
    if let path = items.path(at: number) { members.append(("path", .string(path))) }
    return members
  }

  private static func line(_ members: [(String, JSONValue)]) -> [UInt8] {
    JSONWriter.bytes(.object(members)) + [UInt8(ascii: "\n")]
  }

  // MARK: Reading

  /// Reads a lock file; `filling` puts secrets in place of their placeholders, nil if one is unset.
  package static func read(
    _ bytes: RawSpan,
    filling: (String) -> String? = { $0 }
  ) throws(Fault) -> Lockfile {
    try unsafe bytes.withUnsafeBytes { bytes -> Result<Lockfile, Fault> in
      var reader = LockfileLines()
      var start = 0
      do throws(Fault) {
        while start < bytes.count {
          let rest = unsafe bytes[start...]
          let end = unsafe rest.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
          let line = unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<end])
          unsafe try reader.read(line, filling)
          start = end + 1
        }
        return .success(try reader.end())
      } catch {
        return .failure(error)
      }
    }.get()
  }

  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    let lockfile: Lockfile
    do throws(Fault) {
      lockfile = try read(bytes)
    } catch {
      throw Failure(.manifestInvalid, "line \(error.line): \(error.message)")
    }
    var manifest = Manifest(entries: EntryTable { ItemIdentifier.make(for: $0) })
    for segment in lockfile.segments {
      var entries = EntryTable()
      entries.append(segment.items, at: segment.items.indices)
      entries.lock(to: segment)
      manifest.entries.append(entries, at: entries.indices)
    }
    return manifest
  }
}

/// Lines of a lock file, read one after another.
private struct LockfileLines {
  typealias Fault = LockfileText.Fault

  private var lockfile = Lockfile()
  private var number = 0
  private var hasHead = false
  private var segment: LockedSegment?
  private var declaredLines = 0
  private var segmentLine = 0
  private var entries = EntryTable()
  private var pieces: [LockedPiece] = []
  private var seen: Set<String> = []

  @unsafe mutating func read(
    _ bytes: UnsafeRawBufferPointer,
    _ filling: (String) -> String?
  ) throws(Fault) {
    number += 1
    let line = try unsafe LockfileLine(bytes, number: number)
    guard hasHead else { return try head(line) }
    if line["url"] == nil { return try begin(line) }
    try item(line, filling)
  }

  mutating func end() throws(Fault) -> Lockfile {
    guard hasHead else { throw fault("it is empty", at: 1) }
    try endSegment()
    return lockfile
  }

  private mutating func head(_ line: LockfileLine) throws(Fault) {
    try line.allow(["format", "platform"])
    guard let format = line["format"] else {
      throw fault("its first line has no `format`; it is no lock file of prefetch")
    }
    guard format == LockfileText.format else {
      let isNewer = format.hasPrefix("\(LockfileText.formatName)/")
      throw fault(
        "its format is `\(format)`, and this program reads `\(LockfileText.format)`"
          + (isNewer ? "; a newer prefetch wrote it" : "")
      )
    }
    lockfile.platform = line["platform"]
    hasHead = true
  }

  private mutating func begin(_ line: LockfileLine) throws(Fault) {
    try endSegment()
    try line.allow(["segment", "list", "lines"])
    let name = try line.text("segment")
    guard lockfile[name] == nil else { throw fault("segment `\(name)` is here twice") }
    var new = LockedSegment(name: name)
    if line["list"] != nil { new.list = try digest(line, "list") }
    declaredLines = Int(try line.count("lines"))
    segmentLine = number
    segment = new
  }

  private mutating func item(
    _ line: LockfileLine,
    _ filling: (String) -> String?
  ) throws(Fault) {
    try line.allow(["segment", "url", "size", "sha256", "type", "path", "item"])
    let name = try line.text("segment")
    guard let segment, segment.name == name else {
      throw fault("it belongs to segment `\(name)`, whose own line is not before it")
    }
    let url = try url(line, "url", filling)
    let size = try line.count("size")
    let digest = try digest(line, "sha256")
    if line["item"] != nil {
      let item = try self.url(line, "item", filling)
      pieces.append(LockedPiece(item: item.string, key: url.string, size: size, digest: digest))
    } else {
      guard seen.insert(url.string).inserted else {
        throw fault("`\(url.redacted)` is here twice")
      }
      var entry = ManifestEntry(url: url)
      entry.size = size
      entry.digests = [ExpectedDigest(algorithm: .sha256, bytes: digest.bytes)]
      entry.type = line["type"]
      entry.path = line["path"]
      if let path = entry.path, !PublishedName.isSafe(path) {
        throw fault("`path` is `\(path)`, which would leave its folder")
      }
      entries.appendToColumns(entry)
    }
  }

  private mutating func endSegment() throws(Fault) {
    guard var segment else { return }
    let count = entries.count + pieces.count
    guard count == declaredLines else {
      throw fault(
        "segment `\(segment.name)` has \(CountedNoun("line").text(count)) behind this one, "
          + "which says \(declaredLines); write the file again with `prefetch freeze`",
        at: segmentLine
      )
    }
    if let piece = pieces.first(where: { !seen.contains($0.item) }) {
      throw fault(
        "segment `\(segment.name)` has a file of `\(WebURL.redacted(piece.item))`, which it does not name",
        at: segmentLine
      )
    }
    segment.add(entries, pieces)
    lockfile.set(segment)
    self.segment = nil
    (entries, pieces, seen) = (EntryTable(), [], [])
  }

  private func url(
    _ line: LockfileLine,
    _ key: String,
    _ filling: (String) -> String?
  ) throws(Fault) -> WebURL {
    let text = try line.text(key)
    guard let filled = filling(text) else {
      throw fault("`\(key)` names a secret that the configuration does not have: `\(text)`")
    }
    do {
      return try WebURL(filled)
    } catch {
      throw fault("`\(key)`: \(error)")
    }
  }

  private func digest(_ line: LockfileLine, _ key: String) throws(Fault) -> ContentDigest {
    guard let bytes = Hexadecimal.decode(try line.text(key)),
      let digest = ContentDigest(bytes: bytes), !digest.isNone
    else {
      throw fault("`\(key)` must have 64 hexadecimal digits")
    }
    return digest
  }

  private func fault(_ message: String, at line: Int? = nil) -> Fault {
    Fault(line: line ?? number, message: message)
  }
}

/// Line of a lock file: an object of texts and numbers.
private struct LockfileLine {
  private var texts: [String: String] = [:]
  private var numbers: [String: Int64] = [:]
  private let number: Int

  @unsafe init(_ bytes: UnsafeRawBufferPointer, number: Int) throws(LockfileText.Fault) {
    self.number = number
    if unsafe readFast(bytes) { return }
    (texts, numbers) = ([:], [:])
    let reading = unsafe DocumentReader.read(Array(bytes), source: "line", syntax: .json)
    if let problem = reading.diagnostics.first(where: { $0.severity == .error }) {
      throw fault(problem.message)
    }
    guard let members = reading.node?.mapping else { throw fault("it is no JSON object") }
    for member in members {
      if let integer = member.value.integer {
        numbers[member.key] = integer
      } else if let text = member.value.text {
        texts[member.key] = text
      } else {
        throw fault("`\(member.key)` must be a text or a number")
      }
    }
  }

  /// Reads a line as this program writes it; false for any other, valid or not.
  @unsafe private mutating func readFast(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard var cursor = unsafe JSONCursor(bytes), cursor.accept(UInt8(ascii: "{")) else {
      return false
    }
    repeat {
      guard cursor.next() == UInt8(ascii: "\""), let key = cursor.string(),
        cursor.accept(UInt8(ascii: ":"))
      else { return false }
      let name = cursor.text(key)
      guard texts[name] == nil, numbers[name] == nil else { return false }
      if cursor.next() == UInt8(ascii: "\"") {
        guard let text = cursor.string() else { return false }
        texts[name] = cursor.text(text)
      } else {
        guard let number = cursor.wholeNumber() else { return false }
        numbers[name] = number
      }
    } while cursor.accept(UInt8(ascii: ","))
    return cursor.accept(UInt8(ascii: "}")) && cursor.next() == 0 && cursor.offset == cursor.count
  }

  subscript(key: String) -> String? { texts[key] }

  func text(_ key: String) throws(LockfileText.Fault) -> String {
    guard let text = texts[key], !text.isEmpty else { throw fault("`\(key)` is missing") }
    return text
  }

  func count(_ key: String) throws(LockfileText.Fault) -> Int64 {
    guard let count = numbers[key] else { throw fault("`\(key)` must be a number") }
    guard count >= 0 else { throw fault("`\(key)` is negative") }
    return count
  }

  func allow(_ keys: Set<String>) throws(LockfileText.Fault) {
    if let other = (Array(texts.keys) + numbers.keys).filter({ !keys.contains($0) }).sorted().first
    {
      throw fault("`\(other)` is no key of this line")
    }
  }

  private func fault(_ message: String) -> LockfileText.Fault {
    LockfileText.Fault(line: number, message: message)
  }
}
