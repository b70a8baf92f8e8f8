/// A finished request with all its details, for observers of single requests.
package struct RequestStory: Hashable, Sendable {
  package var url: WebURL
  package var segments: [String]
  package var attempt: Int
  package var status: Int?
  package var failure: Failure?
  package var headers = HeaderBlock()
  package var figures = TransferFigures()
}

/// Host that delays requests, with the status or error that caused the delay.
package struct RequestTrouble: Hashable, Sendable {
  /// Host in the form of ``WebURL/authority``.
  package var host: String
  package var status: Int?
  package var code: ErrorCode?
}

/// A pause before a request is repeated.
package struct RequestWait: Hashable, Sendable {
  package var url: WebURL
  package var segments: [String]
  package var length: Duration
  package var trouble: RequestTrouble
}
