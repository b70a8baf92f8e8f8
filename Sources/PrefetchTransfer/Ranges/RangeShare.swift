internal import PrefetchCore

/// Range that one connection fetches of a body that arrives over several.
final class RangeShare {
  /// Answer other than the requested range.
  enum Refusal {
    /// The server has another body by now.
    case changed(Failure)
    case wrong(Failure)
    /// Status that says nothing about the body, such as 503.
    case status(TransferResponse)
  }

  let body: RangedBody
  /// First byte, which names the span in the body's map.
  let start: Int64
  /// End of the bytes that the response brings; others may fetch some of them.
  let responseEnd: Int64
  /// Whether the response was cut where another connection's bytes begin.
  var isCut = false
  private(set) var refusal: Refusal?

  init(_ body: RangedBody, from start: Int64, responseEnd: Int64) {
    self.body = body
    self.start = start
    self.responseEnd = responseEnd
  }

  /// End of the received bytes.
  var end: Int64 { body.map.end(of: start) }

  /// Number of bytes to come that are no other connection's.
  var rest: Int64 { body.map.limit(of: start) - end }

  /// Returns whether the response is the requested range; records any other one.
  func accepts(_ head: ResponseHead) -> Bool {
    refusal = refusal(of: head)
    return refusal == nil
  }

  private func refusal(of head: ResponseHead) -> Refusal? {
    switch head.status {
    case 206:
      let objection = ResumeRule.objection(
        to: head.headers,
        from: start,
        to: responseEnd,
        ofSize: body.map.size,
        validator: body.tag
      )
      guard let objection else { return nil }
      let failure = failure("\(objection)")
      return objection == .otherBody ? .changed(failure) : .wrong(failure)
    case 412:
      return .changed(failure("another body"))
    case 200, 203, 304, 416:
      let failure = failure("\(head.status)")
      return head.headers[.entityTag] ?? body.tag == body.tag ? .wrong(failure) : .changed(failure)
    default:
      return .status(TransferResponse(status: head.status, headers: head.headers, body: nil))
    }
  }

  /// Returns a failure after which the whole body is requested again.
  private func failure(_ response: String) -> Failure {
    Failure(
      .badResponse,
      "`\(body.first.request.url.authority)` answered with \(response) where a range of a body "
        + "was asked for",
      isTransient: true
    )
  }
}
