internal import PrefetchCore

/// Chosen variant of a master playlist, with its audio and subtitle renditions.
struct StreamChoice {
  var variant: MasterPlaylist.Variant
  var redundant: [MasterPlaylist.Variant]
  var renditions: [MasterPlaylist.Rendition]
  var hasChoice: Bool
  var quality: BundleRules.Quality?
  var automatic: AutomaticVariant.Choice?

  /// Chooses the variant and renditions; `locate` returns nil for an invalid address.
  init(
    of master: MasterPlaylist,
    _ rules: BundleRules,
    locate: (MasterPlaylist.Variant) -> WebURL?
  ) throws(Failure) {
    let all = master.variants
    guard !all.isEmpty else { throw Failure(.manifestInvalid, "it names no variant") }
    let seen = all.filter { !$0.isSoundOnly }
    let fitting = (seen.isEmpty ? all : seen).filter { Self.fits($0, rules) }
    guard !fitting.isEmpty else {
      throw Failure(
        .unsupported,
        "none of its \(CountedNoun("variant").text(all.count)) is within \(Self.limits(rules)); the least takes "
          + "\(all.map(\.bitrate).min() ?? 0) bits a second"
      )
    }
    var ladder: [[MasterPlaylist.Variant]] = []
    for (_, variant) in fitting.enumerated().sorted(by: {
      ($0.element.bitrate, $0.offset) < ($1.element.bitrate, $1.offset)
    }) {
      if let last = ladder.last?.first, Self.isSame(last, variant) {
        ladder[ladder.count - 1].append(variant)
      } else {
        ladder.append([variant])
      }
    }
    if rules.quality == nil, let facts = rules.automatic {
      automatic = facts.choice(
        among: ladder.map { Self.step($0, facts, key: rules.key, locate: locate) }
      )
    }
    let locked = ladder.firstIndex { step in
      step.contains { variant in locate(variant).map(rules.isLocked) ?? false }
    }
    let index = locked ?? automatic?.index ?? (rules.quality ?? .low).index(among: ladder.count)
    let step = ladder[index]
    let qualities = BundleRules.Quality.allCases
    quality = rules.quality ?? qualities.last { $0.index(among: ladder.count) <= index }
    variant = step[0]
    hasChoice = ladder.count > 1
    redundant = Array(step.dropFirst().prefix(Self.mostRedundant))
    renditions =
      Self.chosen(master, "AUDIO", of: step[0], rules.languages)
      + Self.chosen(master, "SUBTITLES", of: step[0], rules.languages)
  }

  private static let mostRedundant = 8

  private static func step(
    _ variants: [MasterPlaylist.Variant],
    _ facts: AutomaticVariant,
    key: (WebURL) -> String,
    locate: (MasterPlaylist.Variant) -> WebURL?
  ) -> AutomaticVariant.Step {
    let urls = variants.map(locate)
    let keys = urls.compactMap { $0.map(key) }
    let rate = urls.first.flatMap { $0 }.flatMap { facts.rates[$0.authority] }
    return AutomaticVariant.Step(
      bitrate: variants[0].bitrate,
      rate: rate.map { min($0, .max / 8) * 8 },
      isHeld: keys.contains { facts.held.contains($0) },
      isBegun: keys.contains { facts.begun.contains($0) }
    )
  }

  private static func fits(_ variant: MasterPlaylist.Variant, _ rules: BundleRules) -> Bool {
    if let limit = rules.maximumBitrate, variant.bitrate > limit { return false }
    if let limit = rules.maximumHeight, let height = variant.height, height > limit { return false }
    guard !rules.codecs.isEmpty else { return true }
    return variant.codecs.allSatisfy { codec in rules.codecs.contains { codec.hasPrefix($0) } }
  }

  private static func limits(_ rules: BundleRules) -> String {
    [
      rules.maximumBitrate.map { "`max_bitrate` (\($0))" },
      rules.maximumHeight.map { "`max_height` (\($0))" },
      rules.codecs.isEmpty ? nil : "`codecs`",
    ]
    .compactMap(\.self).joined(separator: ", ")
  }

  private static func isSame(_ a: MasterPlaylist.Variant, _ b: MasterPlaylist.Variant) -> Bool {
    ["BANDWIDTH", "AVERAGE-BANDWIDTH", "RESOLUTION", "CODECS", "FRAME-RATE", "AUDIO"]
      .allSatisfy { a.attributes[$0] == b.attributes[$0] }
  }

  private static func chosen(
    _ master: MasterPlaylist,
    _ type: String,
    of variant: MasterPlaylist.Variant,
    _ languages: [String]
  ) -> [MasterPlaylist.Rendition] {
    guard let group = variant.attributes[type] else { return [] }
    let all = master.renditions.filter { $0.type == type && $0.group == group }
    let wanted = all.filter { rendition in languages.contains { speaks($0, rendition) } }
    if !wanted.isEmpty {
      // Subtitles are shown by default only when the author marks some as default.
      let isShown = type == "AUDIO" || all.contains { $0.attributes.isYes("DEFAULT") }
      return isShown ? making(wanted, beginWith: languages) : wanted
    }
    let preferred = all.filter { $0.attributes.isYes("DEFAULT") }
    // A film can do without subtitles, but not without sound.
    if !preferred.isEmpty || type == "SUBTITLES" { return preferred }
    return Array(all.prefix(1))
  }

  private static func speaks(_ language: String, _ rendition: MasterPlaylist.Rendition) -> Bool {
    guard let own = rendition.attributes["LANGUAGE"]?.lowercased() else { return false }
    let wanted = language.lowercased()
    return own == wanted || own.hasPrefix("\(wanted)-")
  }

  /// Makes the rendition in the most wanted language the default of players.
  private static func making(
    _ renditions: [MasterPlaylist.Rendition],
    beginWith languages: [String]
  ) -> [MasterPlaylist.Rendition] {
    let first = languages.lazy.compactMap { language in
      let speaking = renditions.indices.filter { speaks(language, renditions[$0]) }
      // The author's default wins among renditions of a language: another may be a commentary.
      return speaking.first { renditions[$0].attributes.isYes("DEFAULT") } ?? speaking.first
    }.first
    guard let first, !renditions[first].attributes.isYes("DEFAULT") else { return renditions }
    var changed = renditions
    for index in changed.indices {
      let isFirst = index == first
      guard isFirst || changed[index].attributes.isYes("DEFAULT") else { continue }
      changed[index].attributes.set(word: isFirst ? "YES" : "NO", for: "DEFAULT")
      if isFirst { changed[index].attributes.set(word: "YES", for: "AUTOSELECT") }
    }
    return changed
  }
}
