import PrefetchCore

/// Simulated servers that follow RFC 9110, each with its item's behavior; bodies change between
/// nights.
final class NightOrigin {
  let items: [NightItem]
  private(set) var log: [NightAnswer] = []
  /// Seconds of every date text that was sent.
  private(set) var dates: [String: Int64] = [:]
  private(set) var night = 0

  private let seed: Int
  private let list: [UInt8]
  private var versions: [Int]
  private var modified: [Int64]

  static let listAddress = NightItem.host + "m.json"

  init(seed: Int, items: [NightItem], start: Int64) {
    self.seed = seed
    self.items = items
    versions = items.map { _ in 1 }
    modified = items.map { _ in start - 90_000 }
    let lines = items.map { item in
      let grant =
        switch item.grant {
        case .nothing: ""
        case .seconds(let seconds): ", \"ttl\": \"\(seconds)s\""
        case .always: ", \"ttl\": \"immutable\""
        }
      return "{\"url\": \"\(item.name)\"\(grant)}"
    }
    list = Array(
      "{\"format\": \"prefetch-manifest\", \"version\": 1, \"items\": [\(lines.joined(separator: ","))]}"
        .utf8
    )
  }

  /// Begins a night, before which some bodies may change.
  func begin(night: Int, at now: Int64, mayChange: Bool) {
    self.night = night
    log = []
    guard mayChange, night > 0 else { return }
    for item in items {
      var dice = Dice(seed, item.number, night, 2)
      guard dice.happens(item.changeChance) else { continue }
      versions[item.number] += 1
      modified[item.number] = now - 300
    }
  }

  /// Returns the response; `asked` is the time of sending, `arrival` that of receipt by the server.
  func answer(_ request: TransferRequest, asked: Int64, arrival: Int64) -> NightAnswer {
    var fields = request.headers
    let part = request.partial.flatMap { $0.source == request.url.string ? $0 : nil }
    if let part, request.partialKey != nil {
      fields.append(HeaderField("Range", "bytes=\(part.offset)-"))
      fields.append(HeaderField("If-Range", part.validator))
    }
    var answer = NightAnswer(url: request.url.string, sent: NightHead(fields), asked: asked)
    let steps = request.url.path.split(separator: "/").map(String.init)
    if answer.url == Self.listAddress {
      answerList(&answer)
    } else if let item = items.first(where: { $0.name == steps.first }) {
      answer.item = item.number
      answer.head["Date"] = item.hasDate ? format(arrival + item.skew) : nil
      if let hop = hop(of: item, steps) {
        redirect(&answer, hop, of: item, steps, at: arrival)
      } else {
        let version = steps.count > 1 ? steps[1].split(separator: "-") : []
        let number = version.first.flatMap { Int($0.dropFirst()) }
        let language = version.count > 1 ? String(version[1]) : Self.variant(item, answer.sent)
        answerItem(
          &answer,
          item,
          Representation(version: number ?? versions[item.number], language: language),
          isCoded: request.allowsCoding && part == nil,
          at: arrival
        )
      }
    } else {
      answer.status = 404
    }
    return answer
  }

  func note(_ answer: NightAnswer) {
    log.append(answer)
  }

  private func answerList(_ answer: inout NightAnswer) {
    answer.head["ETag"] = "\"list\""
    answer.head["Content-Type"] = "application/json"
    answer.status = answer.sent["If-None-Match"] == "\"list\"" ? 304 : 200
    guard answer.status == 200 else { return }
    (answer.bytes, answer.whole) = (list, list)
  }

  // MARK: Redirects

  private func hop(of item: NightItem, _ steps: [String]) -> Int? {
    if steps.count == 1 { return item.hops.isEmpty ? nil : 0 }
    return steps[1] == "latest" ? 1 : nil
  }

  private func redirect(
    _ answer: inout NightAnswer,
    _ number: Int,
    of item: NightItem,
    _ steps: [String],
    at arrival: Int64
  ) {
    let hop = item.hops[number]
    answer.status = hop.status
    let host = item.isTargetElsewhere ? "https://elsewhere.example/" : NightItem.host
    let isLast = number == item.hops.count - 1
    let variant = hop.varies && isLast ? "-" + Self.variant("Accept-Language", answer.sent) : ""
    let target =
      host + item.name + "/" + (isLast ? "v\(versions[item.number])\(variant)" : "latest")
    answer.target = target
    answer.head["Location"] = target
    // Bait: a redirect's validators describe no body.
    answer.head["ETag"] = "\"hop\""
    answer.head["Age"] = hop.age
    answer.head["Vary"] = hop.varies && isLast ? "Accept-Language" : nil
    state(hop.control, in: &answer.head, at: arrival + item.skew)
  }

  // MARK: Bodies

  private struct Representation {
    var version: Int
    var language: String
  }

