/// What a 304 does to stored headers.
package enum Revalidation {
  /// The stored headers renewed by those of a 304, and whether anything but a clock moved.
  package static func merge(
    stored: HeaderBlock,
    confirmed: HeaderBlock
  ) -> (headers: HeaderBlock, isChanged: Bool) {
    // An age or date of the old answer would make the renewed one old again.
    var merged = stored.filtered { !stored.isNamed($0, anyOf: ofTheAnswer) }
    var isChanged = false
    let withheld = withheldNames(confirmed)
    for index in confirmed.indices {
      guard !confirmed.isNamed(index, anyOf: ofTheBody),
        !isWithheld(confirmed, index, besides: withheld)
      else { continue }
      let name = confirmed.headerName(at: index)
      let places = confirmed.indices.filter { confirmed.isNamed($0, name) }
      let known = merged.indices.filter { merged.isNamed($0, name) }
      let isSame =
        places.count == known.count
        && zip(known, places).allSatisfy { merged.hasSameValue($0, as: confirmed, at: $1) }
      guard places.first == index, !isSame else { continue }
      // A server that compresses on the way weakens its tag for the body and not for the 304.
      if let held = known.first, name == .entityTag,
        opaque(confirmed.value(at: index)) == opaque(merged.value(at: held))
      {
        continue
      }
      if !known.isEmpty {
        merged = merged.filtered { !known.contains($0) }
      }
      for place in places {
        merged.append(confirmed, at: place)
      }
      if !confirmed.isNamed(index, anyOf: ofTheClock) { isChanged = true }
    }
    return (merged, isChanged)
  }

  /// Whether a 304 only repeats what is stored, the clock aside: most do, and nothing has to be
  /// merged then.
  package static func repeats(stored: HeaderBlock, confirmed: HeaderBlock) -> Bool {
    guard !stored.indices.contains(where: { stored.isNamed($0, anyOf: ofTheLifetime) }) else {
      return false
    }
    for index in confirmed.indices where !confirmed.isNamed(index, .date) {
      let place = stored.firstIndex(of: confirmed.headerName(at: index))
      if let place, stored.hasSameValue(place, as: confirmed, at: index) { continue }
      guard confirmed.isNamed(index, anyOf: ofTheConnection) else { return false }
    }
    return true
  }

  /// What of a response is worth keeping: all but what belonged to the connection.
  package static func storable(_ headers: HeaderBlock) -> HeaderBlock {
    let withheld = withheldNames(headers)
    return headers.filtered { !isWithheld(headers, $0, besides: withheld) }
  }

  /// Fields that `Connection` names are for the next hop alone, those that `no-cache` names not to be
  /// used without a question.
  private static func withheldNames(_ headers: HeaderBlock) -> [String] {
    var names: [String] = []
    // Most name nothing but what is dropped anyway.
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
    besides names: [String]
  ) -> Bool {
    headers.isNamed(index, anyOf: ofTheConnection)
      || names.contains { name in
        !neverWithheld.contains(name.lowercased()) && headers.isNamed(index, HeaderName(name))
      }
  }

  /// Without these it could not be told how long the rest may be used, or what it is.
  private static let neverWithheld: Set<String> = [
    "cache-control", "content-length", "content-type", "date", "etag", "expires", "last-modified",
    "vary",
  ]

  /// Whether two stored header blocks tell the reader different things.
  package static func isDifferent(_ a: HeaderBlock, _ b: HeaderBlock) -> Bool {
    let (a, b) = (lasting(a), lasting(b))
    return a != b && comparable(a) != comparable(b)
  }

  /// Whether a 304 may be believed: it names no entity tag, or the one we hold.
  ///
  /// Tags are compared weakly: only ours was asked about, and servers that compress on the way send
  /// a weak tag with the body and the strong one with the 304.
  package static func confirms(_ response: HeaderBlock, stored: Validators) -> Bool {
    guard let place = response.firstIndex(of: .entityTag) else { return true }
    if let tag = stored.entityTag, response.isValue(place, tag) { return true }
    guard let told = Validators(entityTag: response.value(at: place)).entityTag else { return true }
    return stored.entityTag.map { opaque($0) == opaque(told) } ?? false
  }

  /// What to ask with from now on; a validator that a 304 does not name stays as it was.
  package static func renewed(_ stored: Validators, by response: HeaderBlock) -> Validators {
    let told = Validators(response)
    var renewed = stored
    if let tag = told.entityTag, stored.entityTag.map({ opaque($0) != opaque(tag) }) ?? true {
      renewed.entityTag = tag
    }
    renewed.lastModified = told.lastModified ?? stored.lastModified
    return renewed
  }

  /// What may be asked with: a date alone proves nothing for a body that changed in the second in
  /// which it was sent, since it may have changed once more in it.
  ///
  /// Empty where only asking for the whole is safe. `stored` are the headers kept with the body. A
  /// date that lies well ahead was set by hand, and does not tell when the body changed.
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

  /// The same of what is stored.
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
  private static let ofTheClock = HeaderNames(["date", "age", "expires"])
  private static let ofTheLifetime = HeaderNames(["cache-control", "expires", "age"])
  private static let ofTheAnswer = HeaderNames(["date", "age"])
  private static let ofTheConnection = HeaderNames([
    "connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "set-cookie",
    "proxy-authenticate", "proxy-connection", "alt-svc",
  ])
}
