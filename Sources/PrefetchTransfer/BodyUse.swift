internal import PrefetchCore

/// What becomes of the bytes of an answer.
enum BodyUse: Hashable, Sendable {
  /// Read and forgotten; the head says it all.
  case dropped
  /// The whole body; `part` is how its rest could be asked for.
  case whole(part: PartialBody?)
  /// What follows a kept part.
  case rest(of: PartialBody)
  /// Nothing follows: the kept part is the whole.
  case complete(PartialBody)

  /// An answer to a question that nobody asked is a fault.
  init(
    of head: ResponseHead,
    to request: TransferRequest,
    continuing part: PartialBody?
  ) throws(ResponseFault) {
    switch head.status {
    case 206:
      self = try Self.part(of: head, request, part)
    case 200, 203:
      self = try Self.whole(of: head, request, isCodingAsked: part == nil)
    case 304:
      guard request.has("If-None-Match") || request.has("If-Modified-Since") else {
        throw .unaskedNotModified
      }
      self = .dropped
    case 416:
      guard let part, ResumeRule.isWhole(part, by: head.headers) else {
        self = .dropped
        return
      }
      self = .complete(part)
    default:
      self = .dropped
    }
  }

  /// Bytes of the body that were there before the answer.
  var keptSize: Int64 {
    switch self {
    case .dropped, .whole: 0
    case .rest(let part), .complete(let part): part.offset
    }
  }

  var takesBytes: Bool {
    switch self {
    case .whole, .rest: true
    case .dropped, .complete: false
    }
  }

  /// Whether the rest can be asked for should it break off.
  var isResumable: Bool {
    switch self {
    case .whole(let part): part != nil
    case .rest, .complete: true
    case .dropped: false
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
    return .rest(of: part)
  }

  private static func whole(
    of head: ResponseHead,
    _ request: TransferRequest,
    isCodingAsked: Bool
  ) throws(ResponseFault) -> BodyUse {
    guard request.method == .get else { return .dropped }
    let codings = head.codings
    guard codings.count <= 1 else { throw .severalCodings(codings.joined(separator: ", ")) }
    // The rest of a body is asked for uncoded, so nobody stands ready to decode.
    if request.allowsCoding, !isCodingAsked, let coding = codings.first {
      throw .unaskedCoding(coding)
    }
    guard head.status == 200, codings.isEmpty, request.partialKey != nil,
      let validator = ResumeRule.validator(head.headers)
    else { return .whole(part: nil) }
    return .whole(
      part: PartialBody(
        source: request.url.string,
        validator: validator,
        offset: 0,
        wholeSize: head.announcedLength
      )
    )
  }
}

extension TransferRequest {
  /// Whether a header goes out with it.
  func has(_ name: String) -> Bool {
    headers.contains { field in
      field.name.utf8.count == name.utf8.count
        && zip(field.name.utf8, name.utf8).allSatisfy {
          ASCII.lowercased($0) == ASCII.lowercased($1)
        }
    }
  }

  /// The kept part that this request can continue: only the URL that gave a validator knows it.
  var continuedPart: PartialBody? {
    guard let partial, partialKey != nil, method == .get, partial.offset > 0,
      partial.source == url.string, !has("Range")
    else { return nil }
    return partial
  }
}
