/// All that is known of one request that ended.
package struct RequestStory: Hashable, Sendable {
  package var url: WebURL
  /// On whose behalf.
  package var segments: [String]
  /// Which one it was of those for the same thing, from 1.
  package var attempt: Int
  package var status: Int?
  package var failure: Failure?
  /// Of the answer.
  package var headers = HeaderBlock()
  package var figures = TransferFigures()
}

/// What stood in the way of a request.
package struct RequestTrouble: Hashable, Sendable {
  /// As ``WebURL/authority`` has it.
  package var host: String
  /// Of its answer; nil where none came.
  package var status: Int?
  package var code: ErrorCode?
}

/// That the same is asked again after a while.
package struct RequestWait: Hashable, Sendable {
  package var url: WebURL
  package var segments: [String]
  package var length: Duration
  package var trouble: RequestTrouble
}
