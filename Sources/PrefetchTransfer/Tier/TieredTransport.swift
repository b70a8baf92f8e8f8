package import PrefetchCore
internal import PrefetchCrypto

/// A transport that asks a second tier before it asks an origin, and leaves there what others may use.
///
/// Its requests go out as any others do, under the same limits; nothing that the tier says is believed
/// but bytes that have the right digest and, where it is trusted, what an origin said.
package final class TieredTransport: Transport, SecondTier {
  /// What the tier is spoken to with.
  package struct Terms {
    package var settings: TierSettings
    /// Below it lie `cas/` and `ac/`.
    package var base: WebURL
    /// Puts into a request what its connection must prove, and what proves who asks.
    package var equip: (inout TransferRequest, ContentDigest) -> Void
    package var encode: (OriginAnswer) -> [UInt8]
    /// What is said of a URL.
    package var decode: ([UInt8], String) -> OriginAnswer?
    /// Where the store has a body.
    package var path: (ContentDigest) -> String

    package init(
      settings: TierSettings,
      base: WebURL,
      equip: @escaping (inout TransferRequest, ContentDigest) -> Void,
      encode: @escaping (OriginAnswer) -> [UInt8],
      decode: @escaping ([UInt8], String) -> OriginAnswer?,
      path: @escaping (ContentDigest) -> String
    ) {
      self.settings = settings
      self.base = base
      self.equip = equip
      self.encode = encode
      self.decode = decode
      self.path = path
    }
  }

  /// What waits for an answer of the tier, or for one of the origin that the tier's word led to.
  private struct Lookup {
    enum Step {
      case record
      case body(OriginAnswer?)
      case origin(OriginAnswer)
    }

    let request: TransferRequest
    /// Where the transport makes the request itself.
    let order: Order?
    var step: Step
    /// Whether the tier is passed by when what is under way has ended.
    var isAbandoned = false
    var wireBytes: Int64 = 0
  }

  let terms: Terms
  let inner: any Transport
  /// Where its bodies arrive.
  private let staging: any BodyStaging
  private let clock: any Clock
  package internal(set) var figures: TierFigures
  private var lookups: [TransferID: Lookup] = [:]
  private var cancelled: Set<TransferID> = []
  /// What is known of the URLs that redirects of known answers lead to.
  private var chains: [String: OriginAnswer] = [:]
  private var mayRead: Bool
  /// How often in a row it could not be reached, or gave what it should not.
  private var failuresInRow = 0
  private var liesInRow = 0
  var writing = TierWriting()

  package init(
    _ inner: any Transport,
    staging: any BodyStaging,
    clock: any Clock,
    terms: Terms,
    objection: Failure? = nil
  ) {
    self.inner = inner
    self.staging = staging
    self.clock = clock
    self.terms = terms
    figures = TierFigures(host: terms.base.authority)
    figures.isRequired = terms.settings.isRequired
    mayRead = objection == nil && terms.settings.isRead
    writing.isOn = objection == nil && terms.settings.isWritten
    if let objection { figures.note(objection) }
  }

  // MARK: Requests

  package func start(_ request: TransferRequest) {
    guard !begin(request, order: nil) else { return }
    inner.start(request)
  }

  package func start(_ id: TransferID, _ order: Order) {
    guard mayRead, order.terms.request.tierQuestion != nil else { return inner.start(id, order) }
    guard !begin(order.request(id), order: order) else { return }
    inner.start(id, order)
  }

  /// Whether the tier is asked first.
  private func begin(_ request: TransferRequest, order: Order?) -> Bool {
    guard mayRead, let question = request.tierQuestion else { return false }
    var step: Lookup.Step?
    if !question.isFirstHop {
      step = chains.removeValue(forKey: request.url.string).map { .body($0) }
    } else if question.digest != nil {
      step = .body(nil)
    } else if terms.settings.isTrusted, question.granted != nil {
      step = .record
    }
    guard let step else { return false }
    lookups[request.id] = Lookup(request: request, order: order, step: step)
    ask(request.id)
    return true
  }

  private func ask(_ id: TransferID) {
    guard let lookup = lookups[id] else { return }
    switch lookup.step {
    case .record:
      var request = question(id, .record(of: lookup.request.url.string))
      request.sizeLimit = Self.longestRecord
      request.prefixLength = Int(Self.longestRecord)
      request.keepsBody = false
      start(request, like: lookup.request)
    case .body(let answer):
      guard let digest = answer?.digest ?? lookup.request.tierQuestion?.digest else { return }
      var request = question(id, .body(digest))
      request.sizeLimit = lookup.request.sizeLimit
      request.expectedSize = answer?.size ?? lookup.request.expectedSize
      request.algorithms = lookup.request.algorithms
      start(request, like: lookup.request)
    case .origin(let answer):
      var request = lookup.request
      if !Self.isConditional(request) {
        request.headers += Self.conditions(answer.validators)
      }
      inner.start(request)
    }
  }

  private func question(_ id: TransferID, _ name: TierName) -> TransferRequest {
    request(id, .get, name, payload: SHA256.digest(of: []))
  }

  func request(
    _ id: TransferID,
    _ method: TransferRequest.Method,
    _ name: TierName,
    payload: ContentDigest,
    type: String? = nil
  ) -> TransferRequest {
    var request = TransferRequest(id: id, method: method, url: name.url(below: terms.base))
    if let type { request.headers = [HeaderField("Content-Type", type)] }
    request.allowsCoding = false
    request.patience = terms.settings.timeout
    request.needsLength = true
    terms.equip(&request, payload)
    return request
  }

  private func start(_ request: TransferRequest, like original: TransferRequest) {
    var request = request
    request.rateGroup = original.rateGroup
    request.allowances = original.allowances
    inner.start(request)
  }

  package func cancel(_ id: TransferID) {
    if lookups[id] != nil { cancelled.insert(id) }
    inner.cancel(id)
  }

  // MARK: Answers

  package func wait(until deadline: Duration?) -> [TransferEvent] {
    let events = inner.wait(until: deadline)
    guard !lookups.isEmpty || writing.isUnderWay else { return events }
    var told: [TransferEvent] = []
    told.reserveCapacity(events.count)
    for event in events {
      guard case .finished(let id, let result) = event else {
        if case .progressed(let id, _) = event, id.number < 0 { continue }
        told.append(event)
        continue
      }
      if id.number < 0 {
        written(id, result)
      } else if var lookup = lookups[id] {
        lookup.wireBytes += result.figures.wireBytes
        lookups[id] = lookup
        if let end = received(id, lookup, result) {
          lookups[id] = nil
          cancelled.remove(id)
          told.append(.finished(id, end))
        }
      } else {
        told.append(event)
      }
    }
    write()
    return told
  }

  /// What the request came to; nil where something else is asked first.
  private func received(
    _ id: TransferID,
    _ lookup: Lookup,
    _ result: TransferResult
  ) -> TransferResult? {
    let earlier = lookup.wireBytes - result.figures.wireBytes
    let isAsked = cancelled.contains(id)
    if isAsked {
      if case .success(let response) = result.outcome, let body = response.body,
        !isRecord(lookup.step)
      {
        staging.discard(body)
      }
      let failure = result.failure ?? Failure(.cancelled, "it was called back")
      return result.answered(.failure(failure), besides: earlier)
    }
    if case .origin(let answer) = lookup.step {
      return originAnswered(id, lookup, answer, result, besides: earlier)
    }
    if result.wasNotSent || lookup.isAbandoned || !mayRead {
      if case .success(let response) = result.outcome, let body = response.body,
        !isRecord(lookup.step)
      {
        staging.discard(body)
      }
      return pass(id, lookup)
    }
    switch result.outcome {
    case .failure(let failure):
      return inVain(id, lookup, failure, result)
    case .success(let response):
      switch response.status {
      case 200: break
      case 404, 410:
        liesInRow = 0
        failuresInRow = 0
        figures.misses += 1
        if case .body(let answer) = lookup.step,
          let digest = answer?.digest ?? lookup.request.tierQuestion?.digest
        {
          writing.noteMissing(digest)
        }
        return pass(id, lookup)
      default:
        return inVain(id, lookup, Self.failure(of: response.status), result)
      }
      failuresInRow = 0
      guard let body = response.body else {
        return lied(id, lookup, Failure(.badResponse, "it sent an answer without a body"))
      }
      if case .body(let answer) = lookup.step {
        return received(id, lookup, body, answer, result, besides: earlier)
      }
      guard let answer = terms.decode(body.prefix, lookup.request.url.string) else {
        return lied(id, lookup, Failure(.badResponse, "a record of it cannot be read"))
      }
      return received(id, lookup, answer, result, besides: earlier)
    }
  }

  private func isRecord(_ step: Lookup.Step) -> Bool {
    if case .record = step { true } else { false }
  }

  /// What the origin last said, as the tier has it.
  private func received(
    _ id: TransferID,
    _ lookup: Lookup,
    _ answer: OriginAnswer,
    _ result: TransferResult,
    besides earlier: Int64
  ) -> TransferResult? {
    let now = clock.now().wall
    liesInRow = 0
    let request = lookup.request
    guard let end = answer.freshUntil(under: request.tierQuestion?.granted ?? []), now < end else {
      guard answer.redirects.isEmpty, !answer.validators.isEmpty else { return pass(id, lookup) }
      lookups[id]?.step = .origin(answer)
      ask(id)
      return nil
    }
    if let redirect = answer.redirects.first {
      figures.answers += 1
      var rest = answer
      rest.redirects.removeFirst()
      if chains.count < Self.mostChains { chains[redirect.target] = rest }
      let response = TransferResponse(
        status: redirect.status,
        headers: OriginAnswer.head(of: redirect, at: now),
        body: nil,
        toldByTierAt: answer.answeredAt
      )
      return result.answered(.success(response), besides: earlier)
    }
    guard Self.confirms(answer, request) else {
      lookups[id]?.step = .body(answer)
      ask(id)
      return nil
    }
    figures.answers += 1
    let response = TransferResponse(
      status: 304,
      headers: answer.headers(at: now),
      body: nil,
      toldByTierAt: answer.answeredAt
    )
    return result.answered(.success(response), besides: earlier)
  }

  /// A body, which is what it should be or nothing.
  private func received(
    _ id: TransferID,
    _ lookup: Lookup,
    _ body: StagedBody,
    _ answer: OriginAnswer?,
    _ result: TransferResult,
    besides earlier: Int64
  ) -> TransferResult? {
    guard body.digest == answer?.digest ?? lookup.request.tierQuestion?.digest else {
      staging.discard(body)
      return lied(
        id,
        lookup,
        Failure(.badResponse, "a body of it does not have the digest that it is stored under")
      )
    }
    liesInRow = 0
    figures.hits += 1
    figures.hitBytes += body.size
    if answer != nil { figures.answers += 1 }
    writing.notePresent(body.digest)
    let now = clock.now().wall
    let response = TransferResponse(
      status: 200,
      headers: answer?.headers(at: now) ?? HeaderBlock(),
      body: body,
      toldByTierAt: answer?.answeredAt ?? now
    )
    return result.answered(.success(response), besides: earlier)
  }

  /// What the origin said when it was asked by what the tier knows of it.
  private func originAnswered(
    _ id: TransferID,
    _ lookup: Lookup,
    _ answer: OriginAnswer,
    _ result: TransferResult,
    besides earlier: Int64
  ) -> TransferResult? {
    guard case .success(let response) = result.outcome, response.status == 304 else {
      return result.answered(result.outcome, besides: earlier)
    }
    guard Revalidation.confirms(response.headers, stored: answer.validators) else {
      // What the origin confirmed to us is not what others were told.
      return Self.isConditional(lookup.request)
        ? result.answered(result.outcome, besides: earlier) : pass(id, lookup)
    }
    var renewed = answer
    renewed.headers =
      Revalidation.merge(stored: answer.headers, confirmed: response.headers).headers
    renewed.answeredAt = clock.now().wall
    renew(renewed)
    guard !Self.isConditional(lookup.request) else {
      return result.answered(result.outcome, besides: earlier)
    }
    lookups[id]?.step = .body(renewed)
    ask(id)
    return nil
  }

  // MARK: Without it

  /// The origin is asked as if there were no tier.
  private func pass(_ id: TransferID, _ lookup: Lookup) -> TransferResult? {
    lookups[id] = nil
    cancelled.remove(id)
    if let order = lookup.order { inner.start(id, order) } else { inner.start(lookup.request) }
    return nil
  }

  /// It could not be asked, or refused to answer.
  private func inVain(
    _ id: TransferID,
    _ lookup: Lookup,
    _ given: Failure,
    _ result: TransferResult
  ) -> TransferResult? {
    // What this machine has no room for is no trouble of the tier's.
    if given.code == .cancelled || given.code.category == .io {
      return result.answered(.failure(given), besides: lookup.wireBytes - result.figures.wireBytes)
    }
    // A body that is too large for the item is so wherever it comes from; the origin is asked how large.
    if given.code == .tooLarge, !isRecord(lookup.step) { return pass(id, lookup) }
    var failure = given
    failure.isTransient = false
    if given.code == .badResponse || given.code == .tooLarge {
      return lied(id, lookup, failure)
    }
    figures.note(failure)
    failuresInRow += 1
    if failuresInRow >= Self.mostFailures || failure.code.category == .trust { giveUp() }
    if terms.settings.isRequired {
      failure.message = "`cache.remote` is required: \(failure.message)"
      return result.answered(
        .failure(failure),
        besides: lookup.wireBytes - result.figures.wireBytes
      )
    }
    return pass(id, lookup)
  }

  /// It gave what it should not.
  private func lied(_ id: TransferID, _ lookup: Lookup, _ failure: Failure) -> TransferResult? {
    figures.note(failure)
    liesInRow += 1
    if liesInRow >= Self.mostLies { giveUp() }
    return pass(id, lookup)
  }

  /// Nothing more is asked of it in this run.
  private func giveUp() {
    mayRead = terms.settings.isRequired
    guard !mayRead else { return }
    chains = [:]
    for (id, lookup) in lookups {
      if case .origin = lookup.step { continue }
      lookups[id]?.isAbandoned = true
      inner.cancel(id)
    }
  }

  static func failure(of status: Int) -> Failure {
    switch status {
    case 401, 403: Failure(.credentialsRefused, "it answered \(status); look at its `credentials`")
    case 300..<400:
      Failure(.redirected, "it answered \(status), and redirects of it are not followed")
    default: Failure(.serverBusy, "it answered \(status)")
    }
  }

  // MARK: Conditions

  private static func isConditional(_ request: TransferRequest) -> Bool {
    value(of: "if-none-match", request) != nil || value(of: "if-modified-since", request) != nil
  }

  private static func value(of name: String, _ request: TransferRequest) -> String? {
    request.headers.first { $0.name.lowercased() == name }?.value
  }

  /// Whether an answer says that what a request names holds still.
  private static func confirms(_ answer: OriginAnswer, _ request: TransferRequest) -> Bool {
    if let tag = value(of: "if-none-match", request) {
      return Revalidation.confirms(answer.headers, stored: Validators(entityTag: tag))
        && answer.validators.entityTag != nil
    }
    guard let date = value(of: "if-modified-since", request) else { return false }
    return answer.validators.lastModified == date
  }

  private static func conditions(_ validators: Validators) -> [HeaderField] {
    var fields: [HeaderField] = []
    if let tag = validators.entityTag { fields.append(HeaderField("If-None-Match", tag)) }
    if let date = validators.lastModified {
      fields.append(HeaderField("If-Modified-Since", date))
    }
    return fields
  }

  static let longestRecord: Int64 = 64 << 10
  private static let mostChains = 65_536
  private static let mostFailures = 3
  private static let mostLies = 4
}

/// What something is called below the URL of a tier.
enum TierName {
  case body(ContentDigest)
  /// What an origin last said of a URL.
  case record(of: String)

  func url(below base: WebURL) -> WebURL {
    let name =
      switch self {
      case .body(let digest): "cas/\(digest.hexadecimal)"
      case .record(let url): "ac/\(SHA256.digest(of: "prefetch/1\n\(url)").hexadecimal)"
      }
    // The base is a URL, and the name has nothing that would make it none.
    return (try? WebURL(base.string + (base.string.hasSuffix("/") ? "" : "/") + name)) ?? base
  }
}
