internal import PrefetchCore
internal import PrefetchDocuments

/// Plans which files of an ad are requested, from the responses of its chain of ad servers.
struct AdLayout {
  private struct Found {
    var ad: Ad
    var inline: InlineAd
    var ladder: MediaLadder
    var base: WebURL
    var document: BundleContent
  }

  private let rules: BundleRules
  private let documents: [BundleContent]
  private var tagCount = 1
  private(set) var reading = BundleReading()

  init(_ documents: [BundleContent], _ rules: BundleRules) throws(Failure) {
    self.rules = rules
    self.documents = documents
    guard let root = documents.first else {
      throw Failure(.internal, "an ad was read before its tag came")
    }
    guard let found = try resolve(root, visited: [root.url.string], hops: 0, mayBePod: true) else {
      return
    }
    guard !found.isEmpty else {
      let isChain = tagCount > 1
      throw Failure(
        .empty,
        isChain ? "no server of its chain has an ad" : "the ad server has no ad",
        vast: isChain ? 303 : nil
      )
    }
    var described: [JSONValue] = []
    for (number, ad) in found.prefix(Self.mostShown).enumerated() {
      guard let text = try addAd(ad, as: number) else { continue }
      described.append(text)
    }
    if !reading.documents.isEmpty {
      let missing = reading.documents
      reading = BundleReading()
      reading.documents = missing
      return
    }
    let text: JSONValue = ["schema": "prefetch-ad/1", "ads": .array(described)]
    reading.texts.append(
      BundleText(
        name: "\(rules.stem).json",
        bytes: Array((JSONWriter.string(text, form: .pretty) + "\n").utf8),
        mime: "application/json"
      )
    )
  }

  private static let mostHops = 5
  private static let maximumTags = 20
  private static let mostShown = 50

  // MARK: The chain

  /// Returns the ads behind a response; nil until the next response of the chain is known.
  private mutating func resolve(
    _ document: BundleContent,
    visited: [String],
    hops: Int,
    mayBePod: Bool
  ) throws(Failure) -> [Found]? {
    let parsed = try AdReader.read(document, includingExtensions: rules.includesExtensions)
    let pod = parsed.ads.filter { $0.sequence != nil }.enumerated()
      .sorted { ($0.element.sequence ?? 0, $0.offset) < ($1.element.sequence ?? 0, $1.offset) }
      .map(\.element)
    let isPod = mayBePod && !pod.isEmpty
    var found: [Found] = []
    var objection: Failure?
    for ad in isPod ? pod : parsed.ads {
      switch ad.content {
      case .inline(let inline):
        let ladder = MediaLadder(inline.media, rules)
        if ladder.steps.isEmpty, ladder.streams.isEmpty {
          objection = objection ?? Self.unplayable(ad, ladder, in: document)
        } else {
          found.append(
            Found(ad: ad, inline: inline, ladder: ladder, base: document.base, document: document)
          )
        }
      case .wrapper(let wrapper):
        do throws(Failure) {
          let behind = try follow(wrapper, in: document, visited: visited, hops: hops)
          guard let behind else { return nil }
          found += behind
        } catch {
          // Another ad of the pod or waterfall may still work.
          objection = objection ?? error
        }
      }
      if !isPod, !found.isEmpty { break }
    }
    if found.isEmpty, let objection { throw objection }
    return found
  }

  private static func unplayable(
    _ ad: Ad,
    _ ladder: MediaLadder,
    in document: BundleContent
  ) -> Failure {
    var seen: Set<String> = []
    let reasons = ladder.objections.filter { seen.insert($0).inserted }.prefix(5)
    let name = ad.id.map { " `\($0.prefix(80))`" } ?? ""
    let why = reasons.isEmpty ? "it names none" : reasons.joined(separator: "; ")
    return Failure(
      .unsupported,
      "`\(document.url.redacted)`: the ad\(name) has no media file to keep: \(why)",
      vast: 403
    )
  }

