package import PrefetchCore
import PrefetchDocuments

/// Features that can be switched off while their settings stay.
package struct Features: Hashable, Sendable {
  package var precaches = true
  package var pullsThrough = true
  package var recordsFigures = true

  static let table = ObjectType(Self(), name: "features") {
    Field("precaching", \.precaches, .boolean).help("Whether runs do anything, as `enabled`")
    Field("pull_through", \.pullsThrough, .boolean).help("Whether `serve --pull` fetches")
    Field("analytics", \.recordsFigures, .boolean)
      .help("Whether events are sent, as `analytics.enabled`")
  }
}

package struct Registration: Hashable, Sendable {
  package var url: WebURL?
  package var retry = Duration.seconds(600)

  static let table = ObjectType(Self(), name: "registration") {
    Field("url", \.url, .url)
      .help("Where the license is registered; without it nothing is sent anywhere")
    Field("retry", \.retry, .duration.positive).help("Pause after a registration that failed")
  }
}
