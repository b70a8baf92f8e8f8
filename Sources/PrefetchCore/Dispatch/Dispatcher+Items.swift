/// From a declared item to a decided one.
extension Dispatcher {
  /// Takes in what the planner says of one segment.
  mutating func plan(
    _ index: Int,
    entries: [ManifestEntry],
    rejected: [RejectedEntry],
    now: Moment,
    into effects: inout [Effect]
  ) {
    let declaration = segments[index].declaration
    let fragment = Planner.plan(
      declaration,
      key: segments[index].key,
      entries: entries,
      facts: facts
    )
    segments[index].phase = .planned
    // An entry that is wrong is still a declaration: what is stored for it stays.
    let refused = Set(rejected.map(\.url))
    segments[index].leaving = fragment.leaving.filter { !refused.contains($0) }
    segments[index].declaredCount = fragment.items.count + rejected.count
    segments[index].openItems = segments[index].declaredCount
    effects.append(
      .announce(.itemsDiscovered(segment: declaration.name, count: segments[index].declaredCount))
    )
    for entry in rejected { settleRejected(entry, in: index, into: &effects) }
    for planned in fragment.items {
      add(planned, to: index, now: now, into: &effects)
    }
    if segments[index].openItems == 0 { settleSegment(index, into: &effects) }
  }

  private mutating func add(
    _ planned: PlannedItem,
    to index: Int,
    now: Moment,
    into effects: inout [Effect]
  ) {
    let url = planned.entry.url.string
    if planned.record?.digest != nil, !planned.isHeld, request.mode == .run {
      batch.join(segments[index].key, urls: [url], now: now.uptime)
    }
    if let known = itemByURL[url], !needsOwnAnswer(planned, besides: known) {
      return share(known, planned, with: index, now: now, into: &effects)
    }
    let name = segments[index].declaration.name
    var result = ItemResult(
      url: url,
      id: planned.entry.id ?? planned.record?.id ?? "",
      segments: [name],
      state: planned.record?.state ?? .pending,
      action: planned.action,
      reason: planned.reason
    )
    result.provider = planned.entry.provider
    result.type = planned.entry.type
    result.size = planned.record?.digest == nil ? planned.entry.size : planned.record?.size
    result.digest = planned.record?.digest
    result.isUsable = isUsable(planned.record)
    result.isRequired = segments[index].declaration.isRequired
    result.position = items.count
    let item = items.count
    items.append(
      ItemWork(planned: planned, segments: [index], result: result, entry: planned.entry)
    )
    itemByURL[url] = item
    switch planned.decision {
    case .keep:
      items[item].result.outcome = .unchanged
      items[item].result.source = .cache
      if request.mode == .run, var record = planned.record, record.describe(planned.entry) {
        batch.add(.record(record, body: nil), now: now.uptime)
      }
      settleItem(item, into: &effects)
    case .fail(let failure):
      fail(item, failure, now: now, into: &effects)
    case .revalidate, .fetch:
      begin(item, in: index, now: now, into: &effects)
    }
  }

  func isUsable(_ record: ContentRecord?) -> Bool {
    guard let digest = record?.digest else { return false }
    return !facts.missing.contains(digest)
  }

  /// Puts the question to the network, or answers it from what is known.
  private mutating func begin(_ item: Int, in index: Int, now: Moment, into effects: inout [Effect])
  {
    let planned = items[item].planned
    if halt != nil { return settleItemHalted(item, into: &effects) }
    if request.mode == .plan, !needsProbe(planned) { return settleItem(item, into: &effects) }
    let isConditional = planned.decision == .revalidate
    let limit = segments[index].declaration.maximumFileSize ?? request.policy.maximumFileSize
    items[item].exchange = Exchange(
      url: planned.entry.url,
      method: request.mode == .plan ? .head : .get,
      headers: headers(for: planned.entry, in: index),
      conditions: isConditional ? planned.record?.validators ?? Validators() : Validators(),
      conditionURL: planned.record?.finalURL,
      allowsCoding: Self.isWorthCoding(planned.entry),
      sizeLimit: limit,
      expectedSize: planned.entry.size,
      algorithms: Self.algorithms(of: planned.entry)
    )
    jobs.append(.item(item))
    enqueue(jobs.count - 1)
  }

  /// A dry run asks only about what it cannot know.
  private func needsProbe(_ planned: PlannedItem) -> Bool {
    guard request.policy.probesItems, !request.policy.isOffline else { return false }
    switch planned.decision {
    case .revalidate: return true
    case .fetch: return planned.entry.size == nil
    case .keep, .fail: return false
    }
  }

  /// Configured headers reach the servers that the configuration names: every inline item's, or the
  /// manifest's own origin.
  ///
  /// What a manifest asks to be sent goes with its item.
  private func headers(for entry: ManifestEntry, in index: Int) -> [HeaderField] {
    let configured = segments[index].declaration.headers
    switch segments[index].declaration.source {
    case .inline: return configured + entry.headers
    case .remote(let url): return (url.origin == entry.url.origin ? configured : []) + entry.headers
    case .file:
      return (segments[index].declaration.base?.origin == entry.url.origin ? configured : [])
        + entry.headers
    }
  }

  /// Archives and media do not shrink, and large bodies must stay resumable.
  private static func isWorthCoding(_ entry: ManifestEntry) -> Bool {
    if let size = entry.size, size > 8 << 20 { return false }
    let name = entry.url.path.lowercased()
    return !packedSuffixes.contains { name.hasSuffix($0) }
  }

