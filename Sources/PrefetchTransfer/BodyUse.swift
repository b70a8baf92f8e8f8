internal import PrefetchCore

/// Use of a response body's bytes.
enum BodyUse: Hashable, Sendable {
  case dropped
  /// The whole body; `mayBreakOff` says whether its rest could be requested later.
  case whole(mayBreakOff: Bool)
  case decoded
  indirect case rest(of: PartialBody)
  /// A range of a body of which other connections bring the rest.
  case range
  /// The kept part is the whole body; no bytes follow.
  indirect case complete(PartialBody)

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

  var kept: PartialBody? {
    switch self {
    case .dropped, .whole, .decoded, .range: nil
    case .rest(let part), .complete(let part): part
    }
  }

  var acceptsBytes: Bool {
    switch self {
    case .whole, .decoded, .rest, .range: true
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
    part.wholeSize = ResumeRule.wholeSize(of: part, by: head.headers)
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
      // Buckets send an object with the coding stored with it, whatever `Accept-Encoding` says.
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

  /// Returns whether the coding only reflects an archive's file name, as old servers send it.
  fileprivate static func isArchive(_ url: WebURL, said coding: String) -> Bool {
    let path = url.path.lowercased()
    return isGzip(coding) && (path.hasSuffix(".gz") || path.hasSuffix(".tgz"))
  }
}

extension TransferRequest {
  /// Whether the request asks for the rest of a kept part, at the URL that gave the validator.
  ///
  /// Signed addresses of redirects differ in their queries; a declared digest needs no URL.
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
  func has(_ name: StaticString) -> Bool {
    for index in indices where self[index].name.utf8.count == name.utf8CodeUnitCount {
      if HeaderBytes.are(unsafe self[index].name.utf8.span.bytes, name) { return true }
    }
    return false
  }
}
