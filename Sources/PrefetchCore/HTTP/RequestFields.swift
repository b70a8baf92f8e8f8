/// What of a request may select its answer: all that is declared for it, and neither conditions and
/// ranges nor what only the transport knows.
package enum RequestFields {
  /// `own` are for the first origin alone; `everywhere` come before them, at every hop.
  static func declared(
    own: [HeaderField],
    everywhere: [HeaderField] = [],
    accept: String? = nil,
    credentials: Shared<OriginCredentials>?,
    at hop: WebURL
  ) -> [HeaderField] {
    var fields = everywhere.isEmpty ? own : everywhere + missing(own, in: everywhere)
    if let accept { fields.append(HeaderField("Accept", accept)) }
    if let credentials, credentials.value.belong(to: hop, besides: fields) {
      fields.append(credentials.value.field)
    }
    return fields
  }

  /// Those that a request does not have yet: what it says of itself comes from its declarer.
  package static func missing(_ more: [HeaderField], in fields: [HeaderField]) -> [HeaderField] {
    more.filter { field in
      !fields.contains { ASCII.equalsIgnoringCase($0.name, field.name) }
    }
  }

  /// As `Vary` means them: with our name, without our version.
  static func selecting(_ fields: [HeaderField], agent: String) -> [HeaderField] {
    fields + missing([HeaderField("User-Agent", agent)], in: fields)
  }
}

extension RunPolicy {
  /// What the rule that holds for a request adds to it, and what netrc has for its host.
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
    // A rule says more of a request than a file that knows only its host.
    if let field = netrcField(for: url, purpose: purpose, at: now) {
      fields += RequestFields.missing([field], in: fields)
    }
    return fields
  }
}

extension SegmentDeclaration {
  /// Configured headers reach the servers that the configuration names: every inline item's, or the
  /// manifest's own origin.
  package func headers(for url: WebURL) -> [HeaderField] {
    guard !headers.isEmpty else { return [] }
    return headerOwner(for: url)?.origin == url.origin ? headers : []
  }

  /// Whose server gets them; nil where no server does.
  package func headerOwner(for url: WebURL) -> WebURL? {
    switch source {
    case .inline: url
    case .remote(let manifest): manifest
    case .file: base
    }
  }
}

/// Whether stored answers are those that a segment's requests would get now.
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
  /// Of entries without headers of their own most say the same.
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

  /// `number` tells variances apart, so that what was found out once serves many entries.
  mutating func selection(
    _ variance: Variance,
    number: Int = 0,
    of entries: EntryTable,
    at index: Int,
    for purpose: RequestPurpose
  ) -> Variance.Selection {
    let isSpecial = entries.isSpecial(at: index)
    let isCommon =
      !isSpecial && number > 0 && policy.value.connections.rules.isEmpty
      && variance.hops.allSatisfy { $0.url == nil }
    let place = Known(variance: number, origin: entries.originNumber(at: index))
    if isCommon, let known = known[place] { return known }
    let entry = entries[index]
    let selection = selection(variance, of: entry, for: purpose)
    if isCommon { known[place] = selection }
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

  /// A number that differs where its request would say something else.
  func fingerprint(of entry: ManifestEntry, for purpose: RequestPurpose) -> UInt64 {
    let fields = fields(of: entry, for: purpose).sorted {
      ($0.name, $0.value) < ($1.name, $1.value)
    }
    return key.hash(fields.flatMap { Array("\($0.name.lowercased()):\($0.value)\n".utf8) })
  }

  /// Of the request for the item's own URL.
  func fields(of entry: ManifestEntry, for purpose: RequestPurpose) -> [HeaderField] {
    fields(at: entry.url, of: entry, for: purpose)
  }

  /// As ``Exchange`` puts them together when it is asked.
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
      isFirstOrigin: isAtFirstOrigin && segment.chose(entry.url),
      at: now
    )
    return RequestFields.selecting(
      declared + RequestFields.missing(more, in: declared),
      agent: policy.value.agent
    )
  }
}

extension Planner.Facts {
  /// The same as ``VariantSelector/fingerprint(of:for:)`` of one entry.
  package func fingerprint(of entry: ManifestEntry, in segment: SegmentDeclaration) -> UInt64 {
    selector(of: segment).fingerprint(of: entry, for: RequestPurpose(itemType: entry.type))
  }

  /// Returns whether a stored answer is the one that the request for an entry would get.
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