  private static let packedSuffixes = [
    ".gz", ".tgz", ".xz", ".zst", ".bz2", ".br", ".zip", ".7z", ".rar", ".jar", ".whl", ".deb",
    ".rpm", ".apk",
    ".iso", ".img", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".mp3", ".m4a", ".aac",
    ".ogg", ".opus",
    ".mp4", ".m4s", ".m4v", ".mkv", ".webm", ".mov", ".ts", ".pdf", ".woff", ".woff2",
  ]

  mutating func itemAnswered(
    _ item: Int,
    _ step: Exchange.Step,
    now: Moment,
    into effects: inout [Effect]
  ) {
    items[item].result.redirects = items[item].exchange?.redirects ?? []
    switch step {
    case .ask, .wait:
      settleItemHalted(item, into: &effects)
    case .failed(let failure, let status):
      items[item].result.status = status
      if failure.code == .cancelled, halt != nil { return settleItemHalted(item, into: &effects) }
      if request.mode == .plan { return probeFailed(item, failure, into: &effects) }
      fail(item, failure, now: now, into: &effects)
    case .deferred(let deferral, let status):
      items[item].result.status = status
      settleDeferred(item, deferral, into: &effects)
    case .answered(let response):
      items[item].result.status = response.status
      if request.mode == .plan {
        probeAnswered(item, response, into: &effects)
      } else {
        received(item, response, now: now, into: &effects)
      }
    }
  }

  private mutating func received(
    _ item: Int,
    _ response: TransferResponse,
    now: Moment,
    into effects: inout [Effect]
  ) {
    guard let exchange = items[item].exchange else { return }
    if storeFailure != nil {
      if let body = response.body { effects.append(.discard(body)) }
      return settleItemHalted(item, into: &effects)
    }
    if response.status == 304, exchange.isConditional, let record = items[item].planned.record {
      guard Revalidation.confirms(response.headers, stored: record.validators),
        !Planner.isContradicted(items[item].entry.digests, by: record)
      else {
        items[item].exchange?.dropConditions()
        return reask(.item(item), into: &effects)
      }
      return confirmed(item, record, response, now: now)
    }
    guard [200, 203].contains(response.status), let body = response.body else {
      if let body = response.body { effects.append(.discard(body)) }
      let failure = Self.failure(
        status: response.status,
        carriesCredentials: exchange.carriesCredentials
      )
      return fail(item, failure, now: now, into: &effects)
    }
    if !exchange.hasAsked(for: Self.algorithms(of: items[item].entry)) {
      // Another segment has asked for a digest that nobody took while the body came.
      effects.append(.discard(body))
      return reask(.item(item), into: &effects)
    }
    if let objection = BodyCheck.objection(
      to: body,
      headers: response.headers,
      entry: items[item].entry
    ) {
      effects.append(.discard(body))
      return fail(item, objection, now: now, into: &effects)
    }
    arrived(item, body, response, exchange: exchange, now: now)
  }

  /// 304: the body stays, freshness and headers are renewed.
  private mutating func confirmed(
    _ item: Int,
    _ record: ContentRecord,
    _ response: TransferResponse,
    now: Moment
  ) {
    let merged = Revalidation.merge(stored: record.headers, confirmed: response.headers)
    var renewed = record
    renewed.headers = merged.headers
    renewed.validators.entityTag = response.headers["ETag"] ?? record.validators.entityTag
    renewed.validators.lastModified =
      response.headers["Last-Modified"] ?? record.validators.lastModified
    items[item].result.outcome = merged.isChanged ? .headers : .unchanged
    items[item].result.source = .revalidated
    store(item, renewed, body: nil, now: now)
  }

  private mutating func arrived(
    _ item: Int,
    _ body: StagedBody,
    _ response: TransferResponse,
    exchange: Exchange,
    now: Moment
  ) {
    let entry = items[item].entry
    let old = items[item].planned.record
    var record = old ?? ContentRecord(url: entry.url.string, id: "")
    record.headers = Revalidation.storable(response.headers)
    record.validators = Validators(
      entityTag: response.headers["ETag"],
      lastModified: response.headers["Last-Modified"]
    )
    record.digest = body.digest
    record.otherDigests = body.otherDigests
    record.size = body.size
    record.mime = response.headers["Content-Type"] ?? entry.mime
    record.finalURL = exchange.hop == entry.url ? nil : exchange.hop.string
    record.fetchedAt = now.wall
    record.status = response.status
    if let old, old.digest == body.digest, items[item].result.isUsable {
      items[item].result.outcome =
        Revalidation.isDifferent(old.headers, record.headers) ? .headers : .unchanged
      items[item].result.action = .revalidate
    } else {
      items[item].result.outcome = isUsable(old) ? .updated : .added
      items[item].result.action = isUsable(old) ? .update : .fetch
    }
    items[item].result.source = .network
    items[item].result.finalURL = record.finalURL
    store(item, record, body: body, now: now)
  }

  /// What the manifest says of the item is renewed with every answer.
  private mutating func store(_ item: Int, _ record: ContentRecord, body: StagedBody?, now: Moment)
  {
    let entry = items[item].entry
    var record = record
    record.describe(entry)
    record.state = .cached
    record.failure = nil
    record.validatedAt = now.wall
    record.freshUntil = Freshness.freshUntil(
      headers: record.headers,
      receivedAt: now.wall,
      limits: Planner.lifetimes(
        entry,
        of: items[item].segments.map { segments[$0].declaration },
        policy: request.policy
      )
    )
    items[item].state = .committing
    items[item].result.state = .cached
    items[item].result.isUsable = true
    items[item].result.size = record.size
    items[item].result.digest = record.digest
    let keys = request.mode == .run ? items[item].segments.map { segments[$0].key } : []
    batch.add(
      item: item,
      .record(record, body: body),
      joining: keys,
      url: record.url,
      now: now.uptime
    )
  }
}
