internal import PrefetchCore

/// Plans which pieces of an HLS stream are requested and writes the playlists of the copy.
struct StreamLayout {
  private struct Stream {
    var url: WebURL
    var alternates: [WebURL]
    var name: String
    var folder: String
    var rendition: MasterPlaylist.Rendition?
    var base: WebURL?
    var playlist = MediaPlaylist()
    var count = 0
    /// Whether stored pieces belong to this edition of the playlist.
    var isContinued = true
  }

  /// Facts of a segment that decide whether two playlist editions continue each other.
  private struct Entry: Hashable {
    var piece: String
    var range: Range<Int64>?
    var seconds: Double
    var key: String?
    var map: String?
    var mapRange: Range<Int64>?
  }

  private struct Resource {
    var piece: BundlePiece
    var isRanged: Bool
  }

  private let rules: BundleRules
  private let prefix: String
  private var master: (choice: StreamChoice, heading: [String], name: String)?
  private var streams: [Stream] = []
  private(set) var missing: [BundleRequest] = []
  private var resources: [String: Resource] = [:]
  private var order: [String] = []
  private var counts: [String: Int] = [:]
  private(set) var isPartial = false

  /// Lays out a stream; `name` is the playlist opened first, `prefix` begins all other names.
  init(
    _ documents: [BundleContent],
    _ rules: BundleRules,
    named name: String? = nil,
    below prefix: String = ""
  ) throws(Failure) {
    self.rules = rules
    self.prefix = prefix
    guard let root = documents.first else {
      throw Failure(.internal, "a stream was read before its playlist came")
    }
    let name = name ?? BundleName.main(of: root.url)
    switch try Self.parse(root) {
    case .media(let playlist):
      streams = [
        Stream(url: root.url, alternates: [], name: name, folder: "\(prefix)v1", base: root.base)
      ]
      streams[0].playlist = playlist
      streams[0].isContinued = continues(root, playlist)
    case .master(let master):
      let choice = try StreamChoice(of: master, rules) { variant in
        try? Self.resolve(variant.uri, root, line: variant.line)
      }
      self.master = (choice, master.heading, name)
      try plan(choice, in: root)
      try fill(documents, importing: master.variables)
    }
    guard missing.isEmpty else { return }
    var end = rules.seconds > 0 ? Double(rules.seconds) : .infinity
    if let shown = rules.shown {
      for stream in streams { end = min(end, try seconds(of: stream, in: shown)) }
      guard end > 0 else { throw Failure(.empty, "nothing of its beginning is stored") }
    }
    for index in streams.indices { try addStream(index, until: end) }
  }

  private static func parse(
    _ document: BundleContent,
    importing variables: [String: String] = [:]
  ) throws(Failure) -> Playlist {
    do throws(Failure) {
      return try unsafe PlaylistReader.read(
        document.bytes.span.bytes,
        importing: variables,
        query: document.base.query
      )
    } catch {
      throw Failure(error.code, "`\(document.url.redacted)`: \(error.message)")
    }
  }

  // MARK: Playlists

  private mutating func plan(_ choice: StreamChoice, in root: BundleContent) throws(Failure) {
    var urls: [WebURL] = []
    for variant in [choice.variant] + choice.redundant {
      urls.append(try Self.resolve(variant.uri, root, line: variant.line))
    }
    let reserved = master?.name
    let name = { [prefix] (text: String) in
      prefix + (text == reserved ? "stream-\(text)" : text)
    }
    streams.append(
      Stream(
        url: urls[0],
        alternates: Array(urls.dropFirst()),
        name: name("v1.m3u8"),
        folder: "\(prefix)v1"
      )
    )
    var counts: [String: Int] = [:]
    for rendition in choice.renditions {
      guard let uri = rendition.uri else { continue }
      let letter = rendition.type == "AUDIO" ? "a" : "s"
      counts[letter, default: 0] += 1
      let folder = "\(letter)\(counts[letter] ?? 0)"
      streams.append(
        Stream(
          url: try Self.resolve(uri, root, line: rendition.line),
          alternates: [],
          name: name("\(folder).m3u8"),
          folder: prefix + folder,
          rendition: rendition
        )
      )
    }
    for stream in streams where stream.url == root.url || stream.url == root.base {
      throw Failure(.unsupported, "its playlist `\(stream.url.redacted)` comes back to itself")
    }
  }

