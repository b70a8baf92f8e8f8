package struct BundleRules: Hashable, Sendable {
  package enum Quality: String, Hashable, Comparable, Sendable, CaseIterable {
    case low
    case medium
    case high

    package static func < (a: Self, b: Self) -> Bool {
      a.index(among: 3) < b.index(among: 3)
    }

    package func index(among count: Int) -> Int {
      switch self {
      case .low: 0
      case .medium: (count - 1) / 2
      case .high: count - 1
      }
    }
  }

  /// Configured quality; nil to choose by the last downloads.
  package var quality: Quality?
  /// Bits per second.
  package var maximumBitrate: Int64?
  package var maximumHeight: Int?
  /// Prefixes of the codecs that the player supports; empty for all.
  package var codecs: [String] = []
  /// Languages of audio and subtitles; empty for the stream's own preference.
  package var languages: [String] = []
  /// Length to take, in seconds; 0 for all.
  package var seconds = 0
  package var acceptsLive = false
  package var storesKeys = true
  /// URL parameters that do not distinguish files.
  package var ignoredParameters: [String] = []
  package var keepsPartial = false

  /// Media types of videos to take; empty for those that every player supports.
  package var mediaTypes: [String] = []
  package var includesExtensions = false

  // MARK: Of one item

  package var form = BundleForm.stream
  package var stem = ""
  package var moment = AdMoment()
  package var held: Set<String> = []
  package var automatic: AutomaticVariant?
  /// Quality of an ad's stored files, which they keep on any line; nil if a quality is configured.
  package var heldQuality: Quality?
  /// Keys of the stored files, if only the beginning is shown; nil while the whole is wanted.
  package var shown: Set<String>?
  package var leftOut: Set<String> = []
  /// Digests of the item's files in the lock file; nil without it.
  var locked: LockedFiles?

  package init() {}

  /// Whether the lock file names a file, which decides among variants.
  package func isLocked(_ url: WebURL) -> Bool {
    locked?.digests[key(of: url)] != nil
  }

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

/// Values of the macros of an ad tag in one run.
package struct AdMoment: Hashable, Sendable {
  private var chance = ""
  private var time = ""

  package init() {}

  /// Creates the values; the number depends on tag and time only.
  package init(of tag: WebURL, at now: Instant) {
    var hash = StableHash()
    hash.combine(tag.string)
    hash.combine(String(now.milliseconds))
    chance = String(String(hash.value % 100_000_000 + 100_000_000).dropFirst())
    time = Timestamp.format(now).split(separator: ":").joined(separator: "%3A")
  }

  /// Returns the tag with the known macros replaced, with plain or encoded brackets.
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
