/// From a segment's name to its items.
extension Dispatcher {
  /// Finds out what the segment should hold.
  mutating func discover(_ index: Int, now: Moment, into effects: inout [Effect]) {
    let segment = segments[index]
    switch segment.declaration.source {
    case .inline(let entries):
      var record = SegmentRecord(key: segment.key)
      record.lastSuccess = segment.recorded?.lastSuccess
      record.state = segment.recorded?.state ?? record.state
      record.itemCount = entries.count
      accept(index, record, manifest: nil, now: now)
      segments[index].entries = EntryTable(entries)
      withInventory(.plan(segment: index, rejected: []), now: now, into: &effects)
    case .file(let path):
      let base = segment.declaration.base
      let source = ManifestSource(
        bytes: .file(path),
        base: base,
        mime: nil,
        name: path,
        rules: segment.declaration.manifestRules
      )
      effects.append(.readManifest(segment: index, source))
    case .remote(let url):
      ask(index, url: url, now: now, into: &effects)
    }
  }

  private mutating func ask(_ index: Int, url: WebURL, now: Moment, into effects: inout [Effect]) {
    let policy = request.policy
    if let refusal = policy.refusal(of: url, for: .manifest, named: .local, at: now.wall) {
      return manifestFailed(index, refusal, now: now, into: &effects)
    }
    if let deferral = deferral(ofSegment: index) {
      return manifestAnswered(
        index,
        .deferred(deferral, status: nil),
        now: now,
        into: &effects
      )
    }
    let recorded = segments[index].recorded.flatMap { $0.manifestURL == url.string ? $0 : nil }
    if request.policy.isOffline {
      guard let recorded, recorded.manifest != nil else {
        return manifestFailed(
          index,
          Failure(.noNetwork, "nothing is stored, and `--offline` asks nothing"),
          now: now,
          into: &effects
        )
      }
      return readStored(index, status: .skipped, now: now, into: &effects)
    }
    let isConditional = recorded?.manifest != nil && !request.policy.refetchesAll
    manifestExchanges[index] = Exchange(
      url: url,
      headers: segments[index].declaration.headers + segments[index].declaration.manifestHeaders,
      credentials: request.credentials,
      conditions: isConditional ? recorded?.validators ?? Validators() : Validators(),
      conditionURL: recorded?.manifestFinalURL,
      sizeLimit: request.policy.maximumManifestSize,
      purpose: .manifest,
      holdsLicense: !segments[index].declaration.manifestHeaders.isEmpty
    )
    enqueue(.manifest(segment: index), now: now, into: &effects)
  }

  private mutating func readStored(
    _ index: Int,
    status: ManifestResult.Status,
    now: Moment,
    into effects: inout [Effect]
  ) {
    guard segments[index].recorded?.manifest != nil else { return }
    segments[index].manifest.status = status
    if isQuiet(index, now: now) {
      guard let rules = segments[index].declaration.publishing else {
        return settleQuiet(index, now: now, into: &effects)
      }
      return effects.append(.findTree(segment: index, segments[index].key, rules))
    }
    parseStored(index, into: &effects)
  }

  func parseStored(_ index: Int, into effects: inout [Effect]) {
    guard let recorded = segments[index].recorded, let digest = recorded.manifest else { return }
    let base =
      segments[index].declaration.base ?? recorded.manifestFinalURL.flatMap { try? WebURL($0) }
    let source = ManifestSource(
      bytes: .stored(digest),
      base: base,
      mime: nil,
      name: recorded.manifestURL ?? segments[index].key.name,
      rules: segments[index].declaration.manifestRules
    )
    effects.append(.readManifest(segment: index, source))
  }

  mutating func manifestAnswered(
    _ index: Int,
    _ step: Exchange.Step,
    now: Moment,
    into effects: inout [Effect]
  ) {
    switch step {
    case .ask, .wait:
      settleManifestHalted(index, into: &effects)
    case .failed(let failure, let status):
      segments[index].manifest.httpStatus = status
      if failure.code == .cancelled {
        return brokenOff(.manifest(segment: index), now: now, into: &effects)
      }
      manifestFailed(index, failure, now: now, into: &effects)
    case .deferred(let deferral, let status):
      segments[index].manifest.httpStatus = status
      segments[index].manifest.status = .skipped
      segments[index].deferral = deferral
      settleManifestFailure(index, nil, now: now, into: &effects)
    case .answered(let response):
      segments[index].manifest.httpStatus = response.status
      manifestReceived(index, response, now: now, into: &effects)
    }
  }

