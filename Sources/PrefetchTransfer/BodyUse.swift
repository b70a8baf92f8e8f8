internal import PrefetchCore

/// What becomes of the bytes of an answer.
enum BodyUse: Hashable, Sendable {
  /// Read and forgotten; the head says it all.
  case dropped
  /// The whole body; only some have a rest that could be asked for.
  case whole(mayBreakOff: Bool)
  /// The whole body once its coding is undone.
  case decoded
  /// What follows a kept part.
  indirect case rest(of: PartialBody)
  /// Nothing follows: the kept part is the whole.
  indirect case complete(PartialBody)

  /// An answer to a question that was not asked is a fault.
  static func of(
    _ head: ResponseHead,
    to queued: QueuedRequest,
    isContinuing: Bool
  ) throws(ResponseFault) -> BodyUse {
    switch head.status {
    case 206:
      return try part(of: head, queued, isContinuing ? queued.request.partial : nil)
    case 200, 203:
      return try whole(of: head, queued)
    case 304:
      let headers = queued.request.headers
      guard headers.has("if-none-match") || headers.has("if-modified-since") else {
        throw .unaskedNotModified
      }
      return .dropped
    case 416:
      guard isContinuing, var part = queued.request.partial,
        ResumeRule.isWhole(part, by: head.headers)
      else { return .dropped }
      part.head = ResumeRule.headers(ofWhole: part, by: head.headers)
      return .complete(part)
    default:
      return .dropped
    }
  }

  /// The part that the body begins with.
  var kept: PartialBody? {
    switch self {
    case .dropped, .whole, .decoded: nil
    case .rest(let part), .complete(let part): part
    }
  }

  var takesBytes: Bool {
    switch self {
    case .whole, .decoded, .rest: true
    case .dropped, .complete: false
    }
  }

  var isCoded: Bool {
    if case .decoded = self { true } else { false }
  }

  private static func part(
    of head: ResponseHead,
    _ queued: QueuedRequest,
    _ continued: PartialBody?
  ) throws(ResponseFault) -> BodyUse {
    guard var part = continued else {
      guard queued.request.headers.has("range") else { throw .unaskedRange }
      return try whole(of: head, queued)
    }
    if let objection = ResumeRule.objection(to: head.headers, continuing: part) {
      throw .otherRest(objection)
    }
    part.wholeSize = ResumeRule.wholeSize(head.headers)
    part.head = ResumeRule.head(of: part, continuedBy: head.headers)
    return .rest(of: part)
  }

  private static func whole(
    of head: ResponseHead,
    _ queued: QueuedRequest
  ) throws(ResponseFault) -> BodyUse {
    switch queued.request.method {
    case .head, .put: return .dropped
    case .get, .post: break
    }
    let codings = head.codings
    guard codings.count <= 1 else { throw .severalCodings(codings.joined(separator: ", ")) }
    if let coding = codings.first, !isArchive(queued.request.url, said: coding) {
      // Buckets keep objects with a coding that they were given once, and send it whatever is asked.
      guard isGzip(coding) else { throw .unaskedCoding(coding) }
      return .decoded
    }
    return .whole(
      mayBreakOff: head.status == 200 && codings.isEmpty && queued.request.partialKey != nil
    )
  }
}

extension BodyUse {
  fileprivate static func isGzip(_ coding: String) -> Bool {
    coding == "gzip" || coding == "x-gzip"
  }

  /// Old servers say so of every file whose name ends like this; what is published is the file.
  fileprivate static func isArchive(_ url: WebURL, said coding: String) -> Bool {
    let path = url.path.lowercased()
    return isGzip(coding) && (path.hasSuffix(".gz") || path.hasSuffix(".tgz"))
  }
}

extension TransferRequest {
  /// Whether it asks for the rest of the kept part: only the URL that gave a validator knows it.
  ///
  /// Where redirects lead to signed addresses each has another query. A declared digest decides by
  /// itself whether the rest was the right one.
  var continuesPart: Bool {
    guard let partial, partialKey != nil, method == .get, partial.offset > 0,
      isPinned || SealedURL.isSame(partial.source, url.string)
        || isRedirected(fromQueryOf: partial.source)
    else { return false }
    return !headers.has("range")
  }

  private func isRedirected(fromQueryOf source: String) -> Bool {
    guard url.string != partialKey, let source = try? WebURL(source) else { return false }
    return (source.scheme, source.host, source.port) == (url.scheme, url.host, url.port)
      && source.path == url.path
  }
}

extension [HeaderField] {
  /// Whether one goes out with a request, its name given in small letters.
  func has(_ name: StaticString) -> Bool {
    for index in indices where self[index].name.utf8.count == name.utf8CodeUnitCount {
      if HeaderBytes.are(unsafe self[index].name.utf8.span.bytes, name) { return true }
    }
    return false
  }
}
