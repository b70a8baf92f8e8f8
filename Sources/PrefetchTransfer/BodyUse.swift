internal import PrefetchCore

/// What becomes of the bytes of an answer.
enum BodyUse: Hashable, Sendable {
  /// Read and forgotten; the head says it all.
  case dropped
  /// The whole body; `part` is how its rest could be asked for.
  case whole(part: PartialBody?)
  /// The whole body once its coding is undone.
  case decoded
  /// What follows a kept part.
  case rest(of: PartialBody)
  /// Nothing follows: the kept part is the whole.
  case complete(PartialBody)

  /// An answer to a question that nobody asked is a fault.
  static func of(
    _ head: ResponseHead,
    to queued: QueuedRequest,
    continuing part: PartialBody?
  ) throws(ResponseFault) -> BodyUse {
    switch head.status {
    case 206:
      return try self.part(of: head, queued.request, part)
    case 200, 203:
      return try whole(of: head, queued.request, isCodingAsked: part == nil)
    case 304:
      guard queued.request.has("If-None-Match") || queued.request.has("If-Modified-Since") else {
        throw .unaskedNotModified
      }
      return .dropped
    case 416:
      guard var part, ResumeRule.isWhole(part, by: head.headers) else { return .dropped }
      part.head = ResumeRule.headers(ofWhole: part, by: head.headers)
      return .complete(part)
    default:
      return .dropped
    }
  }

  /// What describes the body, where that is more than the answer's own head.
  var wholeHead: HeaderBlock? {
    switch self {
    case .rest(let part), .complete(let part): part.head
    case .dropped, .whole, .decoded: nil
    }
  }

  /// Bytes of the body that were there before the answer.
  var keptSize: Int64 {
    switch self {
    case .dropped, .whole, .decoded: 0
    case .rest(let part), .complete(let part): part.offset
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

  /// Whether the rest can be asked for should it break off.
  var isResumable: Bool {
    switch self {
    case .whole(let part): part != nil
    case .rest, .complete: true
    case .dropped, .decoded: false
    }
  }

  private static func part(
    of head: ResponseHead,
    _ request: TransferRequest,
    _ continued: PartialBody?
  ) throws(ResponseFault) -> BodyUse {
    guard var part = continued else {
      guard request.has("Range") else { throw .unaskedRange }
      return try whole(of: head, request, isCodingAsked: true)
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
    _ request: TransferRequest,
    isCodingAsked: Bool
  ) throws(ResponseFault) -> BodyUse {
    guard request.method != .head else { return .dropped }
    let codings = head.codings
    guard codings.count <= 1 else { throw .severalCodings(codings.joined(separator: ", ")) }
    if let coding = codings.first, !isArchive(request.url, said: coding) {
      // The rest of a body is asked for uncoded.
      guard request.allowsCoding, isCodingAsked, isGzip(coding) else {
        throw .unaskedCoding(coding)
      }
      return .decoded
    }
    guard head.status == 200, codings.isEmpty, request.partialKey != nil,
      let validator = ResumeRule.validator(head.headers)
    else { return .whole(part: nil) }
    return .whole(
      part: PartialBody(
        source: request.url.string,
        validator: validator,
        offset: 0,
        wholeSize: head.announcedLength,
        // Most bodies are never broken off, so nothing is left out of it before one is.
        head: head.headers
      )
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
  /// Whether a header goes out with it.
  func has(_ name: StaticString) -> Bool {
    headers.contains { $0.name.isSpelled(name) }
  }

  /// The kept part that this request can continue: only the URL that gave a validator knows it.
  var continuedPart: PartialBody? {
    guard let partial, partialKey != nil, method == .get, partial.offset > 0,
      partial.source == url.string, !has("Range")
    else { return nil }
    return partial
  }
}

extension String {
  /// Whether it is that word, whatever its case.
  fileprivate func isSpelled(_ word: StaticString) -> Bool {
    guard utf8.count == word.utf8CodeUnitCount else { return false }
    var text = self
    return text.withUTF8 { bytes in
      word.withUTF8Buffer { expected in
        bytes.indices.allSatisfy {
          unsafe ASCII.lowercased(bytes[$0]) == ASCII.lowercased(expected[$0])
        }
      }
    }
  }
}
