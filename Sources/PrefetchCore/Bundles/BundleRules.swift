/// What the configuration wants of items that consist of several files.
package struct BundleRules: Hashable, Sendable {
  package enum Quality: String, Hashable, Sendable, CaseIterable {
    case low
    case medium
    case high

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
  /// Whether what has come of an item that failed stays for the next try.
  package var keepsPartial = false

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
