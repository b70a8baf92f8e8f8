/// Follows a night's requests for one URL with the model and reports the first wrong one.
struct NightWitness {
  struct Objection: Error {
    var sentence: String

    init(_ sentence: String) {
      self.sentence = sentence
    }
  }

  /// A body that broke off.
  private struct Part {
    var url: String
    var head: NightHead
    var selectors: [CacheModel.Selector]
  }

  /// Purpose of a night.
  enum Purpose: CaseIterable {
    case usual
    /// All stored items are revalidated.
    case revalidate
    /// All items are fetched again.
    case refetch
  }

  /// State of one night's request chain.
  private struct Lookup {
    var headers: CacheModel.Headers
    var purpose: Purpose
    /// Expected URL of the next request.
    var next: String
    /// End of freshness of each response on the way to the body.
    var ends: [Int64] = []
    var hops: [CacheModel.Selector] = []
    /// Whether a 304 was about another representation.
    var isRefused = false
    /// Whether the stored response must not be revalidated.
    var isUnconditional: Bool { isRefused || purpose == .refetch }
    var isDone = false
  }

  var model: CacheModel
  private var part: Part?
  /// Whether the last night's requests failed.
  private(set) var hasFailed = false
  /// Whether the stored response is still fresh although a request failed.
  private(set) var isStillFresh = false
  private(set) var hasRefused = false

  init(_ model: CacheModel) {
    self.model = model
  }

  /// Checks a night; `headers` go to the item's own server only, `time` is when freshness was
  /// judged.
  mutating func follow(
    _ night: [NightResponse],
    headers: CacheModel.Headers,
    purpose: Purpose,
    at time: ClosedRange<Int64>
  ) throws(Objection) {
    (hasFailed, hasRefused, isStillFresh) = (false, false, false)
    let wish = purpose == .usual ? nil : "\(purpose)"
    let now = night.isEmpty ? time.lowerBound : time.upperBound
    guard let reason = wish ?? model.requestReason(headers, at: now) else {
      guard night.isEmpty else {
        throw Objection("asked, though fresh until \(model.stored?.end ?? 0)")
      }
      return
    }
    guard !night.isEmpty else { throw Objection("not asked: \(reason)") }
    var lookup = Lookup(headers: headers, purpose: purpose, next: model.url)
    for response in night {
      guard !lookup.isDone else { throw Objection("asked again after the answer") }
      // A retry after a broken body may start at the declared URL.
      guard response.url == lookup.next || response.url == model.url else {
        throw Objection("not at \(lookup.next)")
      }
      if response.url == model.url { (lookup.ends, lookup.hops) = ([], []) }
      try check(response, of: lookup)
      try accept(response, into: &lookup)
    }
    (hasFailed, hasRefused) = (!lookup.isDone, lookup.isRefused)
    isStillFresh = hasFailed && model.requestReason(headers, at: night.last?.finishedAt ?? 0) == nil
    guard lookup.isDone || night.last?.isCut == true else {
      throw Objection("given up without need")
    }
  }

  // MARK: Requests

  private func check(_ response: NightResponse, of lookup: Lookup) throws(Objection) {
    if lookup.isUnconditional, response.sent["Cache-Control"] != "no-cache" {
      throw Objection(
        "it does not say no-cache: \(lookup.isRefused ? "asked twice" : "refetched")"
      )
    }
    let isOwn = model.stored?.url == response.url && !lookup.isUnconditional
    let wanted = [true, false].map { countingHops -> (tag: String?, date: String?) in
      isOwn ? model.conditions(lookup.headers, countingHops: countingHops) : (nil, nil)
    }
    let tag = response.sent["If-None-Match"]
    guard wanted.contains(where: { $0.tag == tag }) else {
      throw Objection("If-None-Match is `\(tag ?? "none")`, not `\(wanted[0].tag ?? "none")`")
    }
    let since = response.sent["If-Modified-Since"]
    guard wanted.contains(where: { $0.date == since }) else {
      throw Objection(
        "If-Modified-Since is `\(since ?? "none")`, not `\(wanted[0].date ?? "none")`"
      )
    }
    guard let condition = response.sent["If-Range"] else { return }
    guard let part, part.url == response.url else { throw Objection("If-Range for no part") }
    let isDate = condition == part.head["Last-Modified"]
    guard
      isDate && model.selects(part.selectors, lookup.headers) || condition == part.head["ETag"]
    else { throw Objection("If-Range is `\(condition)`, which is not of this part") }
  }

  // MARK: Answers

  private mutating func accept(
    _ response: NightResponse,
    into lookup: inout Lookup
  ) throws(Objection) {
    if let target = response.target {
      lookup.next = target
      lookup.ends.append(model.end(of: response.head, response))
      lookup.hops += Self.selectors(of: response, response.head)
      return
    }
    lookup.next = response.url
    switch response.status {
    case 304:
      if model.refuses(response.head) {
        lookup.isRefused = true
      } else {
        confirm(response, &lookup)
      }
    case 200, 206:
      try acceptBody(response, &lookup)
    default:
      throw Objection("a \(response.status)")
    }
  }

  private mutating func confirm(_ response: NightResponse, _ lookup: inout Lookup) {
    guard var stored = model.stored else { return }
    stored.head = stored.head.updated(by: response.head)
    stored.selectors = Self.selectors(of: response, stored.head)
    store(stored, response, &lookup)
  }

  private mutating func acceptBody(
    _ response: NightResponse,
    _ lookup: inout Lookup
  ) throws(Objection) {
    var head = response.head
    // The stored head of a partial body is updated by the response with the rest.
    if response.status == 206, let part { head = part.head.updated(by: head) }
    head.remove("Content-Range")
    let selectors = Self.selectors(of: response, head)
    guard !response.isCut else {
      part = Part(url: response.url, head: head, selectors: selectors)
      return
    }
    part = nil
    if let stored = model.stored, stored.url == response.url, stored.body == response.whole {
      let conditions = model.conditions(lookup.headers, countingHops: true)
      guard lookup.isUnconditional || conditions.tag == nil && conditions.date == nil else {
        throw Objection("an unchanged body moved")
      }
    }
    let stored = CacheModel.Stored(
      url: response.url,
      head: head,
      tag: head["ETag"],
      body: response.whole,
      selectors: selectors,
      hopSelectors: [],
      end: 0
    )
    store(stored, response, &lookup)
  }

  private mutating func store(
    _ given: CacheModel.Stored,
    _ response: NightResponse,
    _ lookup: inout Lookup
  ) {
    var stored = given
    stored.hopSelectors = lookup.hops
    stored.end = model.end(lookup.ends + [model.end(of: stored.head, response)], response)
    model.stored = stored
    lookup.isDone = true
  }

  private static func selectors(
    of response: NightResponse,
    _ head: NightHead
  ) -> [CacheModel.Selector] {
    (head["Vary"] ?? "").split(separator: ",").map { $0.drop { $0 == " " }.lowercased() }
      .filter { $0 != "accept-encoding" }
      .map { CacheModel.Selector(url: response.url, name: $0, value: response.sent[$0]) }
  }
}
