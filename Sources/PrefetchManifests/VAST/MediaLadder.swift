internal import PrefetchCore

/// Encodings of a film that can be stored, lowest first.
struct MediaLadder {
  private(set) var steps: [AdMedium] = []
  private(set) var streams: [AdMedium] = []
  private(set) var objections: [String] = []

  init(_ media: [AdMedium], _ rules: BundleRules) {
    for medium in media {
      if let objection = Self.objection(to: medium, rules) {
        objections.append(objection)
      } else if Self.isStream(medium) {
        streams.append(medium)
      } else {
        steps.append(medium)
      }
    }
    let measures: [(AdMedium) -> Int64?] = [\.bitrate, \.size, \.area]
    let known = measures.first { measure in steps.allSatisfy { measure($0) != nil } }
    guard let measure = known else { return }
    steps = steps.enumerated()
      .sorted {
        (measure($0.element) ?? 0, $0.offset) < (measure($1.element) ?? 0, $1.offset)
      }
      .map(\.element)
  }

  private static func isStream(_ medium: AdMedium) -> Bool {
    medium.type == "application/x-mpegurl" || medium.type?.hasSuffix("vnd.apple.mpegurl") == true
  }

  private static func objection(to medium: AdMedium, _ rules: BundleRules) -> String? {
    if let macro = medium.link.macro { return "the macro `[\(macro)]` in its address is not known" }
    if medium.isProgram { return "a program within the player, and no film" }
    if isStream(medium) { return nil }
    guard medium.isProgressive else { return "`delivery` is not `progressive`" }
    let types = rules.mediaTypes.isEmpty ? ["video/mp4", "video/webm"] : rules.mediaTypes
    if let type = medium.type, !types.contains(where: { fits(type, $0.lowercased()) }) {
      return "`\(type.prefix(40))`"
    }
    if let limit = rules.maximumBitrate, let bitrate = medium.bitrate, bitrate > limit {
      return "above `max_bitrate`"
    }
    if let limit = rules.maximumHeight, let height = medium.height, height > limit {
      return "above `max_height`"
    }
    if !rules.codecs.isEmpty, let codec = medium.codec,
      !rules.codecs.contains(where: codec.hasPrefix)
    {
      return "`\(codec.prefix(40))` is not among `codecs`"
    }
    return nil
  }

  private static func fits(_ type: String, _ pattern: String) -> Bool {
    pattern.hasSuffix("/*") ? type.hasPrefix(pattern.dropLast()) : type == pattern
  }
}
