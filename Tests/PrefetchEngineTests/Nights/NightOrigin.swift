import PrefetchCore

/// Simulated servers that follow RFC 9110, each with its item's behavior; bodies change between
/// nights.
final class NightOrigin {
  let items: [NightItem]
  private(set) var log: [NightResponse] = []
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
  func respond(_ request: TransferRequest, requestedAt: Int64, arrival: Int64) -> NightResponse {
    var fields = request.headers
    let part = request.partial.flatMap { $0.source == request.url.string ? $0 : nil }
    if let part, request.partialKey != nil {
      fields.append(HeaderField("Range", "bytes=\(part.offset)-"))
      fields.append(HeaderField("If-Range", part.validator))
    }
    var response = NightResponse(
      url: request.url.string,
      sent: NightHead(fields),
      requestedAt: requestedAt
    )
    let steps = request.url.path.split(separator: "/").map(String.init)
    if response.url == Self.listAddress {
      respondWithList(&response)
    } else if let item = items.first(where: { $0.name == steps.first }) {
      response.item = item.number
      response.head["Date"] = item.hasDate ? format(arrival + item.skew) : nil
      if let hop = hop(of: item, steps) {
        redirect(&response, hop, of: item, steps, at: arrival)
      } else {
        let version = steps.count > 1 ? steps[1].split(separator: "-") : []
        let number = version.first.flatMap { Int($0.dropFirst()) }
        let language = version.count > 1 ? String(version[1]) : Self.variant(item, response.sent)
        respondWithItem(
          &response,
          item,
          Representation(version: number ?? versions[item.number], language: language),
          isCoded: request.allowsCoding && part == nil,
          at: arrival
        )
      }
    } else {
      response.status = 404
    }
    return response
  }

  func record(_ response: NightResponse) {
    log.append(response)
  }

  private func respondWithList(_ response: inout NightResponse) {
    response.head["ETag"] = "\"list\""
    response.head["Content-Type"] = "application/json"
    response.status = response.sent["If-None-Match"] == "\"list\"" ? 304 : 200
    guard response.status == 200 else { return }
    (response.bytes, response.whole) = (list, list)
  }

  // MARK: Redirects

  private func hop(of item: NightItem, _ steps: [String]) -> Int? {
    if steps.count == 1 { return item.hops.isEmpty ? nil : 0 }
    return steps[1] == "latest" ? 1 : nil
  }

  private func redirect(
    _ response: inout NightResponse,
    _ number: Int,
    of item: NightItem,
    _ steps: [String],
    at arrival: Int64
  ) {
    let hop = item.hops[number]
    response.status = hop.status
    let host = item.isTargetElsewhere ? "https://elsewhere.example/" : NightItem.host
    let isLast = number == item.hops.count - 1
    let variant = hop.varies && isLast ? "-" + Self.variant("Accept-Language", response.sent) : ""
    let target =
      host + item.name + "/" + (isLast ? "v\(versions[item.number])\(variant)" : "latest")
    response.target = target
    response.head["Location"] = target
    // Bait: a redirect's validators describe no body.
    response.head["ETag"] = "\"hop\""
    response.head["Age"] = hop.age
    response.head["Vary"] = hop.varies && isLast ? "Accept-Language" : nil
    state(hop.control, in: &response.head, at: arrival + item.skew)
  }

  // MARK: Bodies

  private struct Representation {
    var version: Int
    var language: String
  }

  private func respondWithItem(
    _ response: inout NightResponse,
    _ item: NightItem,
    _ shown: Representation,
    isCoded: Bool,
    at arrival: Int64
  ) {
    let tag = tag(of: item, shown, isCoded: isCoded)
    let date = date(of: item, shown)
    let body = Self.body(item, shown, seed: seed)
    response.whole = body
    response.head["Vary"] = item.vary
    response.head["Age"] = item.age
    state(item.controls[night], in: &response.head, at: arrival + item.skew)
    if isUnchanged(response.sent, item, tag: tag, date: date) {
      response.status = 304
      guard item.confirmation != .mute else {
        for name in item.number.isMultiple(of: 2) ? ["Cache-Control", "Expires"] : [] {
          response.head.remove(name)
        }
        return
      }
      if item.kind == .news { response.head["X-Note"] = "night \(night)" }
      response.head["ETag"] = self.tag(of: item, shown, isCoded: false)
      response.head["Last-Modified"] = date
      return
    }
    var whole = response.head
    whole["ETag"] = tag
    whole["Last-Modified"] = date
    whole["Content-Type"] = "text/plain; v=\(shown.version)"
    whole["X-Note"] = item.kind == .news ? "night \(night)" : "v\(shown.version)"
    var dice = Dice(seed, item.number, night, log.count, 3)
    let first = rangeStart(response.sent, tag: tag, date: date, size: body.count)
    response.bytes = Array(body[(first ?? 0)...])
    response.isCut = response.bytes.count > 1 && dice.happens(item.cutChance)
    if let first {
      response.status = 206
      if item.hasBareRanges {
        response.head = NightHead()
        response.head["Date"] = whole["Date"]
        response.head["Age"] = whole["Age"]
      } else {
        response.head["ETag"] = tag
        response.head["Content-Type"] = whole["Content-Type"]
      }
      response.head["Content-Range"] = "bytes \(first)-\(body.count - 1)/\(body.count)"
    } else {
      response.status = 200
      response.head = whole
    }
    guard response.isCut else { return }
    response.bytes = Array(response.bytes[..<dice.number(1...response.bytes.count - 1)])
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
