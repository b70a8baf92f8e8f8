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

  /// An answer to a question that nobody asked is a fault.
  static func of(
    _ head: ResponseHead,
    to request: TransferRequest,
    continuing part: PartialBody?
  ) throws(ResponseFault) -> BodyUse {
    switch head.status {
    case 206:
      return try self.part(of: head, request, part)
    case 200, 203:
      return try whole(of: head, request, isCodingAsked: part == nil)
    case 304:
      guard request.has("if-none-match") || request.has("if-modified-since") else {
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
    _ request: TransferRequest,
    _ continued: PartialBody?
  ) throws(ResponseFault) -> BodyUse {
    guard var part = continued else {
      guard request.has("range") else { throw .unaskedRange }
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
    return .whole(
      mayBreakOff: head.status == 200 && codings.isEmpty && request.partialKey != nil
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
  /// Whether a header goes out with it, its name given in small letters.
  func has(_ name: StaticString) -> Bool {
    headers.contains { $0.name.isSpelled(name) }
  }

  /// Whether it asks for the rest of the kept part: only the URL that gave a validator knows it.
  var continuesPart: Bool {
    guard let partial, partialKey != nil, method == .get, partial.offset > 0,
      partial.source == url.string
    else { return false }
    return !has("range")
  }
}

extension String {
  /// Whether it is that word, whatever its case; the word is given in small letters.
  fileprivate func isSpelled(_ word: StaticString) -> Bool {
    HeaderBytes.are(unsafe utf8.span.bytes, word)
  }
}
