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
  private struct Question {
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
    _ night: [NightAnswer],
    headers: CacheModel.Headers,
    purpose: Purpose,
    at time: ClosedRange<Int64>
  ) throws(Objection) {
    (hasFailed, hasRefused, isStillFresh) = (false, false, false)
    let wish = purpose == .usual ? nil : "\(purpose)"
    let now = night.isEmpty ? time.lowerBound : time.upperBound
    guard let reason = wish ?? model.question(headers, at: now) else {
      guard night.isEmpty else {
        throw Objection("asked, though fresh until \(model.stored?.end ?? 0)")
      }
      return
    }
    guard !night.isEmpty else { throw Objection("not asked: \(reason)") }
    var question = Question(headers: headers, purpose: purpose, next: model.url)
    for answer in night {
      guard !question.isDone else { throw Objection("asked again after the answer") }
      // A retry after a broken body may start at the declared URL.
      guard answer.url == question.next || answer.url == model.url else {
        throw Objection("not at \(question.next)")
      }
      if answer.url == model.url { (question.ends, question.hops) = ([], []) }
      try check(answer, of: question)
      try take(answer, into: &question)
    }
    (hasFailed, hasRefused) = (!question.isDone, question.isRefused)
    isStillFresh = hasFailed && model.question(headers, at: night.last?.answered ?? 0) == nil
    guard question.isDone || night.last?.isCut == true else {
      throw Objection("given up without need")
    }
  }

  // MARK: Requests

  private func check(_ answer: NightAnswer, of question: Question) throws(Objection) {
    if question.isUnconditional, answer.sent["Cache-Control"] != "no-cache" {
      throw Objection(
        "it does not say no-cache: \(question.isRefused ? "asked twice" : "refetched")"
      )
    }
    let isOwn = model.stored?.url == answer.url && !question.isUnconditional
    let wanted = [true, false].map { countingHops -> (tag: String?, date: String?) in
      isOwn ? model.conditions(question.headers, countingHops: countingHops) : (nil, nil)
    }
    let tag = answer.sent["If-None-Match"]
    guard wanted.contains(where: { $0.tag == tag }) else {
      throw Objection("If-None-Match is `\(tag ?? "none")`, not `\(wanted[0].tag ?? "none")`")
    }
    let since = answer.sent["If-Modified-Since"]
    guard wanted.contains(where: { $0.date == since }) else {
      throw Objection(
        "If-Modified-Since is `\(since ?? "none")`, not `\(wanted[0].date ?? "none")`"
      )
    }
    guard let condition = answer.sent["If-Range"] else { return }
    guard let part, part.url == answer.url else { throw Objection("If-Range for no part") }
    let isDate = condition == part.head["Last-Modified"]
    guard
      isDate && model.selects(part.selectors, question.headers) || condition == part.head["ETag"]
    else { throw Objection("If-Range is `\(condition)`, which is not of this part") }
  }

  // MARK: Answers

  private mutating func take(_ answer: NightAnswer, into question: inout Question) throws(Objection)
  {
    if let target = answer.target {
      question.next = target
      question.ends.append(model.end(of: answer.head, answer))
      question.hops += Self.selectors(of: answer, answer.head)
      return
    }
    question.next = answer.url
    switch answer.status {
    case 304:
      if model.refuses(answer.head) {
        question.isRefused = true
      } else {
        confirm(answer, &question)
      }
    case 200, 206:
      try takeBody(answer, &question)
    default:
      throw Objection("a \(answer.status)")
    }
  }

  private mutating func confirm(_ answer: NightAnswer, _ question: inout Question) {
    guard var stored = model.stored else { return }
    stored.head = stored.head.updated(by: answer.head)
    stored.selectors = Self.selectors(of: answer, stored.head)
    store(stored, answer, &question)
  }

  private mutating func takeBody(
    _ answer: NightAnswer,
    _ question: inout Question
  ) throws(Objection) {
    var head = answer.head
    // The stored head of a partial body is updated by the response with the rest.
    if answer.status == 206, let part { head = part.head.updated(by: head) }
    head.remove("Content-Range")
    let selectors = Self.selectors(of: answer, head)
    guard !answer.isCut else {
      part = Part(url: answer.url, head: head, selectors: selectors)
      return
    }
    part = nil
    if let stored = model.stored, stored.url == answer.url, stored.body == answer.whole {
      let conditions = model.conditions(question.headers, countingHops: true)
      guard question.isUnconditional || conditions.tag == nil && conditions.date == nil else {
        throw Objection("an unchanged body moved")
      }
    }
    let stored = CacheModel.Stored(
      url: answer.url,
      head: head,
      tag: head["ETag"],
      body: answer.whole,
      selectors: selectors,
      hopSelectors: [],
      end: 0
    )
    store(stored, answer, &question)
  }

  private mutating func store(
    _ given: CacheModel.Stored,
    _ answer: NightAnswer,
    _ question: inout Question
  ) {
    var stored = given
    stored.hopSelectors = question.hops
    stored.end = model.end(question.ends + [model.end(of: stored.head, answer)], answer)
    model.stored = stored
    question.isDone = true
  }

  private static func selectors(of answer: NightAnswer, _ head: NightHead) -> [CacheModel.Selector]
  {
    (head["Vary"] ?? "").split(separator: ",").map { $0.drop { $0 == " " }.lowercased() }
      .filter { $0 != "accept-encoding" }
      .map { CacheModel.Selector(url: answer.url, name: $0, value: answer.sent[$0]) }
  }
}