  private mutating func follow(
    _ wrapper: AdWrapper,
    in document: BundleContent,
    visited: [String],
    hops: Int
  ) throws(Failure) -> [Found]? {
    let written = try Self.resolve(wrapper.tag, in: document)
    guard !visited.contains(written.string) else {
      throw Failure(
        .redirectLimit,
        "`\(document.url.redacted)`: its ad tags come back to `\(written.redacted)`",
        vast: 302
      )
    }
    guard hops < Self.mostHops else {
      throw Failure(
        .redirectLimit,
        "more than \(Self.mostHops) ad tags wrap each other, up to `\(written.redacted)`",
        vast: 302
      )
    }
    guard tagCount < Self.maximumTags else {
      throw Failure(
        .redirectLimit,
        "its ad tags name more than \(Self.maximumTags) others, up to `\(written.redacted)`",
        vast: 302
      )
    }
    let index = tagCount
    tagCount += 1
    guard index < documents.count else {
      let url = try Self.resolve(
        AdLink(text: rules.moment.filling(wrapper.tag.text), byte: wrapper.tag.byte),
        in: document
      )
      reading.documents = [BundleRequest(url: url, alternates: [], type: "vast")]
      return nil
    }
    // An ad is dropped when a wrapper follows although the previous one forbids that.
    if !wrapper.mayFollowWrappers {
      let next = try AdReader.read(documents[index], includingExtensions: false)
      let isWrapper = next.ads.contains { ad in
        if case .wrapper = ad.content { true } else { false }
      }
      if isWrapper { return [] }
    }
    guard
      var found = try resolve(
        documents[index],
        visited: visited + [written.string],
        hops: hops + 1,
        mayBePod: wrapper.mayBePod
      )
    else { return nil }
    for index in found.indices {
      let own = Set(found[index].inline.extras.map(\.kind))
      found[index].inline.extras += wrapper.extras.filter { !own.contains($0.kind) }
        .map { extra in
          var extra = extra
          if case .link(var link) = extra.source,
            let url = try? document.base.resolving(link.text)
          {
            link.text = url.string
            extra.source = .link(link)
          }
          return extra
        }
    }
    return found
  }

  private static func resolve(
    _ link: AdLink,
    in document: BundleContent
  ) throws(Failure) -> WebURL {
    do throws(WebURL.Fault) {
      return try document.base.resolving(link.text)
    } catch {
      let location = AdReader.location(of: link.byte, in: document.bytes)
      throw Failure(
        .badURL,
        "`\(document.url.redacted)`, \(location): the address \(error.description)"
      )
    }
  }

  // MARK: Files

  /// Adds an ad's files and returns its description for players; nil while a playlist is missing.
  private mutating func addAd(_ found: Found, as number: Int) throws(Failure) -> JSONValue? {
    // The suffix's dot keeps the names of different ads apart.
    let stem = number == 0 ? rules.stem : "\(rules.stem).\(number + 1)"
    let facts: [(String, JSONValue?)] = [
      ("id", found.ad.id.map { .string($0) }),
      ("sequence", found.ad.sequence.map { .integer(Int64($0)) }),
      ("system", found.inline.system.map { .string($0) }),
      ("system_version", found.inline.systemVersion.map { .string($0) }),
      ("title", found.inline.title.map { .string($0) }),
      ("universal_ad_id", found.inline.universalID.map { .string($0) }),
      ("duration", found.inline.seconds.map { .double($0) }),
      ("click_through", found.inline.clickThrough.map { .string($0) }),
    ]
    var ad: [(String, JSONValue)] = facts.compactMap { key, value in value.map { (key, $0) } }
    if !found.inline.extensions.isEmpty {
      ad.append(("extensions", .object(found.inline.extensions.map { ($0, .string($1)) })))
    }
    let medium: AdMedium
    let name: String
    if found.ladder.steps.isEmpty {
      medium = found.ladder.streams[0]
      guard let main = try addStream(medium, of: found, stem: stem, isFirst: number == 0) else {
        return nil
      }
      name = main
      reading.seconds += found.inline.seconds ?? 0
    } else {
      let index = try choose(found)
      medium = found.ladder.steps[index]
      if found.ladder.steps.count > 1 { reading.hasChoice = true }
      let url = try Self.resolve(medium.link, in: found.document)
      name = addFile(url, .media, named: stem, suffix: Self.suffix(medium.type, url) ?? "mp4")
      if number == 0 { reading.mainPiece = reading.pieces.firstIndex { $0.name == name } }
      reading.seconds += found.inline.seconds ?? 0
    }
    ad.append(("media", Self.described(medium, name: name)))
    if found.ladder.steps.count > 1 { ad.append(("variants", try variants(of: found))) }
    for kind in AdExtra.Purpose.allCases {
      let extras = try addExtras(
        found.inline.extras.filter { $0.kind == kind },
        of: found,
        stem: stem
      )
      if !extras.isEmpty { ad.append(("\(kind.rawValue)s", .array(extras))) }
    }
    return .object(ad)
  }

  /// Returns the encoding to store; without a configured quality a stored encoding of the ad stays.
  private func choose(_ found: Found) throws(Failure) -> Int {
    let steps = found.ladder.steps
    if rules.heldQuality != nil {
      for index in steps.indices.reversed() {
        guard let url = try? found.base.resolving(steps[index].link.text) else { continue }
        if rules.held.contains(rules.key(of: url)) { return index }
      }
    }
    return (rules.quality ?? .low).index(among: steps.count)
  }

  private func variants(of found: Found) throws(Failure) -> JSONValue {
    let steps = found.ladder.steps
    var variants: [(String, JSONValue)] = []
    for quality in BundleRules.Quality.allCases {
      let step = steps[quality.index(among: steps.count)]
      let url = try Self.resolve(step.link, in: found.document)
      variants.append((quality.rawValue, Self.described(step, url: url)))
    }
    return .object(variants)
  }

