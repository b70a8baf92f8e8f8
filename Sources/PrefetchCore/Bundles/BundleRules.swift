/// What the configuration wants of items that consist of several files.
package struct BundleRules: Hashable, Sendable {
  package enum Quality: String, Hashable, Comparable, Sendable, CaseIterable {
    case low
    case medium
    case high

    package static func < (a: Self, b: Self) -> Bool {
      a.place(among: 3) < b.place(among: 3)
    }

    /// Which of so many, that are in rising order.
    package func place(among count: Int) -> Int {
      switch self {
      case .low: 0
      case .medium: (count - 1) / 2
      case .high: count - 1
      }
    }
  }

  /// Nil for what the last downloads suggest.
  package var quality: Quality?
  /// Bits a second.
  package var maximumBitrate: Int64?
  package var maximumHeight: Int?
  /// Beginnings of the codecs that the player has; empty for all.
  package var codecs: [String] = []
  /// Of sound and subtitles; empty for what the stream itself prefers.
  package var languages: [String] = []
  /// How much of it to take; 0 for all.
  package var seconds = 0
  /// Whether a live stream is taken as it is at the moment.
  package var takesLive = false
  package var storesKeys = true
  /// Parameters of URLs that do not tell files apart.
  package var ignoredParameters: [String] = []
  /// Whether the beginning of an item that did not come whole is shown.
  package var keepsPartial = false

  /// Types of films to take; empty for those that every player has.
  package var mediaTypes: [String] = []
  /// Whether pictures that an ad's extensions name are taken.
  package var takesExtensions = false

  // MARK: Of one item

  package var form = BundleForm.stream
  /// With what the names of an ad's files begin.
  package var stem = ""
  /// What ad servers are told of a request.
  package var moment = AdMoment()
  /// By what the files that are here are known.
  package var held: Set<String> = []
  /// By what the variant of a stream is chosen where no quality is said.
  package var automatic: AutomaticVariant?
  /// In which quality what is here stays, however fast the line is now; nil where that is said.
  package var heldQuality: Quality?
  /// By what the files are known that are here of an item of which only the beginning is shown; nil
  /// while the whole is wanted.
  package var shown: Set<String>?
  /// Files that could not be had and do not have to be.
  package var leftOut: Set<String> = []

  package init() {}

  /// By what a file of an item is known from run to run.
  package func key(of url: WebURL) -> String {
    guard !ignoredParameters.isEmpty, let query = url.query else { return url.string }
    let ignored = Set(ignoredParameters)
    let kept = query.split(separator: "&", omittingEmptySubsequences: false).filter { part in
      !ignored.contains(String(part.prefix { $0 != "=" }))
    }
    guard let mark = url.string.firstIndex(of: "?") else { return url.string }
    return url.string[..<mark] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
  }
}

/// What stands for the macros of an ad tag in one run.
package struct AdMoment: Hashable, Sendable {
  private var chance = ""
  private var time = ""

  package init() {}

  /// The same time and tag make the same number.
  package init(of tag: WebURL, at now: Instant) {
    var hash = StableHash()
    hash.combine(tag.string)
    hash.combine(String(now.milliseconds))
    chance = String(String(hash.value % 100_000_000 + 100_000_000).dropFirst())
    time = Timestamp.format(now).split(separator: ":").joined(separator: "%3A")
  }

  /// The tag with what is known of its macros filled in, be their brackets encoded or not.
  package func filling(_ tag: String) -> String {
    var text = tag
    for (name, value) in [("CACHEBUSTING", chance), ("TIMESTAMP", time)] {
      for (open, close) in [("[", "]"), ("%5B", "%5D"), ("%5b", "%5d")] {
        text = text.split(separator: open + name + close, omittingEmptySubsequences: false)
          .joined(separator: value)
      }
    }
    return text
  }
}
