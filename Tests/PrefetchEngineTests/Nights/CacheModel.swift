/// What RFC 9111 and our own promises let a cache do with one declared URL, told from the answers
/// that its servers gave and from nothing else.
///
/// Written from the documents, not from the product, so that no mistake is made twice.
struct CacheModel {
  /// A header that chose an answer, as it was sent to the server of that answer.
  struct Selector {
    var url: String
    var name: String
    var value: String?
  }

  struct Stored {
    var url: String
    var head: NightHead
    /// As the body came with it.
    var tag: String?
    var body: [UInt8]
    var selectors: [Selector]
    var hopSelectors: [Selector]
    /// The first second in which it is no longer fresh.
    var end: Int64
  }

  typealias Headers = [String: String]

  let url: String
  let grant: NightItem.Grant
  /// What dates mean; what is not among them is none.
  var dates: [String: Int64] = [:]
  var stored: Stored?

  init(url: String, grant: NightItem.Grant) {
    self.url = url
    self.grant = grant
  }

  // MARK: Reuse (RFC 9111, 4)

  /// Why a request is needed; nil where what is stored serves without.
  func question(_ headers: Headers, at now: Int64) -> String? {
    guard let stored else { return "nothing is stored" }
    guard selects(stored.selectors + stored.hopSelectors, headers) else { return "another variant" }
    return grant == .always || now < stored.end ? nil : "stale since \(stored.end), now \(now)"
  }

  /// Whether what chose an answer would be sent again (4.1); a star never is.
  func selects(_ selectors: [Selector], _ headers: Headers) -> Bool {
    selectors.allSatisfy { selector in
      // What is declared for the item is private to its own server.
      let sent = selector.url.hasPrefix(NightItem.host) ? headers[selector.name] : nil
      return selector.name != "*" && selector.value == sent
    }
  }

  /// The first second in which an answer with this head is no longer fresh by its own words (4.2).
  func end(of head: NightHead, _ answer: NightAnswer) -> Int64 {
    let directives = Self.directives(head["Cache-Control"] ?? "")
    guard directives["no-store"] == nil, directives["no-cache"] == nil else { return .min }
    let (asked, received) = (answer.asked, answer.received)
    let date = head["Date"].flatMap { dates[$0] } ?? received
    let told = answer.head["Age"]?.prefix { $0 != "," }
    let age = max(0, received - date, (told.flatMap { Int64($0) } ?? 0) + received - asked)
    var lifetime: Int64?
    if let maximum = directives["max-age"] {
      lifetime = maximum.allSatisfy(\.isNumber) ? Int64(maximum) ?? 0 : 0
    } else if let expires = head["Expires"] {
      lifetime = dates[expires].map { $0 - date } ?? 0
    }
    if let lifetime { return received + lifetime - age }
    return if case .seconds = grant { .max } else { .min }
  }

  /// Redirects lend no freshness, and what is granted counts from the answer that brought the body.
  func end(_ ends: [Int64], _ answer: NightAnswer) -> Int64 {
    let stated = ends.min() ?? .max
    guard case .seconds(let seconds) = grant else { return stated }
    return min(stated, answer.answered + seconds)
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

  /// The tag and the date that go to the URL of what is stored: of another variant's only a tag that
  /// names one representation among all variants.
  ///
  /// Where only a redirect on the way was another variant's, to count the body as one is no more than
  /// caution, so it may be looked at either way.
  func conditions(_ headers: Headers, countingHops: Bool) -> (tag: String?, date: String?) {
    guard let stored else { return (nil, nil) }
    let selectors = stored.selectors + (countingHops ? stored.hopSelectors : [])
    let isSelected = selects(selectors, headers)
    let tag = stored.tag.flatMap { Self.isTag($0) && (isSelected || $0.hasPrefix("\"")) ? $0 : nil }
    let date = stored.head["Last-Modified"].flatMap { dates[$0] == nil || !isSelected ? nil : $0 }
    return (tag, date)
  }

  /// Whether a 304 speaks of something else than what is stored.
  func refuses(_ head: NightHead) -> Bool {
    guard let tag = head["ETag"] else { return false }
    return Self.opaque(tag) != stored?.tag.map(Self.opaque)
  }

  /// Without its mark of weakness: a 304 of nginx has the strong form of a weak tag.
  static func opaque(_ tag: String) -> Substring {
    tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
  }

  /// One tag in quotes, or a word without any.
  private static func isTag(_ text: String) -> Bool {
    let tag = opaque(text)
    let isQuoted = tag.count > 1 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
    let inner = isQuoted ? tag.dropFirst().dropLast() : text[...]
    return !inner.contains("\"") && (isQuoted || !inner.contains { "*, /".contains($0) })
  }
}