  private mutating func manifestReceived(
    _ index: Int,
    _ response: TransferResponse,
    now: Moment,
    into effects: inout [Effect]
  ) {
    guard var exchange = manifestExchanges[index] else { return }
    if storeFailure != nil {
      if let body = response.body { effects.append(.discard(body)) }
      return settleManifestHalted(index, into: &effects)
    }
    if response.status == 304, exchange.isConditional, let recorded = segments[index].recorded {
      guard Revalidation.confirms(response.headers, stored: recorded.validators) else {
        exchange.dropConditions()
        manifestExchanges[index] = exchange
        return reask(.manifest(segment: index), now: now, into: &effects)
      }
      return readStored(index, status: .notModified, now: now, into: &effects)
    }
    guard let body = response.body else {
      let failure = Self.failure(
        status: response.status,
        carriesCredentials: exchange.carriesCredentials
      )
      return manifestFailed(index, failure, now: now, into: &effects)
    }
    segments[index].staged = body
    segments[index].manifest.bytes = body.size
    let mime = response.headers["Content-Type"].map(BodyCheck.essence)
    if let mime, let objection = ManifestGuard.objection(toType: mime) {
      return refuse(index, objection, now: now, into: &effects)
    }
    var record = segments[index].recorded ?? SegmentRecord(key: segments[index].key)
    record.manifestURL = exchange.url.string
    record.manifestFinalURL = exchange.hop.string
    record.validators = Validators(
      entityTag: response.headers["ETag"],
      lastModified: response.headers["Last-Modified"]
    )
    segments[index].accepted = record
    segments[index].manifest.status = .fetched
    let source = ManifestSource(
      bytes: .staged(body),
      base: segments[index].declaration.base ?? exchange.hop,
      mime: mime,
      name: exchange.url.redacted,
      rules: segments[index].declaration.manifestRules
    )
    effects.append(.readManifest(segment: index, source))
  }

  mutating func manifestRead(
    _ index: Int,
    _ reading: Result<Manifest, Failure>,
    now: Moment,
    into effects: inout [Effect]
  ) {
    if storeFailure != nil { return settleManifestHalted(index, into: &effects) }
    switch reading {
    case .failure(let failure):
      if failure.code == .storeDamaged, segments[index].staged == nil,
        var exchange = manifestExchanges[index],
        exchange.isConditional
      {
        exchange.dropConditions()
        manifestExchanges[index] = exchange
        return reask(.manifest(segment: index), now: now, into: &effects)
      }
      // What is no manifest at all is a mishap of the server, not a mistake of the publisher.
      if failure.code == .manifestGuard {
        return refuse(index, failure, now: now, into: &effects)
      }
      manifestFailed(index, failure, now: now, into: &effects)
    case .success(let manifest):
      judge(index, manifest, now: now, into: &effects)
    }
  }

  private mutating func judge(
    _ index: Int,
    _ manifest: Manifest,
    now: Moment,
    into effects: inout [Effect]
  ) {
    let segment = segments[index]
    segments[index].manifest.warnings = manifest.warnings
    let objection = ManifestGuard.objection(
      to: manifest,
      of: segment.declaration,
      bundleID: request.bundleID,
      recorded: segment.recorded,
      policy: request.policy,
      now: now.wall
    )
    if let objection { return refuse(index, objection, now: now, into: &effects) }
    // Past it the manifest is refused, which somebody has to notice.
    if let expires = manifest.expires { segments[index].noteQuiet(until: expires) }
    var record = segment.accepted ?? segment.recorded ?? SegmentRecord(key: segment.key)
    record.priority = manifest.priority
    record.generated = manifest.generated
    record.itemCount = manifest.itemCount
    switch segment.declaration.source {
    case .inline, .remote:
      record.manifest = segment.staged?.digest ?? segment.recorded?.manifest
    case .file(let path):
      // Read anew every time, and remembered so that the next one can be compared with it.
      record.manifestURL = path
      record.manifest = nil
      record.manifestFinalURL = nil
      record.validators = Validators()
    }
    let staged = segment.staged
    segments[index].staged = nil
    accept(index, record, manifest: staged, now: now)
    if request.mode != .run, let staged { effects.append(.discard(staged)) }
    segments[index].entries = manifest.entries
    segments[index].limit(fileSize: manifest.maximumFileSize, policy: request.policy)
    guard isNarrowed(index, by: manifest.network, now: now, into: &effects) else {
      awaitingConditions.append((index, manifest.rejected))
      return
    }
    withInventory(
      .plan(segment: index, rejected: manifest.rejected),
      now: now,
      into: &effects
    )
  }

