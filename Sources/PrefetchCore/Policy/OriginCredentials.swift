/// What proves to one origin who we are, and is sent to no other one.
package struct OriginCredentials: Sendable {
  package var origin: WebURL.Origin
  package var field: HeaderField

  package init(bearer token: Secret, to origin: WebURL.Origin) {
    self.origin = origin
    field = HeaderField("Authorization", "Bearer \(token.value)")
  }

  /// Whether they go along with a request that has these headers already: what a configuration
  /// sets for a segment is meant for it alone.
  func belong(to url: WebURL, besides headers: [HeaderField]) -> Bool {
    url.origin == origin && !headers.contains { ASCII.equalsIgnoringCase($0.name, field.name) }
  }
}

/// An origin that may not be asked anything, since it would not know us.
package struct WithheldOrigin: Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
    /// Time alone will lift it.
    case deferred(Deferral)
    case failed(Failure)
  }

  package var origin: WebURL.Origin
  package var reason: Reason

  package init(origin: WebURL.Origin, reason: Reason) {
    self.origin = origin
    self.reason = reason
  }
}
