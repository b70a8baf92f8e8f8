/// A model of what RFC 9111 and the project's contract permit for one declared URL.
///
/// Written from the documents instead of the product, so that no mistake is repeated; only the
/// servers' responses are its input.
struct CacheModel {
  /// A request header that selected a response, as it was sent.
  struct Selector {
    var url: String
    var name: String
    var value: String?
  }

  struct Stored {
    var url: String
    var head: NightHead
    /// Entity tag that came with the body.
    var tag: String?
    var body: [UInt8]
    var selectors: [Selector]
    var hopSelectors: [Selector]
    /// First second at which the response is stale.
    var end: Int64
  }

  typealias Headers = [String: String]

  let url: String
  let grant: NightItem.Grant
  /// Seconds of every valid date; other texts are no dates.
  var dates: [String: Int64] = [:]
  var stored: Stored?

  init(url: String, grant: NightItem.Grant) {
    self.url = url
    self.grant = grant
  }

  // MARK: Reuse (RFC 9111, 4)

  /// Returns why a request is needed; nil when the stored response may be reused.
  func requestReason(_ headers: Headers, at now: Int64) -> String? {
    guard let stored else { return "nothing is stored" }
    guard selects(stored.selectors + stored.hopSelectors, headers) else { return "another variant" }
    return grant == .always || now < stored.end ? nil : "stale since \(stored.end), now \(now)"
  }

  /// Returns whether a request would match all selecting headers (4.1); a star never matches.
  func selects(_ selectors: [Selector], _ headers: Headers) -> Bool {
    selectors.allSatisfy { selector in
      // Headers declared for the item are sent to its own server only.
      let sent = selector.url.hasPrefix(NightItem.host) ? headers[selector.name] : nil
      return selector.name != "*" && selector.value == sent
    }
  }

  /// Returns the first second at which a response is stale by its own headers (4.2).
  func end(of head: NightHead, _ response: NightResponse) -> Int64 {
    let directives = Self.directives(head["Cache-Control"] ?? "")
    guard directives["no-store"] == nil, directives["no-cache"] == nil else { return .min }
    let (requestedAt, received) = (response.requestedAt, response.received)
    let date = head["Date"].flatMap { dates[$0] } ?? received
    let ageField = response.head["Age"]?.prefix { $0 != "," }
    let age = max(
      0,
      received - date,
      (ageField.flatMap { Int64($0) } ?? 0) + received - requestedAt
    )
    var lifetime: Int64?
    if let maximum = directives["max-age"] {
      lifetime = maximum.allSatisfy(\.isNumber) ? Int64(maximum) ?? 0 : 0
    } else if let expires = head["Expires"] {
      lifetime = dates[expires].map { $0 - date } ?? 0
    }
    if let lifetime { return received + lifetime - age }
    return if case .seconds = grant { .max } else { .min }
  }

  /// Redirects add no freshness, and a granted lifetime starts at the response with the body.
  func end(_ ends: [Int64], _ response: NightResponse) -> Int64 {
    let stated = ends.min() ?? .max
    guard case .seconds(let seconds) = grant else { return stated }
    return min(stated, response.finishedAt + seconds)
  }

  static func directives(_ text: String) -> [String: String] {
    var (directives, word, isQuoted, isEscaped) = ([String: String](), "", false, false)
    for character in text + "," {
      if !isEscaped, isQuoted, character == "\\" {
        isEscaped = true
      } else if !isEscaped, character == "\"" {
        isQuoted.toggle()
      } else if !isQuoted, character == "," {
        let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
        if let name = parts.first?.lowercased() { directives[name] = parts.dropFirst().first ?? "" }
        word = ""
      } else if isQuoted || character != " " || !word.isEmpty {
        isEscaped = false
        word.append(character)
      }
    }
    return directives
  }

  // MARK: Validation (RFC 9110, 13; RFC 9111, 4.3)

  /// Returns the tag and date for revalidating the stored URL.
  ///
  /// For another variant, only a tag that is unique among all variants may be sent. If just a
  /// redirect belonged to another variant, both choices are acceptable.
  func conditions(_ headers: Headers, countingHops: Bool) -> (tag: String?, date: String?) {
    guard let stored else { return (nil, nil) }
    let selectors = stored.selectors + (countingHops ? stored.hopSelectors : [])
    let isSelected = selects(selectors, headers)
    let tag = stored.tag.flatMap { Self.isTag($0) && (isSelected || $0.hasPrefix("\"")) ? $0 : nil }
    let date = stored.head["Last-Modified"].flatMap { dates[$0] == nil || !isSelected ? nil : $0 }
    return (tag, date)
  }

  /// Returns whether a 304 is about another representation than the stored one.
  func refuses(_ head: NightHead) -> Bool {
    guard let tag = head["ETag"] else { return false }
    return Self.opaque(tag) != stored?.tag.map(Self.opaque)
  }

  /// Removes the weakness mark: nginx's 304 has the strong form of a weak tag.
  static func opaque(_ tag: String) -> Substring {
    tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
  }

  /// Returns whether a text is a single quoted tag, or a word without quotes.
  private static func isTag(_ text: String) -> Bool {
    let tag = opaque(text)
    let isQuoted = tag.count > 1 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
    let inner = isQuoted ? tag.dropFirst().dropLast() : text[...]
    return !inner.contains("\"") && (isQuoted || !inner.contains { "*, /".contains($0) })
  }
}
