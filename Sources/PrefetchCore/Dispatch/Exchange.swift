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

  /// What is asked, the same at every hop and in every try.
  let terms: Terms
  /// How the present source has led to where the question is put now.
  package internal(set) var chain: Chain
  package internal(set) var sources = Sources()
  var attemptCounts = Attempts()
  var part: Part
  var method: TransferRequest.Method
  private var conditions: Validators
  private var algorithms: Set<DigestAlgorithm>
  /// Of the last request.
  private var askedAlgorithms: Set<DigestAlgorithm> = []
  /// Whether the last request carried what a rule of the configuration adds and proves who we are.
  private var carriesRuleCredentials = false
  /// What of the last request may have selected its answer.
  private var selecting: [HeaderField] = []
  /// What a second tier may be asked for first; nil where it is passed by.
  package var tierQuestion: TierQuestion?
  /// Whether no request so far proved who asks, and no redirect was for us alone.
  var isAnonymous = true
  /// Whether whatever stands between is to be passed: the question is what the origin has.
  private var meansOrigin: Bool
  /// Cookies of the item that is asked for, whichever of its hops and pieces set them.
  var cookies = CookieJar()

  struct Terms: Sendable {
    let url: WebURL
    /// Further places of the same bytes, in the order in which they are asked.
    let alternates: [WebURL]
    let purpose: RequestPurpose
    /// Who named the first hop of every source.
    let provenance: Provenance
    /// Private to the first origin.
    let headers: [HeaderField]
    /// Headers for every hop, before the private ones of the same names.
    let everywhere: [HeaderField]
    /// The media types asked for, on every hop.
    let accept: String?
    /// For one origin, whichever hop leads there.
    let credentials: Shared<OriginCredentials>?
    /// Validators belong to the URL that gave them, which after redirects is not the first one.
    let conditionURL: String
    let sizeLimit: Int64?
    let expectedSize: Int64?
    let isPinned: Bool
    let partialKey: String?
    let keepsBody: Bool
    /// Whether it asks what there is, rather than for an item.
    let isLookup: Bool
    /// Whether the headers hold the license.
    let holdsLicense: Bool
    /// Whether the first origin was chosen by the configuration, by the user, or by itself.
    let isOriginChosen: Bool
    /// Of the store, for digests of what selects answers.
    let key: VarianceKey
  }

  /// The hops from a source to the one that is asked now.
  package struct Chain: Sendable {
    package internal(set) var hop: WebURL
    /// Who named the URL of the present hop.
    package internal(set) var provenance: Provenance
    package internal(set) var redirects: [RedirectHop] = []
    /// What the answers state that led to ``hop``.
    package internal(set) var terms: [HopTerms] = []
    /// Whether one of the redirects is what a second tier says that the origin said.
    var isLedByTier = false
  }

  /// The places that were asked one after the other.
  package struct Sources: Sendable {
    /// 0 is the declared URL, others are alternates.
    package internal(set) var number = 0
    /// What ended an earlier source; it counts if no later one brings the body.
    var setAside: Step?
    /// Whether no source is left.
    var isExhausted = false
    /// What ended each source that was given up, and what spoke against asking others.
    package internal(set) var endings: [SourceResult] = []
  }

  /// `partial` is what an earlier run kept under `partialKey`.
  package init(
    url: WebURL,
    alternates: [WebURL] = [],
    method: TransferRequest.Method = .get,
    headers: [HeaderField] = [],
    everywhere: [HeaderField] = [],
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
    terms = Terms(
      url: url,
      alternates: alternates,
      purpose: purpose,
      provenance: provenance,
      headers: headers,
      everywhere: everywhere,
      accept: accept,
      credentials: credentials,
      conditionURL: conditionURL ?? url.string,
      sizeLimit: sizeLimit,
      expectedSize: expectedSize,
      isPinned: isPinned,
      partialKey: partialKey,
      keepsBody: keepsBody,
      isLookup: isLookup,
      holdsLicense: holdsLicense,
      isOriginChosen: isOriginChosen,
      key: key
    )
    chain = Chain(hop: url, provenance: provenance)
    part = Part(partial, allowsCoding: allowsCoding)
    self.method = method
    self.conditions = conditions
    self.algorithms = algorithms
    self.meansOrigin = meansOrigin
  }

  package var url: WebURL { terms.url }

  package var alternates: [WebURL] { terms.alternates }

  package var hop: WebURL { chain.hop }

  package var redirects: [RedirectHop] { chain.redirects }

  package var partial: PartialBody? { part.kept }

  /// Requests sent, whatever for.
  package var attempts: Int { attemptCounts.requests }

  /// The URL at which the present chain of hops began.
  package var source: WebURL {
    sources.number == 0 ? url : alternates[sources.number - 1]
  }

  package var asksForBody: Bool {
    method != .head
  }

  package var isAlternate: Bool {
    sources.number > 0
  }

  /// Whether the last request repeated what was asked before, there or elsewhere.
  package var isRetry: Bool {
    attemptCounts.inAll > 1
  }

  package mutating func nextRequest(
    _ id: TransferID,
    over connection: Shared<ConnectionRules>? = nil
  ) -> TransferRequest {
    attemptCounts.begin()
    askedAlgorithms = algorithms
    let declared = declaredFields
    selecting = declared
    let kept = method == .get ? part.kept : nil
    part.wasSent = kept != nil
    var request = TransferRequest(
      id: id,
      method: method,
      url: hop,
      headers: declared.isEmpty ? conditionFields : declared + conditionFields
    )
    // A range of a coded body is a range of other bytes.
    request.allowsCoding = part.allowsCoding && kept == nil
    request.sizeLimit = terms.sizeLimit
    request.algorithms = algorithms
    request.expectedSize = terms.expectedSize
    request.isPinned = terms.isPinned
    request.partialKey = method == .get ? terms.partialKey : nil
    request.partial = kept
    request.connection = connection
    request.keepsBody = terms.keepsBody
    // Manifests are small, and are read even if the disk has no room for items.
    request.heedsFreeDisk = terms.purpose != .manifest
    if tierQuestion != nil, method == .get || method == .head, terms.keepsBody,
      sources.number == 0, attemptCounts.inAll <= 1, !meansOrigin,
      !terms.headers.contains(where: { $0.name.lowercased() == "range" })
    {
      request.tierQuestion = tierQuestion
      request.tierQuestion?.isFirstHop = redirects.isEmpty
      request.tierQuestion?.isLedByTier = chain.isLedByTier
    }
    return request
  }

  /// The same with what its connection must prove.
  mutating func nextRequest(
    _ id: TransferID,
    under connections: inout ConnectionTable,
    at now: Instant
  ) -> TransferRequest {
    let connection = connections.terms(
      for: hop,
      method: method,
      purpose: terms.purpose,
      named: chain.provenance,
      isFirstOrigin: terms.isOriginChosen && isAtFirstOrigin,
      at: now
    )
    var request = nextRequest(id, over: connection.connection)
    if connection.headers.isEmpty {
      carriesRuleCredentials = false
    } else {
      selecting += RequestFields.missing(connection.headers, in: selecting)
      carriesRuleCredentials = ConnectionTable.add(connection.headers, to: &request)
    }
    let hasCookies = addCookies(to: &request, under: connections, at: now)
    // What is asked for in a way of our own may be answered so, whether the server says that or not.
    if hasCookies || !ownHeaders.isEmpty || !terms.everywhere.isEmpty || carriesCredentials
      || connection.connection?.value.client != nil
    {
      isAnonymous = false
    }
    // What others were told may not be what we would be.
    if !isAnonymous { request.tierQuestion?.granted = nil }
    return request
  }

  /// Adds the cookies for the present hop to a request; returns false where there are none.
  private mutating func addCookies(
    to request: inout TransferRequest,
    under connections: ConnectionTable,
    at now: Instant
  ) -> Bool {
    guard !cookies.isEmpty else { return false }
    let place = request.headers.firstIndex { ASCII.equalsIgnoringCase($0.name, "Cookie") }
    let text = cookies.field(for: hop, besides: place.map { request.headers[$0].value }, at: now) {
      connections.isNamed($0)
    }
    guard let text else { return false }
    if let place { request.headers.remove(at: place) }
    request.headers.append(HeaderField("Cookie", text))
    selecting.removeAll { ASCII.equalsIgnoringCase($0.name, "Cookie") }
    selecting.append(HeaderField("Cookie", text))
    return true
  }

  /// Undoes the last ``nextRequest(_:)``, whose request never went out.
  package mutating func takeBack() {
    attemptCounts.takeBack()
  }

  /// Forgets the validators, for an answer that does not fit them; the question stays the same.
  package mutating func dropConditions() {
    conditions = Validators()
    meansOrigin = true
    attemptCounts.isFollowUp = true
  }

  /// Begins with the head alone, which may show that no body has to come.
  mutating func beginWithHead() {
    method = .head
    // The size of a coded body would say nothing of the stored one.
    part.allowsCoding = false
  }

  /// Goes on with the body, whose head was not enough.
  mutating func askForBody() {
    method = .get
    attemptCounts.isFollowUp = true
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
      key: terms.key
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
    !conditions.isEmpty && SealedURL.isSame(hop.string, terms.conditionURL)
  }

  /// Whether this hop sent something that proves who we are.
  package var carriesCredentials: Bool {
    if carriesRuleCredentials { return true }
    if let credentials = terms.credentials, credentials.value.belong(to: hop, besides: ownHeaders) {
      return true
    }
    return ownHeaders.contains { !RequestHeader.isHarmless($0.name) }
  }

  /// Whether the next request would show the license to a proxy.
  func isLicenseReadByProxy(_ connections: ConnectionPolicy) -> Bool {
    guard connections.isReadByProxy(hop, method: method) else { return false }
    if let credentials = terms.credentials, credentials.value.belong(to: hop, besides: ownHeaders) {
      return true
    }
    guard terms.purpose == .manifest, isAtFirstOrigin else { return false }
    if terms.holdsLicense { return true }
    return connections.rule(for: hop, method: method)
      .map { !connections.rules[$0].manifestHeaders.isEmpty } ?? false
  }

  package var isAtFirstOrigin: Bool {
    hop.origin == url.origin
  }

  private var ownHeaders: [HeaderField] {
    isAtFirstOrigin ? terms.headers : []
  }

  private var declaredFields: [HeaderField] {
    RequestFields.declared(
      own: ownHeaders,
      everywhere: terms.everywhere,
      accept: terms.accept,
      credentials: terms.credentials,
      at: hop
    )
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