  private mutating func fill(
    _ documents: [BundleContent],
    importing variables: [String: String]
  ) throws(Failure) {
    for index in streams.indices {
      let url = streams[index].url
      guard let document = documents.dropFirst().first(where: { $0.url == url }) else {
        if !missing.contains(where: { $0.url == url }) {
          missing.append(
            BundleRequest(url: url, alternates: streams[index].alternates, type: "hls")
          )
        }
        continue
      }
      guard case .media(let playlist) = try Self.parse(document, importing: variables) else {
        throw Failure(.unsupported, "`\(url.redacted)` is a master playlist, named by another one")
      }
      streams[index].playlist = playlist
      streams[index].base = document.base
      streams[index].isContinued = continues(document, playlist, importing: variables)
    }
  }

  // MARK: Editions

  /// Returns whether the playlist continues the stored editions; a new encoding may reuse names.
  private func continues(
    _ document: BundleContent,
    _ playlist: MediaPlaylist,
    importing variables: [String: String] = [:]
  ) -> Bool {
    guard !document.earlier.isEmpty else { return true }
    let entries = entries(of: playlist, in: document)
    return document.earlier.allSatisfy { bytes in
      guard let bytes else { return false }
      let old = BundleContent(url: document.url, base: document.base, bytes: bytes)
      guard case .media(let earlier)? = try? Self.parse(old, importing: variables) else {
        return false
      }
      return entries.starts(with: self.entries(of: earlier, in: old))
    }
  }

  private func entries(of playlist: MediaPlaylist, in document: BundleContent) -> [Entry] {
    // An invalid address fails the item elsewhere.
    let known = { [rules] (uri: String) in
      (try? document.base.resolving(uri)).map(rules.key) ?? uri
    }
    return playlist.segments.map { segment in
      let keys = segment.keys.map { index in
        let attributes = playlist.keys[index].attributes
        return [known(attributes["URI"] ?? ""), attributes["IV"] ?? ""].joined(separator: " ")
      }
      let map = segment.map.map { playlist.maps[$0] }
      return Entry(
        piece: segment.isMissing ? "" : known(segment.uri),
        range: segment.range,
        seconds: segment.seconds,
        key: keys.isEmpty ? nil : keys.joined(separator: " "),
        map: map.map { known($0.uri) },
        mapRange: map?.range
      )
    }
  }

  // MARK: Pieces

  private func seconds(of stream: Stream, in shown: Set<String>) throws(Failure) -> Double {
    guard let base = stream.base else { return 0 }
    let content = BundleContent(url: stream.url, base: base, bytes: [])
    let isShown = { [rules] (uri: String, line: Int) throws(Failure) in
      shown.contains(rules.key(of: try Self.resolve(uri, content, line: line)))
    }
    var seconds = 0.0
    for segment in stream.playlist.segments {
      if let map = segment.map.map({ stream.playlist.maps[$0] }), try !isShown(map.uri, map.line) {
        break
      }
      if rules.storesKeys, let key = try key(of: segment, in: stream.playlist, stream.url),
        try !isShown(key.attributes["URI"] ?? "", key.line)
      {
        break
      }
      if !segment.isMissing, try !isShown(segment.uri, segment.line) { break }
      seconds += segment.seconds
    }
    return seconds
  }

  private mutating func addStream(_ index: Int, until end: Double) throws(Failure) {
    let stream = streams[index]
    let playlist = stream.playlist
    guard let base = stream.base else { return }
    let content = BundleContent(url: stream.url, base: base, bytes: [])
    guard !playlist.segments.isEmpty else {
      throw Failure(.manifestInvalid, "`\(stream.url.redacted)` names no segment")
    }
    guard playlist.isEnded || rules.acceptsLive else {
      throw Failure(
        .live,
        "`\(stream.url.redacted)` has no end: it is live, and `live: snapshot` takes what there is now"
      )
    }
    var before = 0.0
    let count = playlist.segments.prefix { segment in
      defer { before += segment.seconds }
      return before < end
    }.count
    streams[index].count = count
    if count < playlist.segments.count { isPartial = true }
    for segment in playlist.segments.prefix(count) {
      if let key = try key(of: segment, in: playlist, stream.url), rules.storesKeys {
        let url = try Self.resolve(key.attributes["URI"] ?? "", content, line: key.line)
        add(url, .key, of: stream, folder: "\(prefix)keys", suffix: "key", range: nil)
      }
      if let map = segment.map.map({ playlist.maps[$0] }) {
        let url = try Self.resolve(map.uri, content, line: map.line)
        add(
          url,
          .media,
          of: stream,
          folder: stream.folder,
          prefix: "init",
          suffix: "mp4",
          range: map.range,
          isEncrypted: !map.keys.isEmpty
        )
      }
      guard !segment.isMissing else { continue }
      let url = try Self.resolve(segment.uri, content, line: segment.line)
      add(
        url,
        .media,
        of: stream,
        folder: stream.folder,
        suffix: "ts",
        range: segment.range,
        isEncrypted: !segment.keys.isEmpty
      )
      mirror(url, of: stream)
    }
    guard resources.count <= PlaylistReader.mostSegments else {
      throw Failure(.manifestInvalid, "it names more than \(PlaylistReader.mostSegments) files")
    }
  }

