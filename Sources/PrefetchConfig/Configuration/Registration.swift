package import PrefetchCore
import PrefetchDocuments

/// Where the license is registered.
package struct Registration: Hashable, Sendable {
  package var url: WebURL?
  package var retry = Duration.seconds(600)

  static let table = ObjectType(Self(), name: "registration") {
    Field(
      "url",
      \.url,
      .url,
      "Where the license is registered; without it nothing is sent anywhere"
    )
    Field("retry", \.retry, .duration.positive, "Pause after a registration that failed")
  }
}

/// Which push payloads are ours.
package struct Notify: Hashable, Sendable {
  package var marker = "mapsdk"

  static let table = ObjectType(Self(), name: "notify") {
    Field(
      "marker",
      \.marker,
      .text.nonEmpty,
      "Key or text by which a push payload is known to be ours"
    )
  }
}
