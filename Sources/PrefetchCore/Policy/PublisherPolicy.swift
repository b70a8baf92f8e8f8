/// `policy` of a manifest or of a registration's response; it can only narrow the configuration.
package struct PublisherPolicy: Hashable, Sendable {
  package enum Feature: String, Hashable, Sendable, CaseIterable {
    case precaching
    /// Fetching of missing items by a server over the cache.
    case pullThrough = "pull_through"
    case analytics
  }

  package var network: NetworkPolicy?
  package var maximumFileSize: Int64?
  package var countPerCategory: Int?
  package var switchedOff: Set<Feature> = []

  package init() {}

  /// Network policy for runs; closed if `precaching` is switched off.
  package var networkOfRuns: NetworkPolicy? {
    guard switchedOff.contains(.precaching) else { return network }
    var narrowed = network ?? NetworkPolicy()
    narrowed.isSwitchedOff = true
    return narrowed
  }
}