  private func key(
    of segment: MediaPlaylist.Segment,
    in playlist: MediaPlaylist,
    _ url: WebURL
  ) throws(Failure) -> MediaPlaylist.Key? {
    let keys = segment.keys.map { playlist.keys[$0] }
    guard let first = keys.first else { return nil }
    let usable = keys.first { $0.method == "AES-128" && $0.format == "identity" }
    guard let usable, usable.attributes["URI"]?.lowercased().hasPrefix("skd:") != true else {
      let format = first.format == "identity" ? "" : " for `\(first.format.prefix(80))`"
      throw Failure(
        .drm,
        "`\(url.redacted)`, line \(first.line): it is encrypted by \(first.method.prefix(40))\(format)"
          + ", so no copy can be played"
      )
    }
    return usable
  }

  private mutating func add(
    _ url: WebURL,
    _ role: BundleFile.Role,
    of stream: Stream,
    folder: String,
    prefix: String = "",
    suffix: String,
    range: Range<Int64>?,
    isEncrypted: Bool = false
  ) {
    let key = rules.key(of: url)
    if var known = resources[key] {
      known.isRanged = known.isRanged && range != nil
      if range != nil { known.piece.isRanged = true }
      if isEncrypted { known.piece.isEncrypted = true }
      if !stream.isContinued { known.piece.isInDoubt = true }
      known.piece.needed = max(known.piece.needed ?? 0, range?.upperBound ?? 0)
      resources[key] = known
      return
    }
    let counter = "\(folder)/\(prefix)"
    counts[counter, default: 0] += 1
    let digits = String(counts[counter] ?? 0)
    let zeros = String(repeating: "0", count: max(0, (prefix.isEmpty ? 6 : 1) - digits.utf8.count))
    let fileSuffix = role == .key ? suffix : BundleName.suffix(of: url) ?? suffix
    var piece = BundlePiece(url: url, role: role, name: "\(counter)\(zeros)\(digits).\(fileSuffix)")
    piece.needed = range?.upperBound
    piece.isRanged = range != nil
    piece.isEncrypted = isEncrypted
    piece.isInDoubt = !stream.isContinued
    resources[key] = Resource(piece: piece, isRanged: range != nil)
    order.append(key)
  }

  /// Adds the piece's URLs on other servers that offer the same stream under the same names.
  private mutating func mirror(_ url: WebURL, of stream: Stream) {
    guard !stream.alternates.isEmpty else { return }
    resources[rules.key(of: url)]?.piece.alternates = AlternateSources.urls(
      of: url,
      named: [],
      base: stream.url,
      servers: stream.alternates
    )
  }

  var pieces: [BundlePiece] {
    order.compactMap { key in
      guard var resource = resources[key] else { return nil }
      if resource.isRanged, isPartial { resource.piece.prefix = resource.piece.needed }
      return resource.piece
    }
  }

  var seconds: Double {
    guard let stream = streams.first else { return 0 }
    return stream.playlist.segments.prefix(stream.count).reduce(0) { $0 + $1.seconds }
  }

  var hasChoice: Bool {
    master.map { $0.choice.hasChoice } ?? false
  }

  var quality: BundleRules.Quality? {
    master?.choice.quality
  }

  var automaticChoice: AutomaticVariant.Choice? {
    master?.choice.automatic
  }

  var expectedBytes: Int64? {
    guard let bitrate = master?.choice.variant.bitrate, bitrate > 0 else { return nil }
    let bytes = Double(bitrate) / 8 * seconds
    return bytes < 1e18 ? Int64(bytes) : nil
  }

  // MARK: Copies for players

  /// Returns the playlists of the copy, beginning with the playlist that players open.
  func texts() throws(Failure) -> [BundleText] {
    var texts: [BundleText] = []
    if let master {
      texts.append(Self.text(master.name, masterLines(master.choice, master.heading)))
    }
    for stream in streams {
      texts.append(Self.text(stream.name, try lines(of: stream)))
    }
    return texts
  }

  private static func text(_ name: String, _ lines: [String]) -> BundleText {
    BundleText(
      name: name,
      bytes: Array((lines.joined(separator: "\n") + "\n").utf8),
      mime: BundleText.playlistType
    )
  }

