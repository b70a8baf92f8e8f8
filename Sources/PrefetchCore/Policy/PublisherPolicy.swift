/// What a publisher asks for in the `policy` of a manifest or of the answer to a registration.
///
/// It can only narrow what is configured.
package struct PublisherPolicy: Hashable, Sendable {
  /// What a publisher, or the configuration, may switch off.
  package enum Feature: String, Hashable, Sendable, CaseIterable {
    /// That runs fetch anything.
    case precaching
    /// That a server over the cache fetches what it lacks.
    case pullThrough = "pull_through"
    /// That events are sent to the configured collector.
    case analytics
  }

  package var network: NetworkPolicy?
  package var maximumFileSize: Int64?
  /// How many items to take of each category.
  package var countPerCategory: Int?
  package var switchedOff: Set<Feature> = []

  package init() {}

  /// What it leaves of the network to a run.
  package var networkOfRuns: NetworkPolicy? {
    guard switchedOff.contains(.precaching) else { return network }
    var narrowed = network ?? NetworkPolicy()
    narrowed.isSwitchedOff = true
    return narrowed
  }
}
