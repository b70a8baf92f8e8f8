/// How long what was taken of an item took to come, and in which quality it came.
package struct PastDownload: Hashable, Sendable {
  package var quality: BundleRules.Quality
  package var seconds: Double
  package var bytes: Int64

  package init(quality: BundleRules.Quality, seconds: Double, bytes: Int64) {
    self.quality = quality
    self.seconds = seconds
    self.bytes = bytes
  }

  /// By whom it is remembered.
  package static func key(provider: String?, id: String) -> String {
    "\(provider ?? "")\u{1F}\(id)"
  }

  /// The quality to take next: a higher one after what came fast, a lower one after what came slowly.
  ///
  /// A time that is right on a bound leads to the lower one.
  package var next: BundleRules.Quality {
    switch quality {
    case .low: seconds < 2 ? .high : seconds < 3 ? .medium : .low
    case .medium: seconds < 3 ? .high : seconds < 5 ? .medium : .low
    case .high: seconds < 5 ? .high : seconds < 10 ? .medium : .low
    }
  }
}