  private func masterLines(_ choice: StreamChoice, _ heading: [String]) -> [String] {
    var lines = ["#EXTM3U", "#EXT-X-VERSION:6"] + heading
    for rendition in choice.renditions {
      var attributes = rendition.attributes
      if rendition.uri != nil {
        let stream = streams.first { $0.rendition?.line == rendition.line }
        attributes["URI"] = stream?.name
      }
      lines.append("#EXT-X-MEDIA:\(attributes.text)")
    }
    var attributes = choice.variant.attributes
    for group in ["AUDIO", "SUBTITLES", "VIDEO"]
    where !choice.renditions.contains(where: { $0.type == group }) {
      attributes[group] = nil
    }
    // Embedded captions need no file; the renditions that describe them are not part of the copy.
    attributes["CLOSED-CAPTIONS"] = nil
    for name in ["PATHWAY-ID", "STABLE-VARIANT-ID"] { attributes[name] = nil }
    lines.append("#EXT-X-STREAM-INF:\(attributes.text)")
    lines.append(streams[0].name)
    return lines
  }

  private func lines(of stream: Stream) throws(Failure) -> [String] {
    guard let base = stream.base else { return [] }
    let content = BundleContent(url: stream.url, base: base, bytes: [])
    let playlist = stream.playlist
    let version = max(playlist.version, playlist.maps.isEmpty ? 4 : 6)
    var lines = ["#EXTM3U", "#EXT-X-VERSION:\(version)"] + playlist.heading
    lines.append(playlist.targetDuration ?? "#EXT-X-TARGETDURATION:\(Self.longest(playlist))")
    lines.append("#EXT-X-MEDIA-SEQUENCE:\(playlist.firstNumber)")
    if let discontinuity = playlist.discontinuity { lines.append(discontinuity) }
    lines.append("#EXT-X-PLAYLIST-TYPE:VOD")
    var lastKey: String?
    var lastMap: String?
    for segment in playlist.segments.prefix(stream.count) {
      let key = try keyLine(of: segment, in: playlist, content)
      if key != lastKey {
        lines.append(key ?? "#EXT-X-KEY:METHOD=NONE")
        lastKey = key
      }
      if let map = segment.map.map({ playlist.maps[$0] }) {
        var line = "#EXT-X-MAP:URI=\"\(try name(map.uri, content, map.line))\""
        if let range = map.range { line += ",BYTERANGE=\"\(range.count)@\(range.lowerBound)\"" }
        if line != lastMap { lines.append(line) }
        lastMap = line
      }
      lines += segment.lines
      if let range = segment.range {
        lines.append("#EXT-X-BYTERANGE:\(range.count)@\(range.lowerBound)")
      }
      lines.append(segment.isMissing ? "gap" : try name(segment.uri, content, segment.line))
    }
    lines.append("#EXT-X-ENDLIST")
    return lines
  }

  private static func longest(_ playlist: MediaPlaylist) -> Int {
    Int((playlist.segments.map(\.seconds).max() ?? 0).rounded(.up))
  }

  /// Returns the key's tag with the segment's original number, which the shortened copy lacks.
  private func keyLine(
    of segment: MediaPlaylist.Segment,
    in playlist: MediaPlaylist,
    _ content: BundleContent
  ) throws(Failure) -> String? {
    guard let key = try key(of: segment, in: playlist, content.url) else { return nil }
    var attributes = key.attributes
    let uri = attributes["URI"] ?? ""
    let url = try Self.resolve(uri, content, line: key.line)
    attributes["URI"] = rules.storesKeys ? try name(uri, content, key.line) : url.string
    if attributes["IV"] == nil {
      let digits = String(segment.number, radix: 16)
      let zeros = String(repeating: "0", count: max(0, 32 - digits.utf8.count))
      attributes.set(word: "0x\(zeros)\(digits)", for: "IV")
    }
    return "#EXT-X-KEY:\(attributes.text)"
  }

  private func name(_ uri: String, _ content: BundleContent, _ line: Int) throws(Failure) -> String
  {
    let url = try Self.resolve(uri, content, line: line)
    return resources[rules.key(of: url)]?.piece.name ?? url.string
  }

  // MARK: Addresses

  private static func resolve(
    _ uri: String,
    _ document: BundleContent,
    line: Int
  ) throws(Failure) -> WebURL {
    do throws(WebURL.Fault) {
      return try document.base.resolving(uri)
    } catch {
      throw Failure(
        .badURL,
        "`\(document.url.redacted)`, line \(line): the address of a part \(error.description)"
      )
    }
  }
}
