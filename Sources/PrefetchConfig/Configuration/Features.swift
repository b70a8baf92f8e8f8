/// What can be switched off without taking its settings away.
package struct Features: Hashable, Sendable {
  package var precaches = true
  package var pullsThrough = true
  package var recordsFigures = true

  static let table = ObjectType(Self(), name: "features") {
    Field("precaching", \.precaches, .boolean, "Whether runs do anything, as `enabled`")
    Field("pull_through", \.pullsThrough, .boolean, "Whether `serve --pull` fetches")
    Field(
      "analytics",
      \.recordsFigures,
      .boolean,
      "Whether events are sent, as `analytics.enabled`"
    )
  }
}

extension Configuration {
  /// Whether runs do anything.
  package var hasRuns: Bool {
    isEnabled && features.precaches
  }
}