  /// From here on this is the segment's generation, whatever becomes of its items.
  private mutating func accept(
    _ index: Int,
    _ record: SegmentRecord,
    manifest: StagedBody?,
    now: Moment
  ) {
    var record = record
    record.lastChecked = now.wall
    // Until this run has an end the state of the last one stands, and nothing is quiet.
    record.quiet = nil
    let isNew = manifest != nil || segments[index].recorded == nil
    if request.mode == .run, isNew || segments[index].recorded?.quiet != nil {
      batch.add(.segment(record, manifest: manifest), now: now.uptime)
    }
    segments[index].accepted = record
  }

  private mutating func refuse(
    _ index: Int,
    _ failure: Failure,
    now: Moment,
    into effects: inout [Effect]
  ) {
    segments[index].manifest.status = .refused
    settleManifestFailure(index, failure, now: now, into: &effects)
  }

  private mutating func manifestFailed(
    _ index: Int,
    _ failure: Failure,
    now: Moment,
    into effects: inout [Effect]
  ) {
    segments[index].manifest.status = .failed
    settleManifestFailure(index, failure, now: now, into: &effects)
  }

  /// After a halt nothing is looked up any more; what the last run found still serves.
  mutating func settleManifestHalted(_ index: Int, into effects: inout [Effect]) {
    switch halt {
    case .deadline:
      segments[index].deferral = Deferral(rule: .deadline)
      segments[index].manifest.status = .skipped
    case .store(let failure):
      segments[index].manifest.status = .failed
      segments[index].manifest.failure = failure
    case .interrupted, nil:
      segments[index].manifest.status = .failed
      segments[index].manifest.failure = Failure(.cancelled, "the run was interrupted")
    }
    dropManifest(index, into: &effects)
    segments[index].usableCount = usableRecords(of: segments[index])
    settleSegment(index, into: &effects)
  }

  /// The last good generation stays as it is, and nothing leaves.
  private mutating func settleManifestFailure(
    _ index: Int,
    _ failure: Failure?,
    now: Moment,
    into effects: inout [Effect]
  ) {
    dropManifest(index, into: &effects)
    segments[index].manifest.failure = failure
    guard segments[index].recorded != nil else { return settleSegment(index, into: &effects) }
    withInventory(.settle(segment: index), now: now, into: &effects)
  }

  mutating func settleWithoutManifest(_ index: Int, into effects: inout [Effect]) {
    segments[index].usableCount = usableRecords(of: segments[index])
    settleSegment(index, into: &effects)
  }

  private mutating func dropManifest(_ index: Int, into effects: inout [Effect]) {
    if let staged = segments[index].staged { effects.append(.discard(staged)) }
    segments[index].staged = nil
    segments[index].accepted = nil
  }

  private func usableRecords(of segment: SegmentWork) -> Int {
    guard hasInventory else { return segment.recorded?.itemCount ?? 0 }
    return facts.inventory.positions(of: segment.key).count {
      isUsable(facts.inventory.rows[Int($0)])
    }
  }

  /// What a status that brings no body means.
  static func failure(status: Int, carriesCredentials: Bool) -> Failure {
    switch status {
    case 404, 410:
      Failure(.gone, "the server answered \(status)")
    case _ where carriesCredentials && [401, 403, 407].contains(status):
      Failure(.credentialsRefused, "the server answered \(status) to a request with credentials")
    default: Failure(.http, "the server answered \(status)")
    }
  }
}
