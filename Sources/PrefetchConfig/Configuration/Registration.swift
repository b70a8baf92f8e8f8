package import PrefetchCore
import PrefetchDocuments

/// Features that can be switched off while their settings stay.
package struct Features: Hashable, Sendable {
  package var precaches = true
  package var pullsThrough = true
  package var recordsFigures = true

  static let table = ObjectType(Self(), name: "features") {
    Field("precaching", \.precaches, .boolean).help("The same as `enabled`")
    Field("pull_through", \.pullsThrough, .boolean).help("Whether `serve --pull` fetches")
    Field("analytics", \.recordsFigures, .boolean)
      .help("The same as `analytics.enabled`")
  }
}

package struct Registration: Hashable, Sendable {
  package var url: WebURL?
  package var retry = Duration.seconds(600)

  static let table = ObjectType(Self(), name: "registration") {
    Field("url", \.url, .url)
      .help("URL that registers the license; without it no license is registered")
    Field("retry", \.retry, .duration.positive).help("Pause after a failed registration")
  }
}
