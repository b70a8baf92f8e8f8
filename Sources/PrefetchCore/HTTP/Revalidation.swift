package enum Revalidation {
  /// Merges stored headers with those of a 304; `isChanged` ignores clock fields.
  package static func merge(
    stored: HeaderBlock,
    confirmed: HeaderBlock
  ) -> (headers: HeaderBlock, isChanged: Bool) {
    // The old age or date would make the renewed response appear old.
    var merged = stored.filtered { !stored.isNamed($0, anyOf: ofTheMoment) }
    var isChanged = false
    let withheld = withheldNames(confirmed)
    for index in confirmed.indices {
      guard !confirmed.isNamed(index, anyOf: ofTheBody),
        !isWithheld(confirmed, index, adding: withheld)
      else { continue }
      let name = confirmed.headerName(at: index)
      let matches = confirmed.indices.filter { confirmed.isNamed($0, name) }
      let known = merged.indices.filter { merged.isNamed($0, name) }
      let isSame =
        matches.count == known.count
        && zip(known, matches).allSatisfy { merged.hasSameValue($0, as: confirmed, at: $1) }
      guard matches.first == index, !isSame else { continue }
      // A server that compresses on the fly weakens its tag for the body but not for the 304.
      if let held = known.first, name == .entityTag,
        opaque(confirmed.value(at: index)) == opaque(merged.value(at: held))
      {
        continue
      }
      if !known.isEmpty {
        merged = merged.filtered { !known.contains($0) }
      }
      for match in matches {
        merged.append(confirmed, at: match)
      }
      if !confirmed.isNamed(index, anyOf: ofTheClock) { isChanged = true }
    }
    return (merged, isChanged)
  }

  /// Whether a 304 repeats the stored headers except for clock fields; most do, and need no merge.
  package static func repeats(stored: HeaderBlock, confirmed: HeaderBlock) -> Bool {
    guard !stored.indices.contains(where: { stored.isNamed($0, anyOf: ofTheLifetime) }) else {
      return false
    }
    return repeats(stored: stored, confirmed: confirmed, except: ofTheDate)
  }

  /// Whether a 304 changes only times, and states each lifetime that is stored.
  ///
  /// Its own headers then have the freshness of the merged ones.
  package static func restates(stored: HeaderBlock, confirmed: HeaderBlock) -> Bool {
    !stored.has(.vary)
      && (confirmed.has(.cacheControl) || !stored.has(.cacheControl))
      && (confirmed.has(.expires) || !stored.has(.expires))
      && repeats(stored: stored, confirmed: confirmed, except: ofTheClock)
  }

  private static func repeats(
    stored: HeaderBlock,
    confirmed: HeaderBlock,
    except changing: HeaderNames
  ) -> Bool {
    for index in confirmed.indices where !confirmed.isNamed(index, anyOf: changing) {
      let match = stored.firstIndex(of: confirmed.headerName(at: index))
      if let match, stored.hasSameValue(match, as: confirmed, at: index) { continue }
      guard confirmed.isNamed(index, anyOf: ofTheConnection) else { return false }
    }
    return true
  }

  /// Returns the headers to store: all except those of the connection.
  package static func storable(_ headers: HeaderBlock) -> HeaderBlock {
    let withheld = withheldNames(headers)
    return headers.filtered { !isWithheld(headers, $0, adding: withheld) }
  }

  /// Returns field names that `Connection` limits to one hop or `no-cache` to revalidated use.
  private static func withheldNames(_ headers: HeaderBlock) -> [String] {
    var names: [String] = []
    // Most `Connection` fields name only headers that are dropped in any case.
    let isNaming = headers.indices.contains { index in
      headers.isNamed(index, .connection) && !headers.holds(index, "keep-alive")
        && !headers.holds(index, "close")
    }
    if isNaming, let listed = headers.combined(.connection) {
      names = listed.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
    }
    if headers.has(.cacheControl) {
      names += CacheControl(headers.combined(.cacheControl)).withheldFields
    }
    return names
  }

  private static func isWithheld(
    _ headers: HeaderBlock,
    _ index: Int,
    adding names: [String]
  ) -> Bool {
    headers.isNamed(index, anyOf: ofTheConnection)
      || names.contains { name in
        !neverWithheld.contains(name.lowercased()) && headers.isNamed(index, HeaderName(name))
      }
  }

  /// Fields that are always kept, since they define type and freshness.
  private static let neverWithheld: Set<String> = [
    "cache-control", "content-length", "content-type", "date", "etag", "expires", "last-modified",
    "vary",
  ]

  /// Whether two stored header blocks differ in more than clock and connection fields.
  package static func isDifferent(_ a: HeaderBlock, _ b: HeaderBlock) -> Bool {
    let (a, b) = (lasting(a), lasting(b))
    return a != b && comparable(a) != comparable(b)
  }

  /// Whether a 304 is credible: it has no entity tag, or the stored one.
  ///
  /// Tags are compared weakly, since only the stored tag was sent, and servers that compress on the
  /// fly send a weak tag with the body and a strong one with the 304.
  package static func confirms(_ response: HeaderBlock, stored: Validators) -> Bool {
    guard let match = response.firstIndex(of: .entityTag) else { return true }
    if let tag = stored.entityTag, response.isValue(match, tag) { return true }
    guard let received = Validators(entityTag: response.value(at: match)).entityTag else {
      return true
    }
    return stored.entityTag.map { opaque($0) == opaque(received) } ?? false
  }

  package static func renewed(_ stored: Validators, by response: HeaderBlock) -> Validators {
    let received = Validators(response)
    var renewed = stored
    if let tag = received.entityTag, stored.entityTag.map({ opaque($0) != opaque(tag) }) ?? true {
      renewed.entityTag = tag
    }
    renewed.lastModified = received.lastModified ?? stored.lastModified
    return renewed
  }

  /// Returns the validators for a conditional request; empty if only an unconditional one is safe.
  ///
  /// A date is left out if the body changed in the second in which it was sent, since it may have
  /// changed again within it. A date well ahead of the clock was set by hand and is kept. `stored`
  /// are the headers stored with the body.
  package static func conditions(
    _ validators: Validators,
    stored: HeaderBlock,
    receivedAt: Instant?,
    selection: Variance.Selection = .same
  ) -> Validators {
    guard selection == .same else { return validators.acrossVariants }
    guard let modified = validators.lastModified else { return validators }
    guard let changed = HTTPDate.parse(modified),
      let sent = stored[.date].flatMap({ HTTPDate.parse($0) }) ?? receivedAt,
      sent - changed < .seconds(1), changed - sent < oneMinute
    else { return validators }
    return Validators(entityTag: validators.entityTag)
  }

  package static func conditions(
    of record: ContentRecord,
    _ selection: Variance.Selection = .same
  ) -> Validators {
    conditions(
      record.validators,
      stored: record.headers,
      receivedAt: record.validatedAt ?? record.fetchedAt,
      selection: selection
    )
  }

  /// Returns the validators to store with a document of a segment, such as its list.
  ///
  /// A date less than a minute older than the response is weak (RFC 9110, 8.8.2.2): the document
  /// may change again within the second. Without a strong tag it is left out, so that the next
  /// request receives the document again, and an older date with it. Items keep such dates, since
  /// their bodies are large.
  package static func lastingValidators(
    ofDocument headers: HeaderBlock,
    receivedAt: Instant
  ) -> Validators {
    let validators = Validators(headers)
    guard !validators.hasStrongTag, let modified = validators.lastModified,
      let changed = HTTPDate.parse(modified)
    else { return validators }
    let sent = headers[.date].flatMap { HTTPDate.parse($0) } ?? receivedAt
    // A date well ahead of the clock was set by hand.
    guard sent - changed < oneMinute, changed - sent < oneMinute else { return validators }
    return Validators(entityTag: validators.entityTag)
  }

  private static func opaque(_ tag: String) -> Substring {
    tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
  }

  private static func lasting(_ headers: HeaderBlock) -> HeaderBlock {
    headers.filtered {
      !headers.isNamed($0, anyOf: ofTheClock) && !headers.isNamed($0, anyOf: ofTheConnection)
    }
  }

  private static let oneMinute: Duration = .seconds(60)
  private static func comparable(_ headers: HeaderBlock) -> [String] {
    headers.fields.map { "\($0.name.lowercased()):\($0.value)" }.sorted()
  }

  private static let ofTheBody = HeaderNames([
    "content-length", "content-encoding", "content-type", "content-range",
  ])
  private static let ofTheDate = HeaderNames(["date"])
  private static let ofTheClock = HeaderNames(["date", "age", "expires"])
  private static let ofTheLifetime = HeaderNames(["cache-control", "expires", "age"])
  private static let ofTheMoment = HeaderNames(["date", "age"])
  private static let ofTheConnection = HeaderNames([
    "connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "set-cookie",
    "proxy-authenticate", "proxy-connection", "alt-svc",
  ])
}
