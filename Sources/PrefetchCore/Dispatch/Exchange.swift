/// A request until its answer; each hop is a request of its own under the whole policy.
package struct Exchange: Sendable {
  package enum Step: Sendable {
    case request
    case wait(Duration)
    case responded(TransferResponse)
    case failed(Failure, status: Int?)
    /// The server demands a longer pause than the run may wait, or the run ends before.
    case deferred(Deferral, status: Int?)
  }

  let terms: Terms
  package internal(set) var chain: Chain
  package internal(set) var sources = Sources()
  var attemptCounts = Attempts()
  var part: Part
  var method: TransferRequest.Method
  private var conditions: Validators
  private var algorithms: Set<DigestAlgorithm>
  private var requestedAlgorithms: Set<DigestAlgorithm> = []
  /// Whether the last request carried credentials that a rule of the configuration added.
  private var carriesRuleCredentials = false
  private var selecting: [HeaderField] = []
  /// Question to ask a second tier first; nil to bypass the tier.
  package var tierRequest: TierRequest?
  /// Whether no request so far carried credentials, and no redirect was private.
  var isAnonymous = true
  private var bypassesCaches: Bool
  var cookies = CookieJar()

  struct Terms: Sendable {
    let url: WebURL
    let alternates: [WebURL]
    let purpose: RequestPurpose
    let provenance: Provenance
    /// Headers for the first origin only.
    let headers: [HeaderField]
    /// Headers for every hop; they replace `headers` of the same names.
    let everywhere: [HeaderField]
    let accept: String?
    let credentials: Shared<OriginCredentials>?
    /// URL that gave the validators; after redirects it differs from `url`.
    let conditionURL: String
    let sizeLimit: Int64?
    let expectedSize: Int64?
    let isPinned: Bool
    let partialKey: String?
    let keepsBody: Bool
    /// Whether the request looks up what there is, rather than an item.
    let isLookup: Bool
    /// Whether the first origin is an API of releases, which refuses with 403 for a time only.
    let isReleaseAPI: Bool
    let holdsLicense: Bool
    /// Whether the configuration, the user or the origin itself chose the first origin.
    let isOriginChosen: Bool
    let key: VarianceKey
  }

  package struct Chain: Sendable {
    package internal(set) var hop: WebURL
    package internal(set) var provenance: Provenance
    package internal(set) var redirects: [RedirectHop] = []
    package internal(set) var terms: [HopTerms] = []
    /// Whether a second tier reported one of the redirects.
    var isLedByTier = false
  }

  package struct Sources: Sendable {
    /// Index of the present source: 0 is the declared URL, others are alternates.
    package internal(set) var number = 0
    /// Gravest end of the earlier sources, which counts if no later one brings the body.
    var gravestEnd: Step?
    var isExhausted = false
    /// End of each earlier source, or the rule that forbids it.
    package internal(set) var results: [SourceResult] = []
  }

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
    bypassesCaches: Bool = false,
    isLookup: Bool = false,
    isReleaseAPI: Bool = false,
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
      isReleaseAPI: isReleaseAPI,
      holdsLicense: holdsLicense,
      isOriginChosen: isOriginChosen,
      key: key
    )
    chain = Chain(hop: url, provenance: provenance)
    part = Part(partial, allowsCoding: allowsCoding)
    self.method = method
    self.conditions = conditions
    self.algorithms = algorithms
    self.bypassesCaches = bypassesCaches
  }

  package var url: WebURL { terms.url }

  package var alternates: [WebURL] { terms.alternates }

  package var hop: WebURL { chain.hop }

  package var redirects: [RedirectHop] { chain.redirects }

  package var partial: PartialBody? { part.kept }

  package var attempts: Int { attemptCounts.requests }

  package var source: WebURL {
    sources.number == 0 ? url : alternates[sources.number - 1]
  }

  package var requestsBody: Bool {
    method != .head
  }

  package var isAlternate: Bool {
    sources.number > 0
  }

  package var isRetry: Bool {
    attemptCounts.total > 1
  }

  package mutating func nextRequest(
    _ id: TransferID,
    over connection: Shared<ConnectionRules>? = nil
  ) -> TransferRequest {
    attemptCounts.begin()
    requestedAlgorithms = algorithms
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
    // A range of a coded body covers other bytes.
    request.allowsCoding = part.allowsCoding && kept == nil
    request.sizeLimit = terms.sizeLimit
    request.algorithms = algorithms
    request.expectedSize = terms.expectedSize
    request.isPinned = terms.isPinned
    request.partialKey = method == .get ? terms.partialKey : nil
    request.partial = kept
    request.connection = connection
    request.keepsBody = terms.keepsBody
    // Manifests are small, and needed even if the disk has no room for items.
    request.heedsFreeDisk = terms.purpose != .manifest
    if tierRequest != nil, method == .get || method == .head, terms.keepsBody,
      sources.number == 0, attemptCounts.total <= 1, !bypassesCaches,
      !terms.headers.contains(where: { $0.name.lowercased() == "range" })
    {
      request.tierRequest = tierRequest
      request.tierRequest?.isFirstHop = redirects.isEmpty
      request.tierRequest?.isLedByTier = chain.isLedByTier
    }
    return request
  }

  /// Returns the next request with the headers and checks that its connection needs.
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
    // The response to such a request may be personal even if the server does not say so.
    if hasCookies || !ownHeaders.isEmpty || !terms.everywhere.isEmpty || carriesCredentials
      || connection.connection?.value.client != nil
    {
      isAnonymous = false
    }
    // The origin may answer us otherwise than it answered other machines.
    if !isAnonymous { request.tierRequest?.granted = nil }
    return request
  }

  private mutating func addCookies(
    to request: inout TransferRequest,
    under connections: ConnectionTable,
    at now: Instant
  ) -> Bool {
    guard !cookies.isEmpty else { return false }
    let index = request.headers.firstIndex { ASCII.equalsIgnoringCase($0.name, "Cookie") }
    let text = cookies.cookieHeader(
      for: hop,
      adding: index.map { request.headers[$0].value },
      at: now
    ) {
      connections.isNamed($0)
    }
    guard let text else { return false }
    if let index { request.headers.remove(at: index) }
    request.headers.append(HeaderField("Cookie", text))
    selecting.removeAll { ASCII.equalsIgnoringCase($0.name, "Cookie") }
    selecting.append(HeaderField("Cookie", text))
    return true
  }

  package mutating func undoRequest() {
    attemptCounts.undoBegin()
  }

  package mutating func dropConditions() {
    conditions = Validators()
    bypassesCaches = true
    attemptCounts.isFollowUp = true
  }

  /// Starts with HEAD, which may show that no body is needed.
  mutating func beginWithHead() {
    method = .head
    // The size of a coded body says nothing about the stored one.
    part.allowsCoding = false
  }

  mutating func requestBody() {
    method = .get
    attemptCounts.isFollowUp = true
  }

  package func terms(
    of headers: HeaderBlock,
    at timing: Freshness.Timing,
    agent: String
  ) -> HopTerms {
    HopTerms(
      headers,
      from: hop.string,
      of: url.string,
      requestFields: headers.has(.vary) ? RequestFields.selecting(selecting, agent: agent) : [],
      at: timing,
      key: terms.key
    )
  }

  package mutating func require(_ more: Set<DigestAlgorithm>) {
    algorithms.formUnion(more)
  }

  package func computesDigests(for wanted: Set<DigestAlgorithm>) -> Bool {
    wanted.isSubset(of: requestedAlgorithms)
  }

  package var isConditional: Bool {
    !conditions.isEmpty && SealedURL.isSame(hop.string, terms.conditionURL)
  }

  package var carriesCredentials: Bool {
    if carriesRuleCredentials { return true }
    if let credentials = terms.credentials, credentials.value.belong(to: hop, ownFields: ownHeaders)
    {
      return true
    }
    return ownHeaders.contains { !RequestHeader.isHarmless($0.name) }
  }

  func isLicenseReadByProxy(_ connections: ConnectionPolicy) -> Bool {
    guard connections.isReadByProxy(hop, method: method) else { return false }
    if let credentials = terms.credentials, credentials.value.belong(to: hop, ownFields: ownHeaders)
    {
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
      return bypassesCaches ? [HeaderField("Cache-Control", "no-cache")] : []
    }
    return Self.conditionFields(conditions)
  }

  static func conditionFields(_ conditions: Validators) -> [HeaderField] {
    var fields: [HeaderField] = []
    fields.reserveCapacity(3)
    if let tag = conditions.entityTag { fields.append(HeaderField("If-None-Match", tag)) }
    if let date = conditions.lastModified { fields.append(HeaderField("If-Modified-Since", date)) }
    // Shared caches on the way must revalidate: only the origin's state counts.
    fields.append(HeaderField("Cache-Control", "max-age=0"))
    return fields
  }

  /// Whether a content coding pays: not for archives and media, nor for large bodies to resume.
  static func isWorthCoding(size: Int64?, path: String) -> Bool {
    if let size, size > 8 << 20 { return false }
    // Letters after the last dot, packed into one number.
    var suffix: UInt64 = 0
    let bytes = path.utf8.span
    for index in bytes.indices.suffix(packedLength + 1).reversed() {
      if bytes[index] == UInt8(ascii: ".") { return !packedSuffixes.contains(suffix) }
      suffix = suffix << 8 | UInt64(ASCII.lowercased(bytes[index]))
    }
    return true
  }

  private static let packedLength = 5
  /// Packed suffixes; a linear search of so few is faster than hashing.
  private static let packedSuffixes = [
    "gz", "tgz", "xz", "zst", "bz2", "br", "zip", "7z", "rar", "jar", "whl", "deb", "rpm", "apk",
    "iso", "img", "png", "jpg", "jpeg", "gif", "webp", "avif", "mp3", "m4a", "aac", "ogg", "opus",
    "mp4", "m4s", "m4v", "mkv", "webm", "mov", "ts", "pdf", "woff", "woff2",
  ].map { $0.utf8.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
}
