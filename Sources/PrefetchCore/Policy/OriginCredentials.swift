/// Credentials that are sent to one origin only.
package struct OriginCredentials: Sendable {
  package var origin: WebURL.Origin
  package var field: HeaderField

  package init(bearer token: Secret, to origin: WebURL.Origin) {
    self.origin = origin
    field = HeaderField("Authorization", "Bearer \(token.value)")
  }

  /// Whether the credentials go along with a request; a header that a segment sets has priority.
  func belong(to url: WebURL, ownFields headers: [HeaderField]) -> Bool {
    url.origin == origin && !headers.contains { ASCII.equalsIgnoringCase($0.name, field.name) }
  }
}

/// Origin that gets no requests, because the license is not registered there.
package struct WithheldOrigin: Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
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
