/// One question to the network until it is answered: sources, hops, attempts, conditions, parts and
/// credentials.
///
/// Every hop is a request of its own under the whole policy; nothing follows a redirect for us.
package struct Exchange: Sendable {
  /// What to do after a result.
  package enum Step: Sendable {
    /// Send the next request at once.
    case ask
    /// Send it after a pause.
    case wait(Duration)
    case answered(TransferResponse)
    case failed(Failure, status: Int?)
    /// The server wants to be left alone for longer than the run may wait, or the run ends before.
    case deferred(Deferral, status: Int?)
  }

  package let url: WebURL
  /// Further places of the same bytes, in the order in which they are asked.
  package let alternates: [WebURL]
  package internal(set) var hop: WebURL
  /// Of the present source.
  package internal(set) var redirects: [RedirectHop] = []
  /// What the answers of the present source state that led to ``hop``.
  package internal(set) var hops: [HopTerms] = []
  /// Requests sent, whatever for.
  package private(set) var attempts = 0
  /// What is kept of the body, should it have broken off.
  package internal(set) var partial: PartialBody?

  /// 0 is the declared URL, others are alternates.
  var sourceNumber = 0
  /// How often the present source was tried since something last moved there.
  var tries = 0
  /// The same from its beginning.
  var triesOfSource = 0
  /// The next request belongs to the try that is under way.
  var isFollowUp = false
  /// A part that does not fit is given up once, an outdated redirect asked for anew once.
  var hasDroppedPart = false
  /// Requests for the rest of a part that brought nothing of it.
  var fruitlessParts = 0
  var hasStartedOver = false
  /// Whether a redirect of the present chain is what a second tier says that the origin said.
  var isLedByTier = false
  /// What ended an earlier source; it counts if no later one brings the body.
  var setAside: Step?
  /// Whether no source is left.
  var isExhausted = false
  /// What ended each source that was given up, and what spoke against asking others.
  package internal(set) var endings: [SourceResult] = []
  var allowsCoding: Bool
  /// Who named the URL of the present hop.
  package internal(set) var provenance: Provenance
  /// Whether the last request carried what a rule of the configuration adds and proves who we are.
  private(set) var carriesRuleCredentials = false
  /// Of the last request.
  private(set) var hasSentPart = false
  /// What of the last request may have selected its answer.
  private var selecting: [HeaderField] = []
  /// What a second tier may be asked for first; nil where it is passed by.
  package var tierQuestion: TierQuestion?
  /// Whether no request so far proved who asks, and no redirect was for us alone.
  var isAnonymous = true
  /// Whether whatever stands between is to be passed: the question is what the origin has.
  private var meansOrigin: Bool

  package let purpose: RequestPurpose
  /// Of the first hop of every source.
  let firstProvenance: Provenance

  var method: TransferRequest.Method
  private var conditions: Validators
  /// Validators belong to the URL that gave them, which after redirects is not the first one.
  private let conditionURL: String?
  /// Whether the headers hold the license.
  private let holdsLicense: Bool
  /// Whether the first origin was chosen by the configuration, by the user, or by itself.
  private let isOriginChosen: Bool
  /// Private to the first origin.
  private let headers: [HeaderField]
  /// The media types asked for, on every hop.
  private let accept: String?
  /// For one origin, whichever hop leads there.
  private let credentials: Shared<OriginCredentials>?
  let sizeLimit: Int64?
  /// Whether it asks what there is, rather than for an item.
  let isLookup: Bool
  private let expectedSize: Int64?
  private let isPinned: Bool
  private let partialKey: String?
  private let keepsBody: Bool
  /// Of the store, for digests of what selects answers.
  private let key: VarianceKey
  private var algorithms: Set<DigestAlgorithm>
  /// Of the last request.
  private var askedAlgorithms: Set<DigestAlgorithm> = []
  private var triesInAll = 0
  private var wasFollowUp = false

  /// `partial` is what an earlier run kept under `partialKey`.
  package init(
    url: WebURL,
    alternates: [WebURL] = [],
    method: TransferRequest.Method = .get,
    headers: [HeaderField] = [],
    credentials: Shared<OriginCredentials>? = nil,
    conditions: Validators = Validators(),
    conditionURL: String? = nil,
    allowsCoding: Bool = true,
    sizeLimit: Int64? = nil,
    expectedSize: Int64? = nil,
    isPinned: Bool = false,
    algorithms: Set<DigestAlgorithm> = [],
    partialKey: String? = nil,
    partial: PartialBody? = nil,
    keepsBody: Bool = true,
    purpose: RequestPurpose = .other,
    provenance: Provenance = .local,
    holdsLicense: Bool = false,
    isOriginChosen: Bool = true,
    accept: String? = nil,
    meansOrigin: Bool = false,
    isLookup: Bool = false,
    key: VarianceKey = VarianceKey()
  ) {
    self.isLookup = isLookup
    self.accept = accept
    self.meansOrigin = meansOrigin
    self.key = key
    self.keepsBody = keepsBody
    self.url = url
    self.purpose = purpose
    self.provenance = provenance
    firstProvenance = provenance
    self.alternates = alternates
    hop = url
    self.method = method
    self.headers = headers
    self.holdsLicense = holdsLicense
    self.isOriginChosen = isOriginChosen
    self.credentials = credentials
    self.conditions = conditions
    self.conditionURL = conditionURL ?? url.string
    self.allowsCoding = allowsCoding
    self.sizeLimit = sizeLimit
    self.expectedSize = expectedSize
    self.isPinned = isPinned
    self.algorithms = algorithms
    self.partialKey = partialKey
    self.partial = partial
  }

  /// The URL at which the present chain of hops began.
  package var source: WebURL {
    sourceNumber == 0 ? url : alternates[sourceNumber - 1]
  }

  package var asksForBody: Bool {
    method != .head
  }

  package var isAlternate: Bool {
    sourceNumber > 0
  }

  /// Whether the last request repeated what was asked before, there or elsewhere.
  package var isRetry: Bool {
    triesInAll > 1
  }

  package mutating func nextRequest(
    _ id: TransferID,
    over connection: Shared<ConnectionRules>? = nil
  ) -> TransferRequest {
    attempts += 1
    if !isFollowUp {
      tries += 1
      triesOfSource += 1
      triesInAll += 1
    }
    wasFollowUp = isFollowUp
    isFollowUp = false
    askedAlgorithms = algorithms
    let declared = declaredFields
    selecting = declared
    let part = method == .get ? partial : nil
    hasSentPart = part != nil
    var request = TransferRequest(
      id: id,
      method: method,
      url: hop,
      headers: declared.isEmpty ? conditionFields : declared + conditionFields
    )
    // A range of a coded body is a range of other bytes.
    request.allowsCoding = allowsCoding && part == nil
    request.sizeLimit = sizeLimit
    request.algorithms = algorithms
    request.expectedSize = expectedSize
    request.isPinned = isPinned
    request.partialKey = method == .get ? partialKey : nil
    request.partial = part
    request.connection = connection
    request.keepsBody = keepsBody
    if tierQuestion != nil, method == .get || method == .head, keepsBody, sourceNumber == 0,
      triesInAll <= 1, !meansOrigin,
      !headers.contains(where: { $0.name.lowercased() == "range" })
    {
      request.tierQuestion = tierQuestion
      request.tierQuestion?.isFirstHop = redirects.isEmpty
      request.tierQuestion?.isLedByTier = isLedByTier
    }
    return request
  }

  /// The same with what its connection must prove.
  mutating func nextRequest(
    _ id: TransferID,
    under connections: inout ConnectionTable,
    at now: Instant
  ) -> TransferRequest {
    let terms = connections.terms(
      for: hop,
      method: method,
      purpose: purpose,
      named: provenance,
      isFirstOrigin: isOriginChosen && isAtFirstOrigin,
      at: now
    )
    var request = nextRequest(id, over: terms.connection)
    if terms.headers.isEmpty {
      carriesRuleCredentials = false
    } else {
      selecting += RequestFields.missing(terms.headers, in: selecting)
      carriesRuleCredentials = ConnectionTable.add(terms.headers, to: &request)
    }
    // What is asked for in a way of our own may be answered so, whether the server says that or not.
    if !ownHeaders.isEmpty || carriesCredentials || terms.connection?.value.client != nil {
      isAnonymous = false
    }
    // What others were told may not be what we would be.
    if !isAnonymous { request.tierQuestion?.granted = nil }
    return request
  }

  /// Undoes the last ``nextRequest(_:)``, whose request never went out.
  package mutating func takeBack() {
    attempts -= 1
    isFollowUp = wasFollowUp
    guard !wasFollowUp else { return }
    tries -= 1
    triesOfSource -= 1
    triesInAll -= 1
  }

  /// Forgets the validators, for an answer that does not fit them; the question stays the same.
  package mutating func dropConditions() {
    conditions = Validators()
    meansOrigin = true
    isFollowUp = true
  }

  /// What the answer to the last request states, once every hop before it is counted in.
  package func terms(
    of headers: HeaderBlock,
    at timing: Freshness.Timing,
    agent: String
  ) -> HopTerms {
    HopTerms(
      headers,
      from: hop.string,
      of: url.string,
      asked: headers.has(.vary) ? RequestFields.selecting(selecting, agent: agent) : [],
      at: timing,
      key: key
    )
  }

  /// Digests to take from the next request on.
  package mutating func require(_ more: Set<DigestAlgorithm>) {
    algorithms.formUnion(more)
  }

  /// Whether the answer to the last request comes with these digests.
  package func hasAsked(for wanted: Set<DigestAlgorithm>) -> Bool {
    wanted.isSubset(of: askedAlgorithms)
  }

  package var isConditional: Bool {
    !conditions.isEmpty && hop.string == conditionURL
  }

  /// Whether this hop sent something that proves who we are.
  package var carriesCredentials: Bool {
    if carriesRuleCredentials { return true }
    if let credentials, credentials.value.belong(to: hop, besides: ownHeaders) { return true }
    return ownHeaders.contains { !RequestHeader.isHarmless($0.name) }
  }

  /// Whether the next request would show the license to a proxy.
  func isLicenseReadByProxy(_ connections: ConnectionPolicy) -> Bool {
    guard connections.isReadByProxy(hop, method: method) else { return false }
    if let credentials, credentials.value.belong(to: hop, besides: ownHeaders) { return true }
    guard purpose == .manifest, isAtFirstOrigin else { return false }
    if holdsLicense { return true }
    return connections.rule(for: hop, method: method)
      .map { !connections.rules[$0].manifestHeaders.isEmpty } ?? false
  }

  package var isAtFirstOrigin: Bool {
    hop.origin == url.origin
  }

  private var ownHeaders: [HeaderField] {
    isAtFirstOrigin ? headers : []
  }

  private var declaredFields: [HeaderField] {
    RequestFields.declared(own: ownHeaders, accept: accept, credentials: credentials, at: hop)
  }

  private var conditionFields: [HeaderField] {
    guard isConditional else {
      return meansOrigin ? [HeaderField("Cache-Control", "no-cache")] : []
    }
    return Self.conditionFields(conditions)
  }

  static func conditionFields(_ conditions: Validators) -> [HeaderField] {
    var fields: [HeaderField] = []
    fields.reserveCapacity(3)
    if let tag = conditions.entityTag { fields.append(HeaderField("If-None-Match", tag)) }
    if let date = conditions.lastModified { fields.append(HeaderField("If-Modified-Since", date)) }
    // Past any shared cache on the way: the question is what the origin holds.
    fields.append(HeaderField("Cache-Control", "max-age=0"))
    return fields
  }

  /// Archives and media do not shrink, and large bodies must stay resumable.
  static func isWorthCoding(size: Int64?, path: String) -> Bool {
    if let size, size > 8 << 20 { return false }
    // The letters behind the last dot as one number, as long as they fit.
    var suffix: UInt64 = 0
    let bytes = path.utf8.span
    for place in bytes.indices.suffix(packedLength + 1).reversed() {
      if bytes[place] == UInt8(ascii: ".") { return !packedSuffixes.contains(suffix) }
      suffix = suffix << 8 | UInt64(ASCII.lowercased(bytes[place]))
    }
    return true
  }

  private static let packedLength = 5
  /// Few enough to be looked through faster than hashed.
  private static let packedSuffixes = [
    "gz", "tgz", "xz", "zst", "bz2", "br", "zip", "7z", "rar", "jar", "whl", "deb", "rpm", "apk",
    "iso", "img", "png", "jpg", "jpeg", "gif", "webp", "avif", "mp3", "m4a", "aac", "ogg", "opus",
    "mp4", "m4s", "m4v", "mkv", "webm", "mov", "ts", "pdf", "woff", "woff2",
  ].map { $0.utf8.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
}
