/// When the rest of a body that broke off may be asked for, and which answers bring it.
package enum ResumeRule {
  /// A date names one version of a body only when the body had rested for so long before it was
  /// sent.
  private static let restingTime: Duration = .seconds(60)

  /// What `If-Range` may send to get the rest of this answer's body, verbatim; nil where a part
  /// could not be told from the part of another body.
  package static func validator(_ headers: HeaderBlock) -> String? {
    guard headers["Accept-Ranges"].map({ !$0.isSame("none") }) ?? true else { return nil }
    if let tag = headers[.entityTag], Validators.isStrong(tag) { return tag }
    // A date says nothing of which variant it is, and a later request may be for another one.
    guard !headers.has(.vary) || Variance.names(in: headers).isEmpty else { return nil }
    guard let text = headers[.lastModified], let modified = HTTPDate.parse(text),
      let sent = headers[.date].flatMap({ HTTPDate.parse($0) }), sent - modified >= restingTime
    else { return nil }
    return text
  }

  /// Why a 206 is not the rest that was asked for; nil when it is.
  package static func objection(
    to headers: HeaderBlock,
    continuing part: PartialBody
  ) -> Objection? {
    if headers[.contentType]?.lowercased().hasPrefix("multipart/byteranges") == true {
      return .severalParts
    }
    if let coding = headers.combined("Content-Encoding"), !coding.isSame("identity") {
      return .coded
    }
    guard let text = headers.combined("Content-Range"), let range = ContentRange(text),
      let bounds = range.bounds
    else { return .unreadableRange }
    guard bounds.lowerBound == part.offset else { return .otherPart }
    guard let whole = range.wholeSize ?? part.wholeSize, bounds.upperBound == whole - 1,
      part.wholeSize ?? whole == whole
    else { return .otherSize }
    let field: HeaderName = Validators.isStrong(part.validator) ? .entityTag : .lastModified
    return headers[field] ?? part.validator == part.validator ? nil : .otherBody
  }

  /// The size of the whole by a 206 without objection.
  package static func wholeSize(_ headers: HeaderBlock) -> Int64? {
    headers.combined("Content-Range").flatMap { ContentRange($0) }?.bounds
      .map { $0.upperBound + 1 }
  }

  /// Whether a 416 says that nothing is missing from the part.
  package static func isWhole(_ part: PartialBody, by headers: HeaderBlock) -> Bool {
    guard let text = headers.combined("Content-Range"), let range = ContentRange(text),
      range.bounds == nil, range.wholeSize == part.offset
    else { return false }
    return part.wholeSize ?? part.offset == part.offset
  }

  package enum Objection: Hashable, Sendable {
    case severalParts
    case coded
    case unreadableRange
    case otherPart
    case otherSize
    case otherBody
  }
}

// MARK: - Heads

extension ResumeRule {
  private static let longestHead = 24_576

  /// What the whole's head says after a 206 without objection: the first one's fields, renewed as
  /// RFC 9110 (15.3.7.3) and RFC 9111 (3.4) have it.
  ///
  /// A part's own `wholeSize` has to be the one that the answer told.
  package static func head(of part: PartialBody, continuedBy answer: HeaderBlock) -> HeaderBlock {
    renewed(part, by: lastingFields(answer).without(ofTheMessage))
  }

  /// What the whole's head says after a 416 that made the part the whole: the other headers of the
  /// 416 describe the page that it came with.
  package static func headers(
    ofWhole part: PartialBody,
    by answer: HeaderBlock
  ) -> HeaderBlock {
    var part = part
    part.wholeSize = part.offset
    return renewed(part, by: answer.filtered { answer.isNamed($0, .date) })
  }

  /// What of a first head is worth keeping with a part: all but what belonged to the connection, and
  /// of one that is very long only what decides about the body.
  ///
  /// Nil where even that is too long, since what was left out could forbid to keep the body.
  package static func lasting(_ head: HeaderBlock) -> HeaderBlock? {
    let lasting = lastingFields(head)
    guard lasting.byteCount > longestHead else { return lasting }
    let needed = lasting.only(ofTheBody)
    return needed.byteCount > longestHead ? nil : needed
  }

  private static func renewed(_ part: PartialBody, by news: HeaderBlock) -> HeaderBlock {
    // The clock of the first answer would make the whole older than it is.
    let first = lastingFields(part.head).without(ofTheMessage).without(ofTheClock)
    var head = first.filtered { index in !news.has(first.headerName(at: index)) }
    let validator: HeaderName = Validators.isStrong(part.validator) ? .entityTag : .lastModified
    if !head.has(validator), !news.has(validator) {
      head.append(HeaderField(validator.text, part.validator))
    }
    for index in news.indices { head.append(news, at: index) }
    if let size = part.wholeSize { head.append(HeaderField("Content-Length", String(size))) }
    return head
  }

  private static func lastingFields(_ head: HeaderBlock) -> HeaderBlock {
    // Only `identity` can stand there: the rest of a coded body is never asked for.
    Revalidation.storable(head).without(ofTheCoding)
  }

  /// Of one message, and neither of the body nor of the next message.
  private static let ofTheMessage = HeaderNames(["content-range", "content-length"])
  private static let ofTheClock = HeaderNames(["date", "age"])
  private static let ofTheCoding = HeaderNames(["content-encoding"])
  private static let ofTheBody = HeaderNames([
    "content-type", "content-length", "content-language", "content-disposition", "etag",
    "last-modified", "accept-ranges", "date", "age", "expires", "cache-control", "pragma", "vary",
  ])
}

extension HeaderBlock {
  fileprivate func without(_ names: HeaderNames) -> HeaderBlock {
    filtered { !isNamed($0, anyOf: names) }
  }

  fileprivate func only(_ names: HeaderNames) -> HeaderBlock {
    filtered { isNamed($0, anyOf: names) }
  }

  fileprivate var byteCount: Int {
    var count = 0
    forEachField { count += $0.count + $1.count }
    return count
  }
}

/// The value of a Content-Range header: `bytes 5-9/10`, `bytes 5-9/*` or `bytes */10`.
package struct ContentRange: Hashable, Sendable {
  /// The first and the last byte; nil where none of the body was sent.
  package var bounds: ClosedRange<Int64>?
  package var wholeSize: Int64?

  package init?(_ text: String) {
    let words = text.split(separator: " ")
    guard words.count == 2, words[0].isSame("bytes") else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    if parts[1] != "*" {
      guard let size = Self.number(parts[1]) else { return nil }
      wholeSize = size
    }
    guard parts[0] != "*" else {
      guard wholeSize != nil else { return nil }
      return
    }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
      first <= last, last < wholeSize ?? .max
    else { return nil }
    bounds = first...last
  }

  private static func number(_ text: Substring) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
    return Int64(text)
  }
}

extension ResumeRule.Objection: CustomStringConvertible {
  /// Goes on after "`host` answered with", and on with "though the rest of a body was asked for".
  package var description: String {
    switch self {
    case .severalParts: "several parts"
    case .coded: "a coded part"
    case .unreadableRange: "a part without a readable Content-Range"
    case .otherPart: "a part that begins elsewhere"
    case .otherSize: "a part that does not reach the end of the whole"
    case .otherBody: "a part of another body"
    }
  }
}

extension StringProtocol {
  /// Equal but for the case of ASCII letters.
  fileprivate func isSame(_ other: String) -> Bool {
    utf8.count == other.utf8.count
      && zip(utf8, other.utf8).allSatisfy { ASCII.lowercased($0) == ASCII.lowercased($1) }
  }
}
