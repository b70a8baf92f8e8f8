/// Declared request headers, which may select the response: no conditions, no ranges.
package enum RequestFields {
  /// Returns a hop's declared fields; `own` are for the first origin, `everywhere` for each hop.
  static func declared(
    own: [HeaderField],
    everywhere: [HeaderField] = [],
    accept: String? = nil,
    credentials: Shared<OriginCredentials>?,
    at hop: WebURL
  ) -> [HeaderField] {
    var fields = everywhere.isEmpty ? own : everywhere + missing(own, in: everywhere)
    if let accept { fields.append(HeaderField("Accept", accept)) }
    if let credentials, credentials.value.belong(to: hop, ownFields: fields) {
      fields.append(credentials.value.field)
    }
    return fields
  }

  /// Returns the fields of `more` that the request lacks; fields of its declarer take precedence.
  package static func missing(_ more: [HeaderField], in fields: [HeaderField]) -> [HeaderField] {
    more.filter { field in
      !fields.contains { ASCII.equalsIgnoringCase($0.name, field.name) }
    }
  }

  /// Returns the fields that `Vary` refers to, with the agent's name but not its version.
  static func selecting(_ fields: [HeaderField], agent: String) -> [HeaderField] {
    fields + missing([HeaderField("User-Agent", agent)], in: fields)
  }
}

extension RunPolicy {
  func ruleFields(
    for url: WebURL,
    rule: Int?,
    purpose: RequestPurpose,
    isFirstOrigin: @autoclosure () -> Bool,
    at now: Instant
  ) -> [HeaderField] {
    var fields =
      rule.map {
        connections.rules[$0].headers(for: purpose, isFirstOrigin: isFirstOrigin())
      } ?? []
    // A rule is more specific than netrc, which knows only the host.
    if let field = netrcField(for: url, purpose: purpose, at: now) {
      fields += RequestFields.missing([field], in: fields)
    }
    return fields
  }
}

extension SegmentDeclaration {
  /// Returns the segment's configured headers if they may go to a URL: any inline item's, otherwise
  /// one of the manifest's origin.
  package func headers(for url: WebURL) -> [HeaderField] {
    guard !headers.isEmpty else { return [] }
    return headerOwner(for: url)?.origin == url.origin ? headers : []
  }

  /// Returns the URL that defines which origin gets the segment's headers; nil for none.
  package func headerOwner(for url: WebURL) -> WebURL? {
    switch source {
    case .inline: url
    case .remote(let manifest): manifest
    case .file: base
    }
  }
}

/// Decides whether stored responses match the requests that a segment would send now.
struct VariantSelector {
  private struct Known: Hashable {
    var variance: Int
    var origin: Int
  }

  private let segment: SegmentDeclaration
  private let policy: Shared<RunPolicy>
  private let credentials: Shared<OriginCredentials>?
  private let key: VarianceKey
  private let now: Instant
  /// Cached results, since most entries without own headers get the same one.
  private var known: [Known: Variance.Selection] = [:]

  init(
    _ segment: SegmentDeclaration,
    policy: Shared<RunPolicy>,
    credentials: Shared<OriginCredentials>?,
    key: VarianceKey,
    now: Instant
  ) {
    self.segment = segment
    self.policy = policy
    self.credentials = credentials
    self.key = key
    self.now = now
  }

  /// Returns a cached or new result; a positive `number` identifies the variance for the cache.
  mutating func selection(
    _ variance: Variance,
    number: Int = 0,
    of entries: EntryTable,
    at index: Int,
    for purpose: RequestPurpose
  ) -> Variance.Selection {
    let isSpecial = entries.hasExtras(at: index)
    let isCommon =
      !isSpecial && number > 0 && policy.value.connections.rules.isEmpty
      && variance.hops.allSatisfy { $0.url == nil }
    let cacheKey = Known(variance: number, origin: entries.originNumber(at: index))
    if isCommon, let known = known[cacheKey] { return known }
    let entry = entries[index]
    let selection = selection(variance, of: entry, for: purpose)
    if isCommon { known[cacheKey] = selection }
    return selection
  }

  func selection(
    _ variance: Variance,
    of entry: ManifestEntry,
    for purpose: RequestPurpose
  ) -> Variance.Selection {
    variance.selection(key: key) { url in
      guard let url else { return fields(of: entry, for: purpose) }
      return (try? WebURL(url)).map { fields(at: $0, of: entry, for: purpose) } ?? []
    }
  }

  func fingerprint(of entry: ManifestEntry, for purpose: RequestPurpose) -> UInt64 {
    let fields = fields(of: entry, for: purpose).sorted {
      ($0.name, $0.value) < ($1.name, $1.value)
    }
    return key.hash(fields.flatMap { Array("\($0.name.lowercased()):\($0.value)\n".utf8) })
  }

  func fields(of entry: ManifestEntry, for purpose: RequestPurpose) -> [HeaderField] {
    fields(at: entry.url, of: entry, for: purpose)
  }

  private func fields(
    at hop: WebURL,
    of entry: ManifestEntry,
    for purpose: RequestPurpose
  ) -> [HeaderField] {
    let isAtFirstOrigin = hop.origin == entry.url.origin
    let declared = RequestFields.declared(
      own: isAtFirstOrigin ? segment.headers(for: entry.url) + entry.headers : [],
      everywhere: policy.value.clientFields,
      credentials: credentials,
      at: hop
    )
    let more = policy.value.ruleFields(
      for: hop,
      rule: policy.value.connections.rule(for: hop, method: .get),
      purpose: purpose,
      isFirstOrigin: isAtFirstOrigin && segment.mayChooseServer(of: entry.url),
      at: now
    )
    return RequestFields.selecting(
      declared + RequestFields.missing(more, in: declared),
      agent: policy.value.agent
    )
  }
}

extension Planner.Facts {
  package func fingerprint(of entry: ManifestEntry, in segment: SegmentDeclaration) -> UInt64 {
    selector(of: segment).fingerprint(of: entry, for: RequestPurpose(itemType: entry.type))
  }

  package func selection(
    of record: ContentRecord,
    for entry: ManifestEntry,
    in segment: SegmentDeclaration
  ) -> Variance.Selection {
    let purpose = RequestPurpose(itemType: entry.type)
    return record.variance.map {
      selector(of: segment).selection($0, of: entry, for: purpose)
    } ?? .same
  }

  func selector(of segment: SegmentDeclaration) -> VariantSelector {
    VariantSelector(segment, policy: shared, credentials: credentials, key: key, now: now)
  }
}
