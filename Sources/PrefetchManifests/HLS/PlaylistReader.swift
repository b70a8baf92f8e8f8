internal import PrefetchCore

@safe struct PlaylistReader {
  private var lines: TextLines
  private var master = MasterPlaylist()
  private var media = MediaPlaylist()
  private var kind: Level?
  private var pendingVariant: AttributeList?
  private var pending = MediaPlaylist.Segment(uri: "", line: 0)
  private var hasDuration = false
  private var pendingRange: (length: Int64, offset: Int64?)?
  /// End of the last byte range of each resource, where a range without an offset begins.
  private var rangeEnds: [String: Int64] = [:]
  private var currentKeys: [Int] = []
  private var currentMap: Int?
  private var variables: [String: String] = [:]
  private let imported: [String: String]
  private let query: String?
  private var number = 0

  private enum Level { case master, media }

  /// Largest number of segments, against hostile playlists.
  static let mostSegments = 100_000
  static let mostVariants = 10_000

  /// Parses a playlist, with the variables of its master playlist and the query of its own URL.
  static func read(
    _ bytes: RawSpan,
    importing imported: [String: String] = [:],
    query: String? = nil
  ) throws(Failure) -> Playlist {
    let result = unsafe bytes.withUnsafeBytes { raw -> Result<Playlist, Failure> in
      var reader = unsafe PlaylistReader(TextLines(raw), imported, query)
      do throws(Failure) {
        return .success(try reader.read())
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private init(_ lines: TextLines, _ imported: [String: String], _ query: String?) {
    self.lines = lines
    self.imported = imported
    self.query = query
  }

  private mutating func read() throws(Failure) -> Playlist {
    guard firstText() == "#EXTM3U" else {
      throw Failure(.manifestInvalid, "it does not begin with `#EXTM3U`")
    }
    while let line = lines.next() {
      number = line.number
      guard let text = lines.text(line.range)?.trimmedEnd else { throw fault("this is not UTF-8") }
      guard !text.isEmpty else { continue }
      if text.hasPrefix("#EXT") {
        try tag(text)
      } else if !text.hasPrefix("#") {
        try address(String(text))
      }
    }
    if let pendingVariant, !pendingVariant.attributes.isEmpty {
      throw fault("`#EXT-X-STREAM-INF` is not followed by a URI")
    }
    switch kind {
    case .master:
      master.variables = variables
      return .master(master)
    case .media, nil: return .media(media)
    }
  }

  private mutating func firstText() -> Substring? {
    while let line = lines.next(), let text = lines.text(line.range)?.trimmedEnd {
      let text = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
      if !text.isEmpty { return Substring(text) }
    }
    return nil
  }

  // MARK: Lines

  private mutating func address(_ written: String) throws(Failure) {
    let uri = try substituted(written)
    if let attributes = pendingVariant {
      pendingVariant = nil
      guard master.variants.count < Self.mostVariants else {
        throw fault("it has more than \(Self.mostVariants) variants")
      }
      return master.variants.append(
        MasterPlaylist.Variant(attributes: attributes, uri: uri, line: number)
      )
    }
    guard hasDuration else {
      throw fault("a URI is here without `#EXTINF` or `#EXT-X-STREAM-INF` before it")
    }
    guard media.segments.count < Self.mostSegments else {
      throw fault("it has more than \(Self.mostSegments) segments")
    }
    pending.uri = uri
    pending.line = number
    pending.keys = currentKeys
    pending.map = currentMap
    if let range = pendingRange {
      pending.range = try Self.range(range, after: rangeEnds[uri], fault)
      rangeEnds[uri] = pending.range?.upperBound
    }
    pending.number = media.firstNumber + Int64(media.segments.count)
    media.segments.append(pending)
    pending = MediaPlaylist.Segment(uri: "", line: 0)
    (pendingRange, hasDuration) = (nil, false)
  }

  private static func range(
    _ range: (length: Int64, offset: Int64?),
    after end: Int64?,
    _ fault: (String) -> Failure
  ) throws(Failure) -> Range<Int64> {
    guard let start = range.offset ?? end else {
      throw fault("a range without an offset follows no other one of the same URI")
    }
    let (stop, isTooFar) = start.addingReportingOverflow(range.length)
    guard !isTooFar, range.length > 0 else { throw fault("the range is not a range of a file") }
    return start..<stop
  }

  private mutating func tag(_ text: Substring) throws(Failure) {
    let colon = text.firstIndex(of: ":")
    let name = colon.map { text[..<$0] } ?? text
    let value = colon.map { text[text.index(after: $0)...] } ?? ""
    switch name {
    case "#EXTM3U": throw fault("`#EXTM3U` appears a second time")
    case "#EXT-X-VERSION":
      guard let version = Int(value), version > 0 else {
        throw fault("the version is not a number")
      }
      media.version = version
    case "#EXT-X-INDEPENDENT-SEGMENTS", "#EXT-X-START":
      master.heading.append(String(text))
      media.heading.append(String(text))
    case "#EXT-X-DEFINE": try define(try attributes(value))
    case "#EXT-X-STREAM-INF":
      try become(.master)
      let attributes = try attributes(value)
      guard attributes.integer("BANDWIDTH") != nil else {
        throw fault("`BANDWIDTH` is missing, or no number")
      }
      pendingVariant = attributes
    case "#EXT-X-MEDIA":
      try become(.master)
      guard master.renditions.count < Self.mostVariants else {
        throw fault("it has more than \(Self.mostVariants) renditions")
      }
      master.renditions.append(
        MasterPlaylist.Rendition(attributes: try attributes(value), line: number)
      )
    case "#EXT-X-I-FRAME-STREAM-INF", "#EXT-X-SESSION-DATA", "#EXT-X-SESSION-KEY",
      "#EXT-X-CONTENT-STEERING":
      try become(.master)
    case "#EXTINF", "#EXT-X-TARGETDURATION", "#EXT-X-MEDIA-SEQUENCE",
      "#EXT-X-DISCONTINUITY-SEQUENCE", "#EXT-X-PLAYLIST-TYPE", "#EXT-X-ENDLIST",
      "#EXT-X-BYTERANGE", "#EXT-X-KEY", "#EXT-X-MAP", "#EXT-X-GAP", "#EXT-X-DISCONTINUITY",
      "#EXT-X-PROGRAM-DATE-TIME", "#EXT-X-DATERANGE", "#EXT-X-BITRATE", "#EXT-X-I-FRAMES-ONLY":
      try become(.media)
      try mediaTag(name, value, text)
    default:
      // Low-latency tags and unknown tags do not matter to a copy.
      break
    }
  }

  private mutating func become(_ new: Level) throws(Failure) {
    if let kind, kind != new {
      throw fault("it has tags of a master playlist and of a media playlist, and can be one alone")
    }
    kind = new
  }

  private mutating func mediaTag(
    _ name: Substring,
    _ value: Substring,
    _ text: Substring
  ) throws(Failure) {
    switch name {
    case "#EXTINF":
      guard let seconds = Double(value.prefix { $0 != "," }.trimmedEnd), seconds >= 0,
        seconds < Self.longest
      else { throw fault("the duration is not a number of seconds") }
      pending.seconds = seconds
      hasDuration = true
      pending.lines.append(String(text))
    case "#EXT-X-TARGETDURATION": media.targetDuration = String(text)
    case "#EXT-X-MEDIA-SEQUENCE":
      guard let number = Int64(value), number >= 0, number < Int64.max / 2 else {
        throw fault("the sequence is not a number")
      }
      media.firstNumber = number
      for index in media.segments.indices { media.segments[index].number = number + Int64(index) }
    case "#EXT-X-DISCONTINUITY-SEQUENCE": media.discontinuity = String(text)
    case "#EXT-X-PLAYLIST-TYPE": if value == "VOD" { media.isEnded = true }
    case "#EXT-X-ENDLIST": media.isEnded = true
    case "#EXT-X-BYTERANGE": pendingRange = try byteRange(value)
    case "#EXT-X-KEY": try key(try attributes(value))
    case "#EXT-X-MAP": try map(try attributes(value))
    case "#EXT-X-GAP": pending.isMissing = true
    case "#EXT-X-I-FRAMES-ONLY": media.heading.append(String(text))
    default: pending.lines.append(String(text))
    }
    if name == "#EXT-X-GAP" { pending.lines.append(String(text)) }
  }

  private static let longest = 1e9

  private mutating func key(_ attributes: AttributeList) throws(Failure) {
    let key = MediaPlaylist.Key(attributes: attributes, line: number)
    guard !key.method.isEmpty else { throw fault("`METHOD` is missing") }
    currentKeys.removeAll { media.keys[$0].format == key.format }
    guard key.method != "NONE" else {
      currentKeys = []
      return
    }
    guard key.attributes["URI"] != nil else { throw fault("`URI` is missing") }
    media.keys.append(key)
    currentKeys.append(media.keys.count - 1)
  }

  private mutating func map(_ attributes: AttributeList) throws(Failure) {
    guard let uri = attributes["URI"] else { throw fault("`URI` is missing") }
    var range: Range<Int64>?
    if let text = attributes["BYTERANGE"] {
      range = try Self.range(try byteRange(Substring(text)), after: 0, fault)
    }
    let new = MediaPlaylist.Map(uri: uri, range: range, line: number, keys: currentKeys)
    media.maps.append(new)
    currentMap = media.maps.count - 1
  }

  private func byteRange(_ text: Substring) throws(Failure) -> (length: Int64, offset: Int64?) {
    let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    guard let length = parts.first.flatMap({ Int64($0) }), length >= 0 else {
      throw fault("the range is not a length, or a length, `@` and an offset")
    }
    guard parts.count == 2 else { return (length, nil) }
    guard let offset = Int64(parts[1]), offset >= 0 else {
      throw fault("the offset of the range is not a number")
    }
    return (length, offset)
  }

  // MARK: Variables

  private mutating func define(_ attributes: AttributeList) throws(Failure) {
    if let name = attributes["NAME"] {
      variables[name] = attributes["VALUE"] ?? ""
    } else if let name = attributes["IMPORT"] {
      guard let value = imported[name] else {
        throw fault("the variable `\(name.prefix(80))` is imported, and not defined")
      }
      variables[name] = value
    } else if let name = attributes["QUERYPARAM"] {
      let parts = (query ?? "").split(separator: "&").map { $0.split(separator: "=", maxSplits: 1) }
      guard let value = parts.first(where: { $0.first.map(String.init) == name })?.last else {
        throw fault("its URL has no parameter `\(name.prefix(80))`")
      }
      variables[name] = String(value)
    }
    guard variables.count <= Self.mostVariables else {
      throw fault("it defines too many variables")
    }
  }

  private static let mostVariables = 1_000

  private func attributes(_ text: Substring) throws(Failure) -> AttributeList {
    guard let list = AttributeList(text) else { throw fault("this is not a list of attributes") }
    guard !variables.isEmpty, text.contains("{$") else { return list }
    var replaced = list
    for attribute in list.attributes where attribute.isQuoted {
      replaced[attribute.name] = try substituted(attribute.value)
    }
    return replaced
  }

  private func substituted(_ text: String) throws(Failure) -> String {
    guard text.contains("{$") else { return text }
    var result = ""
    var rest = Substring(text)
    while let start = rest.firstRange(of: "{$") {
      result += rest[..<start.lowerBound]
      rest = rest[start.upperBound...]
      guard let end = rest.firstIndex(of: "}") else { throw fault("`{$` has no end") }
      guard let value = variables[String(rest[..<end])] else {
        throw fault("the variable `\(rest[..<end].prefix(80))` is not defined")
      }
      result += value
      rest = rest[rest.index(after: end)...]
      guard result.utf8.count <= WebURL.maximumLength else { throw fault("the URI is too long") }
    }
    return result + rest
  }

  private func fault(_ message: String) -> Failure {
    Failure(.manifestInvalid, "line \(number): \(message)")
  }
}

extension Substring {
  fileprivate var trimmedEnd: Substring {
    var text = self
    while let last = text.utf8.last, last == 0x20 || last == 0x09 { text = text.dropLast() }
    return text
  }
}

extension String {
  fileprivate var trimmedEnd: Substring { self[...].trimmedEnd }
}
