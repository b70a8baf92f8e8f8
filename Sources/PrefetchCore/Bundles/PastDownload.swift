/// Duration, size and quality of an item's last download.
package struct PastDownload: Hashable, Sendable {
  package var quality: BundleRules.Quality
  package var seconds: Double
  package var bytes: Int64

  package init(quality: BundleRules.Quality, seconds: Double, bytes: Int64) {
    self.quality = quality
    self.seconds = seconds
    self.bytes = bytes
  }

  package static func key(provider: String?, id: String) -> String {
    "\(provider ?? "")\u{1F}\(id)"
  }

  /// Quality to take next: higher after a fast download, lower after a slow one or on a bound.
  package var next: BundleRules.Quality {
    switch quality {
    case .low: seconds < 2 ? .high : seconds < 3 ? .medium : .low
    case .medium: seconds < 3 ? .high : seconds < 5 ? .medium : .low
    case .high: seconds < 5 ? .high : seconds < 10 ? .medium : .low
    }
  }
}