  private static func described(
    _ medium: AdMedium,
    name: String? = nil,
    url: WebURL? = nil
  ) -> JSONValue {
    var members: [(String, JSONValue)] = []
    if let name { members.append(("file", .string(name))) }
    if let url { members.append(("url", .string(url.string))) }
    if let type = medium.type { members.append(("type", .string(type))) }
    for (key, value) in [
      ("bitrate", medium.bitrate), ("width", medium.width), ("height", medium.height),
    ] {
      if let value { members.append((key, .integer(value))) }
    }
    return .object(members)
  }

  /// Adds a stream's pieces; returns the playlist to open, nil while a playlist is missing.
  private mutating func addStream(
    _ medium: AdMedium,
    of found: Found,
    stem: String,
    isFirst: Bool
  ) throws(Failure) -> String? {
    let url = try Self.resolve(medium.link, in: found.document)
    let rest = documents.dropFirst(tagCount)
    guard let root = rest.first(where: { $0.url == url }) else {
      reading.documents.append(BundleRequest(url: url, alternates: [], type: "hls"))
      return nil
    }
    var rules = rules
    if let quality = rules.heldQuality, rules.held.contains(rules.key(of: url)) {
      rules.quality = quality
    }
    let name = "\(stem).m3u8"
    let others = rest.filter { $0.url != url }
    let layout = try StreamLayout([root] + others, rules, named: name, below: "\(stem).")
    guard layout.missing.isEmpty else {
      reading.documents += layout.missing
      return nil
    }
    reading.pieces += layout.pieces
    reading.texts.insert(contentsOf: try layout.texts(), at: isFirst ? 0 : reading.texts.count)
    reading.isPartial = reading.isPartial || layout.isPartial
    reading.hasChoice = reading.hasChoice || layout.hasChoice
    if let bytes = layout.expectedBytes {
      reading.expectedBytes = (reading.expectedBytes ?? 0).addingSaturated(bytes)
    }
    return name
  }

  private mutating func addExtras(
    _ extras: [AdExtra],
    of found: Found,
    stem: String
  ) throws(Failure) -> [JSONValue] {
    var described: [JSONValue] = []
    for extra in extras.prefix(Self.mostExtras) {
      let stem = "\(stem).\(extra.kind.rawValue)\(described.count + 1)"
      let name: String
      switch extra.source {
      case .leftOut:
        reading.htmlCards += 1
        continue
      case .page(let text): name = addPage(text, named: stem)
      case .link(let link):
        // A picture with an unusable address does not fail the ad.
        guard link.macro == nil, let url = try? found.base.resolving(link.text),
          !rules.leftOut.contains(rules.key(of: url))
        else { continue }
        let suffix = Self.suffix(extra.type, url) ?? (extra.kind == .caption ? "vtt" : "bin")
        let isText = extra.kind == .caption
        name = addFile(url, .extra, named: stem, suffix: suffix, isText: isText, extra.type)
      }
      described.append(.object([("file", .string(name))] + extra.facts))
    }
    return described
  }

  private mutating func addPage(_ page: String, named stem: String) -> String {
    let bytes = Array(page.utf8)
    if let known = reading.texts.first(where: { $0.mime == Self.pageType && $0.bytes == bytes }) {
      return known.name
    }
    let text = BundleText(name: "\(stem).html", bytes: bytes, mime: Self.pageType)
    reading.texts.append(text)
    return text.name
  }

  private static let pageType = "text/html"

  private static let mostExtras = 20

  private mutating func addFile(
    _ url: WebURL,
    _ role: BundleFile.Role,
    named stem: String,
    suffix: String,
    isText: Bool = false,
    _ type: String? = nil
  ) -> String {
    let key = rules.key(of: url)
    if let known = reading.pieces.first(where: { rules.key(of: $0.url) == key }) {
      return known.name
    }
    // The ads' common description has the ending `json`.
    let suffix = suffix == "json" && role == .media ? "mp4" : suffix
    var piece = BundlePiece(url: url, role: role, name: "\(stem).\(suffix)")
    if isText { piece.type = nil }
    if type == Self.pageType { piece.type = "page" }
    reading.pieces.append(piece)
    return piece.name
  }

  private static func suffix(_ type: String?, _ url: WebURL) -> String? {
    switch type {
    case "video/mp4": "mp4"
    case "video/webm": "webm"
    case "video/quicktime": "mov"
    case "video/ogg": "ogv"
    case "video/3gpp": "3gp"
    case "image/jpeg", "image/jpg": "jpg"
    case "image/png": "png"
    case "image/gif": "gif"
    case "image/webp": "webp"
    case "image/svg+xml": "svg"
    case "text/html": "html"
    case "text/vtt": "vtt"
    case "text/srt", "application/x-subrip": "srt"
    case "application/ttml+xml": "ttml"
    default: BundleName.suffix(of: url)
    }
  }
}