  private func answerItem(
    _ answer: inout NightAnswer,
    _ item: NightItem,
    _ shown: Representation,
    isCoded: Bool,
    at arrival: Int64
  ) {
    let tag = tag(of: item, shown, isCoded: isCoded)
    let date = date(of: item, shown)
    let body = Self.body(item, shown, seed: seed)
    answer.whole = body
    answer.head["Vary"] = item.vary
    answer.head["Age"] = item.age
    state(item.controls[night], in: &answer.head, at: arrival + item.skew)
    if isUnchanged(answer.sent, item, tag: tag, date: date) {
      answer.status = 304
      guard item.confirmation != .mute else {
        for name in item.number.isMultiple(of: 2) ? ["Cache-Control", "Expires"] : [] {
          answer.head.remove(name)
        }
        return
      }
      if item.kind == .news { answer.head["X-Note"] = "night \(night)" }
      answer.head["ETag"] = self.tag(of: item, shown, isCoded: false)
      answer.head["Last-Modified"] = date
      return
    }
    var whole = answer.head
    whole["ETag"] = tag
    whole["Last-Modified"] = date
    whole["Content-Type"] = "text/plain; v=\(shown.version)"
    whole["X-Note"] = item.kind == .news ? "night \(night)" : "v\(shown.version)"
    var dice = Dice(seed, item.number, night, log.count, 3)
    let first = rangeStart(answer.sent, tag: tag, date: date, size: body.count)
    answer.bytes = Array(body[(first ?? 0)...])
    answer.isCut = answer.bytes.count > 1 && dice.happens(item.cutChance)
    if let first {
      answer.status = 206
      if item.hasBareRanges {
        answer.head = NightHead()
        answer.head["Date"] = whole["Date"]
        answer.head["Age"] = whole["Age"]
      } else {
        answer.head["ETag"] = tag
        answer.head["Content-Type"] = whole["Content-Type"]
      }
      answer.head["Content-Range"] = "bytes \(first)-\(body.count - 1)/\(body.count)"
    } else {
      answer.status = 200
      answer.head = whole
    }
    guard answer.isCut else { return }
    answer.bytes = Array(answer.bytes[..<dice.number(1...answer.bytes.count - 1)])
  }

  /// If-None-Match takes precedence, except at careless servers.
  private func isUnchanged(
    _ sent: NightHead,
    _ item: NightItem,
    tag: String?,
    date: String?
  ) -> Bool {
    let since = sent["If-Modified-Since"]
    if item.confirmation == .careless, since != nil, since == date { return true }
    if let known = sent["If-None-Match"] {
      // By the standard a star would match any body for ever.
      return known == "*" || tag.map { Self.opaque($0) == Self.opaque(known) } ?? false
    }
    guard let since, let date, let known = dates[since], let current = dates[date] else {
      return false
    }
    return current <= known
  }

  private func rangeStart(
    _ sent: NightHead,
    tag: String?,
    date: String?,
    size: Int
  ) -> Int? {
    guard let range = sent["Range"], let condition = sent["If-Range"], !condition.hasPrefix("W/"),
      condition == tag || condition == date,
      let first = Int(range.dropFirst("bytes=".count).dropLast()), first < size
    else { return nil }
    return first
  }

  private func tag(of item: NightItem, _ shown: Representation, isCoded: Bool) -> String? {
    guard night >= item.firstTaggedNight else { return nil }
    let name = "\(item.number).v\(shown.version)"
    return switch item.tags {
    case .none: nil
    case .strong: "\"\(name)-\(shown.language)\""
    case .weak: "W/\"\(name)\""
    case .latin: "\"caf\u{E9}\u{FF}-\(name)-\(shown.language)\""
    case .gzip: (isCoded ? "W/" : "") + "\"\(name)-\(shown.language)\""
    case .word: "\(name)-\(shown.language)"
    case .wrong(let text): text
    }
  }

  /// Returns the date of a version; older versions keep a fixed date.
  private func date(of item: NightItem, _ shown: Representation) -> String? {
    let isCurrent = shown.version == versions[item.number]
    let time = (isCurrent ? modified[item.number] : 1_600_000_000) + item.skew
    switch item.dates {
    case .none: return nil
    case .good: return format(time)
    case .fixed: return format(1_600_000_000)
    case .wrong(let text): return text
    case .old:
      let words = format(time).split(separator: " ").map(String.init)
      let day = words[1].hasPrefix("0") ? " " + words[1].dropFirst() : words[1]
      let text = "\(words[0].dropLast()) \(words[2]) \(day) \(words[4]) \(words[3])"
      dates[text] = time
      return text
    }
  }

  private func state(_ control: NightItem.Control, in head: inout NightHead, at time: Int64) {
    head["Cache-Control"] = control.directives
    head["Expires"] = control.expires ?? control.expiresAfter.map { format(time + Int64($0)) }
  }

  private func format(_ seconds: Int64) -> String {
    let text = HTTPDate.format(Instant(seconds: seconds))
    dates[text] = seconds
    return text
  }

  // MARK: Variants

  private static func variant(_ item: NightItem, _ sent: NightHead) -> String {
    guard let vary = item.vary?.lowercased() else { return "en" }
    for name in ["accept-language", "x-channel"] where vary.contains(name) {
      return variant(name, sent)
    }
    return "en"
  }

  /// Returns the variant; Dutch and unspecified languages get English.
  private static func variant(_ header: String, _ sent: NightHead) -> String {
    sent[header].map { $0 == "nl" ? "en" : $0 } ?? "en"
  }

  private static func body(_ item: NightItem, _ shown: Representation, seed: Int) -> [UInt8] {
    let line = "\(item.name) v\(shown.version) \(shown.language)\n"
    var dice = Dice(seed, item.number, shown.version, 4)
    return Array(String(repeating: line, count: dice.number(4...60)).utf8)
  }

  private static func opaque(_ tag: String) -> Substring {
    tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
  }
}
