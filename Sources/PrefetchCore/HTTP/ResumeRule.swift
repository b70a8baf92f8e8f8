/// Rules for requesting the rest of a body that broke off, and for accepting the response.
package enum ResumeRule {
  /// Age that a body needs when it is sent for its date to identify one version.
  private static let restingTime: Duration = .seconds(60)

  /// Returns the `If-Range` validator; nil if parts could belong to another body.
  package static func validator(_ headers: HeaderBlock) -> String? {
    guard headers["Accept-Ranges"].map({ !$0.isSame("none") }) ?? true else { return nil }
    if let tag = headers[.entityTag], Validators.isStrong(tag) { return tag }
    // A date does not identify a variant, and a later request may be for another one.
    guard !headers.has(.vary) || Variance.names(in: headers).isEmpty else { return nil }
    guard let text = headers[.lastModified], let modified = HTTPDate.parse(text),
      let sent = headers[.date].flatMap({ HTTPDate.parse($0) }), sent - modified >= restingTime
    else { return nil }
    return text
  }

  /// Returns the objection to a 206 that is not the requested rest; nil if it is.
  package static func objection(
    to headers: HeaderBlock,
    continuing part: PartialBody
  ) -> Objection? {
    let hole = part.firstHole
    return objection(
      to: headers,
      from: hole.start,
      to: hole.end,
      ofSize: part.wholeSize,
      validator: part.validator
    )
  }

  /// Returns the objection to a 206 that is not the requested range; nil if it is.
  ///
  /// Without an `end`, the range must reach to the end of the body.
  package static func objection(
    to headers: HeaderBlock,
    from start: Int64,
    to end: Int64?,
    ofSize size: Int64?,
    validator: String
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
    guard bounds.lowerBound == start else { return .otherPart }
    guard let whole = range.wholeSize ?? size, bounds.upperBound == (end ?? whole) - 1,
      size ?? whole == whole
    else { return .otherSize }
    let field: HeaderName = Validators.isStrong(validator) ? .entityTag : .lastModified
    return headers[field] ?? validator == validator ? nil : .otherBody
  }

  /// Returns the size of the body after a 206 without objection.
  package static func wholeSize(of part: PartialBody, by headers: HeaderBlock) -> Int64? {
    if part.firstHole.end != nil { return part.wholeSize }
    return headers.combined("Content-Range").flatMap { ContentRange($0) }?.bounds
      .map { $0.upperBound + 1 }
  }

  /// Whether a 416 shows that the part is already the whole body.
  package static func isWhole(_ part: PartialBody, by headers: HeaderBlock) -> Bool {
    let (size, end) = part.firstHole
    guard end == nil, let text = headers.combined("Content-Range"),
      let range = ContentRange(text), range.bounds == nil, range.wholeSize == size
    else { return false }
    return part.wholeSize ?? size == size
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

  /// Returns the head of the whole body after a 206 without objection: the first head's fields,
  /// updated by RFC 9110 §15.3.7.3 and RFC 9111 §3.4.
  ///
  /// `part.wholeSize` must be the size that the 206 declared.
  package static func head(of part: PartialBody, continuedBy response: HeaderBlock) -> HeaderBlock {
    renewed(part, by: lastingFields(response).without(ofTheMessage))
  }

  /// Returns the whole body's head after a 416; only `Date` is used, the rest is an error page's.
  package static func headers(
    ofWhole part: PartialBody,
    by response: HeaderBlock
  ) -> HeaderBlock {
    var part = part
    part.wholeSize = part.firstHole.start
    return renewed(part, by: response.filtered { response.isNamed($0, .date) })
  }

  /// Returns the fields of a first head to keep with a part: without those of the connection, and
  /// of a very long head only those about the body.
  ///
  /// Returns nil if those are still too long, since an omitted field could forbid storing.
  package static func lasting(_ head: HeaderBlock) -> HeaderBlock? {
    let lasting = lastingFields(head)
    guard lasting.byteCount > longestHead else { return lasting }
    let needed = lasting.only(ofTheBody)
    return needed.byteCount > longestHead ? nil : needed
  }

  private static func renewed(_ part: PartialBody, by news: HeaderBlock) -> HeaderBlock {
    // The date and age of the first response would make the whole body appear too old.
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
    // Only `identity` is possible here, since coded bodies are not resumed.
    Revalidation.storable(head).without(ofTheCoding)
  }

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

package struct ContentRange: Hashable, Sendable {
  /// First and last byte; nil if the response has no part of the body.
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
  /// Phrase between "`host` answered with" and "though the rest of a body was asked for".
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
  fileprivate func isSame(_ other: String) -> Bool {
    utf8.count == other.utf8.count
      && zip(utf8, other.utf8).allSatisfy { ASCII.lowercased($0) == ASCII.lowercased($1) }
  }
}
